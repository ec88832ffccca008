// Predictive weights of a stored draw against the definition: p(row, joins c) = p(X and row, partition with
// row in c) / p(X, partition), both from scratch.
#include <gtest/gtest.h>

#include "coppice/base/math.hpp"
#include "coppice/model/registry.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {
namespace {

double log_joint(const Family& family, const Rows& rows, const Labels& labels, double alpha) {
  double total = log_gamma(alpha) - log_gamma(alpha + static_cast<double>(labels.size()));
  const auto sizes = cluster_sizes(labels);
  for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster) {
    std::vector<double> stats(family.stats_size());
    family.clear(stats.data());
    for (std::size_t row = 0; row < labels.size(); ++row)
      if (labels[row] == static_cast<Label>(cluster)) family.add(stats.data(), rows[row]);
    total +=
        std::log(alpha) + log_gamma(static_cast<double>(sizes[cluster])) + family.log_marginal(stats.data());
  }
  return total;
}

TEST(MixturePredictor, WeightsAreRatiosOfJoints) {
  const ModelEntry& model = model_by_name("nrmm");
  for (const LawCase& law_case : law_cases()) {
    SCOPED_TRACE(law_case.name);
    const Fixture fixture(law_case, 1, 10);
    Rows rows = fixture.rows;
    rows.cells.resize(9 * rows.width);  // the tenth row is the new one
    const Problem problem{&fixture.family(), &rows, ParameterValues(model.parameters, {})};
    const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
    const double alpha = 0.7;
    for (const Labels& labels : {Labels{0, 0, 1, 0, 1, 2, 1, 2, 0}, Labels(9, 0)}) {
      const std::vector<double> traces{0.0, 0.0, 0.0, 0.0, alpha};
      predictor->set_draw(labels, traces, {});
      const std::size_t clusters = cluster_sizes(labels).size();
      ASSERT_EQ(predictor->clusters(1), clusters);
      std::vector<double> weights(clusters + 1);
      predictor->log_weights(fixture.rows[9], 1, weights);
      for (std::size_t cluster = 0; cluster <= clusters; ++cluster) {
        Labels longer = labels;
        longer.push_back(static_cast<Label>(cluster));
        const double expected = log_joint(fixture.family(), fixture.rows, longer, alpha) -
                                log_joint(fixture.family(), rows, labels, alpha);
        EXPECT_NEAR(weights[cluster], expected, relative(1e-8, expected)) << "cluster " << cluster;
      }
    }
  }
}

}  // namespace
}  // namespace coppice::test
