// Clusters of sub-clusters with a learned prior: against enumeration over all nested partitions and a grid of
// hyper-parameters, by Geweke's test, and as a chain that can be saved, loaded, rescaled and asked for
// predictions.
#include <gtest/gtest.h>

#include "coppice/model/learned_draw.hpp"
#include "learned/geweke_chain.hpp"
#include "learned/seen.hpp"
#include "support/learned_nhcm.hpp"

namespace coppice::test {
namespace {

const ModelEntry& model() { return model_by_name("nhcm"); }

class LearnedNhcm : public ::testing::TestWithParam<bool> {};

TEST_P(LearnedNhcm, AgreesWithEnumerationAndAGridOfHyperParameters) {
  LearnedNhcmCase small;
  small.model.nested = GetParam();
  const LearnedNhcmLaw law(small.rows, small.model, 20);
  for (const std::uint64_t seed : test_seeds()) {
    const Agreement agreement = compare_learned_nhcm(small, law, seed, scaled(100'000));
    EXPECT_TRUE(agreement.holds()) << agreement;
    EXPECT_GT(agreement.checks, 30U);
  }
}

TEST_P(LearnedNhcm, BothWaysHaveTheSameLaw) {
  const std::string nesting = GetParam() ? "nesting=\"nested\"" : "nesting=\"global\"";
  for (const std::size_t columns : {1U, 3U}) {
    const Gaussian block = learned_block(columns, 6);
    const Rows rows = made_rows(6, columns, 0.0, 4);
    for (const std::uint64_t seed : test_seeds()) {
      const Agreement agreement = compare_both_ways(
          model(), block, rows,
          {nesting, "learn=\"alpha-clusters,alpha-subclusters,spread\"", "alpha-clusters-prior=[3, 2]",
           "alpha-subclusters-prior=[3, 2]", "spread-prior=[3, 1]"},
          seed, scaled(30'000), [](const Inference&) { return std::vector<double>(); });
      EXPECT_TRUE(agreement.holds()) << columns << " columns, seed " << seed << ": " << agreement;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nestings, LearnedNhcm, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return info.param ? "nested" : "global";
                         });

Problem problem_of(const Gaussian& block, const Rows& rows) {
  return {&block, &rows, ParameterValues(model().parameters, {})};
}

TEST(LearnedNhcmChain, GoesOnAfterLoadingAsIfNothingHadHappened) {
  const Gaussian block = learned_block(3, 40);
  const Rows rows = made_rows(40, 3, 0.0, 11);
  const Problem problem = problem_of(block, rows);
  const std::unique_ptr<Inference> whole = model().make_inference(problem);
  whole->init({3, 0, 0});
  for (std::uint64_t sweep = 1; sweep <= 20; ++sweep) whole->step({3, 0, sweep});
  whole->rebuild();
  const std::unique_ptr<Inference> loaded = model().make_inference(problem);
  loaded->load(whole->save());
  EXPECT_EQ(whole->save(), loaded->save());
  for (std::uint64_t sweep = 21; sweep <= 50; ++sweep) {
    whole->step({3, 0, sweep});
    loaded->step({3, 0, sweep});
    EXPECT_NEAR(whole->log_joint(), whole->log_joint_from_scratch(), 1e-7);
    ASSERT_EQ(seen_of(model(), *whole, problem), seen_of(model(), *loaded, problem)) << sweep;
  }
  EXPECT_THROW(loaded->load(whole->save().substr(0, 200)), Error);
}

TEST(LearnedNhcmChain, DoesNotCareForUnits) {
  const Rows rows = made_rows(40, 3, 0.0, 12);
  Rows scaled_rows = rows;
  for (std::size_t i = 0; i < rows.size(); ++i) scaled_rows[i][1] *= 1000.0;
  const Gaussian block = learned_block(3, 40);
  const Gaussian other({0.0, 0.0, 0.0}, {1.0, 1000.0, 1.0}, 40);
  const Problem problem = problem_of(block, rows);
  const Problem scaled_problem = problem_of(other, scaled_rows);
  const std::unique_ptr<Inference> a = model().make_inference(problem);
  const std::unique_ptr<Inference> b = model().make_inference(scaled_problem);
  a->init({5, 0, 0});
  b->init({5, 0, 0});
  Labels labels_a(80);
  Labels labels_b(80);
  for (std::uint64_t sweep = 1; sweep <= 40; ++sweep) {
    a->step({5, 0, sweep});
    b->step({5, 0, sweep});
    a->labels(labels_a);
    b->labels(labels_b);
    ASSERT_EQ(labels_a, labels_b) << sweep;
  }
}

/// The density of a new row is the ratio of the evidence with the row and without, summed over its places.
TEST(LearnedNhcmChain, PredictsWithTheValuesOfTheDraw) {
  const Gaussian block = learned_block(1, 12);
  const Rows rows = made_rows(12, 1, 0.0, 13);
  const Problem problem = problem_of(block, rows);
  const std::unique_ptr<Inference> chain = model().make_inference(problem);
  chain->init({7, 0, 0});
  for (std::uint64_t sweep = 1; sweep <= 20; ++sweep) chain->step({7, 0, sweep});
  std::vector<double> traces(trace_names(model(), problem).size());
  chain->traces(traces);
  Labels labels(24);
  chain->labels(labels);
  const std::unique_ptr<Predictor> predictor = model().make_predictor(problem);
  predictor->set_draw(labels, traces, chain->payload());
  const std::vector<double> hyper = dynamic_cast<const LearnedDraw&>(*predictor).learned_values();
  ASSERT_EQ(hyper, read_learned(chain->payload(), block.hyper_size(), 0).hyper);
  GaussianPrior prior(1);
  prior.set_values(hyper.data());

  NhcmModel written;
  written.rows.resize(13, 1);
  for (Eigen::Index i = 0; i < 12; ++i) written.rows(i, 0) = rows.cells[static_cast<std::size_t>(i)];
  const double value = 0.4;
  written.rows(12, 0) = value;
  written.prior_mean = Eigen::VectorXd::Constant(1, prior.mean()[0]);
  written.scale = Eigen::MatrixXd::Constant(1, 1, prior.dof() * prior.covariance()(0, 0));
  written.mean_strength = prior.mean_strength();
  written.dof = prior.dof();
  const NhcmShape shape = nhcm_shape(labels);
  const auto log_joint_of = [&](std::size_t count, const NhcmShape& of) {
    NhcmModel part = written;
    part.rows = written.rows.topRows(static_cast<Eigen::Index>(count));
    return log_joint(part, of);
  };
  std::vector<double> logs;
  const auto consider = [&](const NhcmShape& with) { logs.push_back(log_joint_of(13, with)); };
  for (std::size_t sub = 0; sub <= shape.sub_count(); ++sub) {
    NhcmShape with = shape;
    with.subclusters.push_back(static_cast<Label>(sub));
    if (sub < shape.sub_count()) {
      consider(with);
      continue;
    }
    for (std::size_t cluster = 0; cluster <= shape.cluster_count(); ++cluster) {
      NhcmShape opened = with;
      opened.parents.push_back(static_cast<Label>(cluster));
      consider(opened);
    }
  }
  std::vector<double> weights(predictor->clusters(1) + 1);
  predictor->log_weights(&value, 1, weights);
  EXPECT_NEAR(log_sum_exp(weights), log_sum_exp(logs) - log_joint_of(12, shape), 1e-9);
  EXPECT_THROW(predictor->set_draw(labels, traces, chain->payload().substr(0, 20)), Error);
}

}  // namespace
}  // namespace coppice::test
