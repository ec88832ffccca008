// Clusters of sub-clusters of rows with weights against the enumeration for the repeated rows, given that
// copies of a row are in one sub-cluster: states, conditionals, every move alone, mixes of moves,
// predictions.
#include <gtest/gtest.h>

#include "coppice/model/left_out.hpp"
#include "support/bhc_law.hpp"
#include "support/nhcm_problem.hpp"

namespace coppice::test {
namespace {

NhcmProblem weighted_nhcm(std::size_t rows, bool nested, std::uint64_t seed = 1) {
  constexpr std::size_t kSubclusterCounts[] = {1, 3, 1, 2};
  std::vector<std::size_t> copies;
  for (std::size_t row = 0; row < rows; ++row) copies.push_back(kSubclusterCounts[row % 4]);
  return NhcmProblem(small_nhcm_model(rows, 2, nested, seed), copies);
}

class WeightedNhcm : public ::testing::TestWithParam<bool> {};

TEST_P(WeightedNhcm, JointIsThatOfTheCopiesAndWeightsAreItsRatios) {
  const NhcmProblem problem = weighted_nhcm(5, GetParam());
  const NhcmModel repeated = problem.repeated();
  const NhcmPosterior exact = problem.posterior_of_copies();
  const TwoLevelCrp prior = problem.prior();
  nhcm::State state(problem.family, problem.rows, prior, problem.model.spread);
  const auto assign = [&](nhcm::State& to, const NhcmShape& shape) {
    const Labels both = labels_of(shape);
    to.assign({both.data(), 5}, {both.data() + 5, 5});
  };
  const auto shape_of = [](const nhcm::State& of) {
    Labels both(10);
    of.labels(both);
    return nhcm_shape(both);
  };
  for (std::size_t i = 0; i < exact.size(); ++i) {
    assign(state, exact.shape(i));
    const double joint = log_joint(repeated, problem.shape_of_copies(exact.shape(i)));
    ASSERT_NEAR(prior.log_probability(state.sizes(), state.counts()) + state.log_marginal(), joint,
                1e-9 * std::abs(joint));
    for (std::size_t row = 0; row < 5; ++row) {
      AlignedVector weights(state.options());
      state.log_conditional(row, weights.data());
      std::vector<double> logs, joints;
      for (std::size_t option = 0; option < weights.size(); ++option) {
        if (weights[option] == kMinusInfinity) continue;
        nhcm::State moved(problem.family, problem.rows, prior, problem.model.spread);
        assign(moved, exact.shape(i));
        moved.place(row, static_cast<Label>(option));
        logs.push_back(weights[option]);
        joints.push_back(log_joint(repeated, problem.shape_of_copies(shape_of(moved))));
        ASSERT_NEAR(prior.log_probability(moved.sizes(), moved.counts()) + moved.log_marginal(),
                    joints.back(), 1e-8 * std::abs(joints.back()));
      }
      ASSERT_GE(logs.size(), 2u);
      const double log_sum = log_sum_exp(logs);
      const double joint_sum = log_sum_exp(joints);
      for (std::size_t option = 0; option < logs.size(); ++option)
        ASSERT_NEAR(logs[option] - log_sum, joints[option] - joint_sum, 1e-8) << "row " << row;
    }
  }
}

TEST_P(WeightedNhcm, PredictsAsFromRepeatedRows) {
  constexpr std::size_t kRows = 8;
  const NhcmProblem problem = weighted_nhcm(kRows, GetParam());
  const NhcmProblem repeated(problem.repeated());
  const TiedCopies tied(problem.family.clone());
  const ModelEntry& entry = model_by_name("nhcm");
  const ParameterValues parameters(entry.parameters, settings_from(problem.settings()));
  const Problem weighted{&tied, &problem.rows, parameters};
  const std::unique_ptr<Predictor> of_weighted = entry.make_predictor(weighted);
  const Problem all{&repeated.family, &repeated.rows, parameters};
  const std::unique_ptr<Predictor> of_repeated = entry.make_predictor(all);
  const NhcmShape shape{{0, 0, 1, 2, 2, 2, 3, 1}, {0, 1, 0, 1}};
  const std::vector<double> traces{0.0,
                                   2.0,
                                   4.0,
                                   0.0,
                                   0.0,
                                   problem.model.alpha_clusters,
                                   problem.model.alpha_subclusters,
                                   problem.model.spread};
  of_weighted->set_draw(labels_of(shape), traces, {});
  of_repeated->set_draw(labels_of(problem.shape_of_copies(shape)), traces, {});
  for (const double x : {-2.0, 0.3, 1.7}) {
    const double row[] = {x, 0.5 - x, 1.0};  // one copy
    for (const std::size_t level : {1u, 2u}) {
      std::vector<double> found(of_weighted->clusters(level) + 1), truth(found.size());
      of_weighted->log_weights(row, level, found);
      of_repeated->log_weights(row, level, truth);
      for (std::size_t c = 0; c < found.size(); ++c) EXPECT_NEAR(found[c], truth[c], 1e-9);
    }
    for (std::size_t place = 0; place < of_weighted->component_count(); ++place)
      for (std::size_t cell = 0; cell < 2; ++cell) {
        EXPECT_NEAR(of_weighted->log_cell(place, cell, x), of_repeated->log_cell(place, cell, x), 1e-9);
        EXPECT_NEAR(of_weighted->predict_cell(place, cell).mean, of_repeated->predict_cell(place, cell).mean,
                    1e-9);
      }
  }
  // Without a row all of its copies are gone.
  for (std::size_t left_out = 0; left_out < kRows; ++left_out) {
    NhcmModel others = problem.model;
    NhcmShape left{{}, {}};
    std::vector<std::size_t> copies;
    for (std::size_t row = 0; row < kRows; ++row) {
      if (row == left_out) continue;
      others.rows.row(static_cast<Eigen::Index>(copies.size())) =
          problem.model.rows.row(static_cast<Eigen::Index>(row));
      copies.push_back(problem.copies[row]);
    }
    others.rows.conservativeResize(kRows - 1, Eigen::NoChange);
    Labels both(2 * (kRows - 1));
    for (std::size_t row = 0, to = 0; row < kRows; ++row) {
      if (row == left_out) continue;
      both[to] = shape.cluster(row);
      both[kRows - 1 + to++] = shape.subclusters[row];
    }
    left = nhcm_shape(both);
    const NhcmProblem shorter(others, copies);
    const NhcmProblem rest(shorter.repeated());
    const Problem fewer{&rest.family, &rest.rows, parameters};
    const std::unique_ptr<Predictor> without = entry.make_predictor(fewer);
    without->set_draw(labels_of(shorter.shape_of_copies(left)), traces, {});
    double found = 0.0;
    dynamic_cast<const LeaveOneOut&>(*of_weighted)
        .log_densities_without(left_out, {problem.rows[left_out], 3}, {&found, 1});
    EXPECT_NEAR(found, log_density(*without, problem.rows[left_out]), 1e-8) << left_out;
  }
}

INSTANTIATE_TEST_SUITE_P(Nestings, WeightedNhcm, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return info.param ? "nested" : "global";
                         });

class WeightedNhcmMoves : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(WeightedNhcmMoves, LeaveThePosteriorOfRepeatedRowsThatStayTogether) {
  const auto& [move, nested] = GetParam();
  const NhcmProblem problem = weighted_nhcm(5, nested);
  const NhcmPosterior exact = problem.posterior_of_copies();
  for (const std::uint64_t seed : test_seeds()) {
    const NhcmStep step = compare_nhcm_move(problem, exact, move, seed, scaled(200'000));
    EXPECT_TRUE(step.agreement.holds()) << "seed " << seed << ": " << step.agreement;
    EXPECT_GT(step.changed, 0.003) << "the move does next to nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Moves, WeightedNhcmMoves,
                         ::testing::Combine(::testing::Values("row", "subcluster", "subcluster_split_merge",
                                                              "cluster_split_merge"),
                                            ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_nested" : "_global");
                         });

class WeightedNhcmChains : public ::testing::TestWithParam<bool> {};

TEST_P(WeightedNhcmChains, AgreeWithTheEnumeration) {
  const NhcmProblem problem = weighted_nhcm(5, GetParam(), 3);
  const NhcmPosterior exact = problem.posterior_of_copies();
  for (const std::uint64_t seed : test_seeds())
    for (const bool rebuilt : {false, true}) {
      const Agreement agreement = compare_nhcm_chain(
          problem, exact, {"subcluster-moves=2", "cluster-moves=2"}, seed, scaled(100'000), rebuilt);
      EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
    }
}

INSTANTIATE_TEST_SUITE_P(Nestings, WeightedNhcmChains, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return info.param ? "nested" : "global";
                         });

}  // namespace
}  // namespace coppice::test
