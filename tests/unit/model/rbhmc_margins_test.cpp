// Features and hinges of rbhmc against their definitions.
#include <gtest/gtest.h>

#include "coppice/model/rbhmc/margins.hpp"
#include "support/rbhmc_chain.hpp"

namespace coppice::test {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::vector<double> features_of(const rbhmc::Margins& margins, std::size_t row) {
  return {margins.feature(row), margins.feature(row) + margins.dimension()};
}

TEST(RbhmcMargins, FeaturesAreInTheUnitsOfTheData) {
  const RbhmcCase small{"features",
                        {{1.0, 10.0}, {kMissing, 20.0}, {4.0, kMissing}},
                        "gaussian-known",
                        {"prior_mean=100"},  // an origin that must not show
                        {}};
  const RbhmcData data(small);
  RbhmcSettings settings;
  settings.intercept = true;
  const Problem problem = rbhmc_problem(data, settings);
  const rbhmc::Margins margins(problem, rbhmc::Options(problem.parameters));
  EXPECT_EQ(margins.dimension(), 3u);
  EXPECT_EQ(features_of(margins, 0), (std::vector<double>{1.0, 10.0, 1.0}));
  EXPECT_EQ(features_of(margins, 1), (std::vector<double>{2.5, 20.0, 1.0}));
  EXPECT_EQ(features_of(margins, 2), (std::vector<double>{4.0, 15.0, 1.0}));
}

TEST(RbhmcMargins, ACategoryHasOneCellForEachLevel) {
  Table table;
  table.row_ids = {"a", "b", "c", "d"};
  table.columns.push_back({"kind", Kind::category, {2.0, 0.0, 2.0, kMissing}, {"x", "y", "z"}});
  const FamilyPlan plan = plan_family(table, {}, "categorical", {});
  const Rows rows = encode(plan, table);
  const Problem problem{plan.family.get(),
                        &rows,
                        ParameterValues(model_by_name("rbhmc").parameters, rbhmc_parameters({})),
                        {3}};
  const rbhmc::Margins margins(problem, rbhmc::Options(problem.parameters));
  EXPECT_EQ(margins.dimension(), 3u);
  EXPECT_EQ(features_of(margins, 0), (std::vector<double>{0.0, 0.0, 1.0}));
  EXPECT_EQ(features_of(margins, 1), (std::vector<double>{1.0, 0.0, 0.0}));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(margins.feature(3)[i], std::vector<double>({1.0 / 3.0, 0.0, 2.0 / 3.0})[i], 1e-15);
}

// A child that comes and goes changes the hinges by the predicted amount.
TEST(RbhmcMargins, AChildChangesHingesByThePredictedAmount) {
  for (const bool centered : {false, true}) {
    RbhmcCase small{"random", {}, "gaussian-known", {"noise_variance=1", "prior_variance=1"}, {}};
    small.settings = {2, 1.0, 1.0, 1.0, 0.5, 0.7, 1.0, centered};
    Stream stream({1, 0, 0}, Purpose::test);
    for (int row = 0; row < 7; ++row) small.data.push_back({draw_normal(stream), draw_normal(stream)});
    const RbhmcData data(small);
    const Problem problem = rbhmc_problem(data, small.settings);
    const auto features = margin_features(data.family(), data.rows, false);
    for (int round = 0; round < 200; ++round) {
      // A tree of the first six rows; the seventh opens a branch.
      LevelTree tree(7, 2);
      Labels labels(14);
      for (std::size_t row = 0; row < 7; ++row) {
        labels[row] = row == 6 ? 3 : static_cast<Label>(draw_index(stream, 3));
        labels[7 + row] = row == 6 ? 6 : 2 * labels[row] + static_cast<Label>(draw_index(stream, 2));
      }
      tree.assign(labels);
      tree.labels(labels);
      rbhmc::Margins margins(problem, rbhmc::Options(problem.parameters));
      margins.fit(tree);
      std::vector<std::vector<double>> eta(tree.capacity(), std::vector<double>(2, 0.0));
      for (NodeId node = 1; node < tree.capacity(); ++node) {
        margins.draw_prior(stream, margins.eta(node));
        eta[node] = {margins.eta(node)[0], margins.eta(node)[1]};
      }
      margins.refresh_all(tree);
      const double with = total_hinge(RbhmcTree(labels, 7), eta, features, 0.7, centered);
      ASSERT_NEAR(margins.total(tree), with, 1e-10);
      ASSERT_NEAR(margins.total_from_scratch(tree), with, 1e-10);
      const double own = margins.hinge(6);
      const NodeId top = tree.ancestor(tree.leaf(6), 1);
      const std::vector<double> eta_of_top(margins.eta(top), margins.eta(top) + margins.stride());
      const AlignedVector kept(eta_of_top.begin(), eta_of_top.end());
      tree.detach(6);
      const double sunk = margins.child_removed(tree, top);
      tree.remove(top);
      double without = 0.0;
      for (std::size_t row = 0; row < 6; ++row) without += margins.hinge(row);
      ASSERT_NEAR(without, with - own - sunk, 1e-10);
      ASSERT_NEAR(margins.increase(tree, LevelTree::kRoot, kept.data()), sunk, 1e-10);
      rbhmc::LevelScores scores(2);
      margins.scores_at(6, tree, LevelTree::kRoot, kept.data(), scores);
      ASSERT_NEAR(margins.hinge(scores), own, 1e-10);
    }
  }
}

}  // namespace
}  // namespace coppice::test
