// The evidence of splits of rbhmc against its definition and in its limits.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/model/rbhmc/margins.hpp"
#include "support/rbhmc_random_tree.hpp"

namespace coppice::test {
namespace {

RbhmcSettings judged_settings() {
  RbhmcSettings settings{2, 1.0, 1.0, 1.0, 0.5};
  settings.evidence = true;
  return settings;
}

struct Judged {
  Judged(const Problem& problem, const Labels& labels)
      : tree(kRandomRows, 2), margins(problem, rbhmc::Options(problem.parameters)) {
    tree.assign(labels);
    margins.fit(tree);
    margins.refresh_all(tree);
  }
  LevelTree tree;
  rbhmc::Margins margins;
};

TEST(RbhmcEvidence, IsWhatItsDefinitionSays) {
  Stream stream({1, 0, 0}, Purpose::test);
  RbhmcCase small = random_rbhmc_case(stream, judged_settings());
  const RbhmcData data(small);
  for (const std::vector<double>& powers : std::vector<std::vector<double>>{{}, {1.0}, {0.3, 0.7}}) {
    small.settings.level_powers = powers;
    const Problem problem = rbhmc_problem(data, small.settings);
    for (int round = 0; round < 50; ++round) {
      const Labels labels = random_rbhmc_tree(stream);
      const Judged judged(problem, labels);
      const double expected = total_log_bayes_factors(
          RbhmcTree(labels, kRandomRows), evidence_features(data.rows, data.rows), small.settings);
      EXPECT_NEAR(judged.margins.evidence().total(judged.tree), expected, 1e-10);
      EXPECT_NEAR(judged.margins.total_from_scratch(judged.tree), -0.5 * expected, 1e-10);
    }
  }
}

// What a row gains or loses is what the totals say before and after.
TEST(RbhmcEvidence, ARowChangesItByThePredictedAmount) {
  Stream stream({2, 0, 0}, Purpose::test);
  const RbhmcCase small = random_rbhmc_case(stream, judged_settings());
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  for (int round = 0; round < 200; ++round) {
    Judged judged(problem, random_rbhmc_tree(stream));
    LevelTree& tree = judged.tree;
    rbhmc::Margins& margins = judged.margins;
    const std::size_t row = draw_index(stream, kRandomRows);
    const NodeId leaf = tree.leaf(row);
    const double with = margins.evidence().total(tree);
    margins.row_leaves(tree, row);
    tree.detach(row);
    NodeId place = leaf;
    NodeId top = LevelTree::kNone;
    for (; tree.size(place) == 0; place = tree.parent(place)) top = place;
    if (top != LevelTree::kNone) tree.remove(top);  // its own branch goes with it
    const double without = margins.evidence().total(tree);
    EXPECT_NEAR(margins.evidence().gain(tree, row, place, top != LevelTree::kNone, margins.feature_rows(), 0),
                with - without, 1e-9);
    if (top != LevelTree::kNone) continue;
    tree.attach(row, leaf);
    margins.row_came(tree, row);
    EXPECT_NEAR(margins.evidence().total(tree), with, 1e-9);
  }
}

// A group of rows joins a node, or is already there: the same difference either way.
TEST(RbhmcEvidence, AGroupChangesANodeByThePredictedAmount) {
  Stream stream({3, 0, 0}, Purpose::test);
  const RbhmcCase small = random_rbhmc_case(stream, judged_settings());
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  for (int round = 0; round < 50; ++round) {
    const Judged judged(problem, random_rbhmc_tree(stream));
    const rbhmc::SplitEvidence& evidence = judged.margins.evidence();
    const rbhmc::FeatureRows features = judged.margins.feature_rows();
    for (const NodeId node : judged.tree.at_level(1)) {
      std::vector<std::uint32_t> rows;
      judged.tree.rows_below(node, rows);
      rbhmc::SplitEvidence::Group all, group, rest;
      for (rbhmc::SplitEvidence::Group* each : {&all, &group, &rest}) evidence.clear(*each);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        evidence.add_row(all, rows[i], features);
        evidence.add_row(i % 2 == 0 ? group : rest, rows[i], features);
      }
      EXPECT_NEAR(evidence.growth(node, group, true), evidence.log_density(all) - evidence.log_density(rest),
                  1e-9);
      rbhmc::SplitEvidence::Group twice = all;
      for (std::size_t i = 0; i < rows.size(); i += 2) evidence.add_row(twice, rows[i], features);
      if (twice.count <= kRandomRows) {
        EXPECT_NEAR(evidence.growth(node, group, false),
                    evidence.log_density(twice) - evidence.log_density(all), 1e-9);
      }
      EXPECT_NEAR(
          evidence.growth_by_row(rest, rows[0], features),
          [&] {
            rbhmc::SplitEvidence::Group more = rest;
            evidence.add_row(more, rows[0], features);
            return evidence.log_density(more) - evidence.log_density(rest);
          }(),
          1e-9);
    }
  }
}

TEST(RbhmcEvidence, IsNoneWithoutASplit) {
  Stream stream({4, 0, 0}, Purpose::test);
  const RbhmcCase small = random_rbhmc_case(stream, judged_settings());
  const RbhmcData data(small);
  const Judged single_path(rbhmc_problem(data, small.settings), Labels(2 * kRandomRows, 0));
  EXPECT_EQ(single_path.margins.total(single_path.tree), 0.0);
}

// The units of a column say nothing about the partition.
TEST(RbhmcEvidence, DrawsDoNotDependOnUnits) {
  Stream stream({5, 0, 0}, Purpose::test);
  RbhmcCase small = random_rbhmc_case(stream, judged_settings());
  small.data.push_back(small.data[0]);  // a row twice
  EXPECT_EQ(rbhmc_draws(small, 7, 50), rbhmc_draws(in_other_units(small), 7, 50));
}

}  // namespace
}  // namespace coppice::test
