// Predictive weights of a stored draw of clusters of sub-clusters against the definition: ratios of joint
// densities with and without the new row; they sum to a density; missing cells are integrated out.
#include <gtest/gtest.h>

#include "support/nhcm_problem.hpp"

namespace coppice::test {
namespace {

class NhcmPredictor : public ::testing::TestWithParam<bool> {};

TEST_P(NhcmPredictor, WeightsAreRatiosOfJoints) {
  const NhcmModel with_row = small_nhcm_model(9, 2, GetParam());
  NhcmModel model = with_row;
  model.rows.conservativeResize(8, Eigen::NoChange);
  const NhcmProblem problem(model);
  const NhcmProblem longer(with_row);
  const ModelEntry& entry = model_by_name("nhcm");
  const Problem fitted{&problem.family, &problem.rows,
                       ParameterValues(entry.parameters, settings_from(problem.settings()))};
  const std::unique_ptr<Predictor> predictor = entry.make_predictor(fitted);
  const NhcmShape shape{{0, 0, 1, 2, 2, 2, 3, 1}, {0, 1, 0, 1}};
  const std::vector<double> traces{
      0.0, 2.0, 4.0, 0.0, 0.0, model.alpha_clusters, model.alpha_subclusters, model.spread};
  predictor->set_draw(labels_of(shape), traces, {});
  ASSERT_EQ(predictor->clusters(1), 2u);
  ASSERT_EQ(predictor->clusters(2), 4u);
  const double before = log_joint(model, shape);
  std::vector<double> by_cluster(3, kMinusInfinity);
  std::vector<double> by_sub(5, kMinusInfinity);
  for (Label sub = 0; sub <= 4; ++sub)
    for (Label cluster = 0; cluster <= (sub == 4 ? 2 : 0); ++cluster) {
      NhcmShape grown = shape;
      grown.subclusters.push_back(sub);
      if (sub == 4) grown.parents.push_back(cluster);
      const double ratio = log_joint(with_row, grown) - before;
      double& of_cluster = by_cluster[static_cast<std::size_t>(grown.parents[static_cast<std::size_t>(sub)])];
      of_cluster = log_add_exp(of_cluster, ratio);
      by_sub[static_cast<std::size_t>(sub)] = log_add_exp(by_sub[static_cast<std::size_t>(sub)], ratio);
    }
  std::vector<double> weights(3);
  predictor->log_weights(longer.rows[8], 1, weights);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(weights[i], by_cluster[i], 1e-9);
  weights.resize(5);
  predictor->log_weights(longer.rows[8], 2, weights);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(weights[i], by_sub[i], 1e-9);

  // A row without a cell has the weights of the prior, which sum to one.
  const std::vector<double> blank(2, kMissing);
  predictor->log_weights(blank.data(), 2, weights);
  EXPECT_NEAR(log_sum_exp(weights), 0.0, 1e-12);
  // With one cell missing the density of the other is what is left after integrating it out.
  std::vector<double> row{longer.rows[8][0], kMissing};
  predictor->log_weights(row.data(), 2, weights);
  const double marginal = log_sum_exp(weights);
  double sum = 0.0;
  constexpr double kStep = 0.05;
  for (double y = -200.0; y < 200.0; y += kStep) {
    row[1] = y;
    predictor->log_weights(row.data(), 2, weights);
    sum += std::exp(log_sum_exp(weights)) * kStep;
  }
  EXPECT_NEAR(std::log(sum), marginal, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Nestings, NhcmPredictor, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return info.param ? "nested" : "global";
                         });

}  // namespace
}  // namespace coppice::test
