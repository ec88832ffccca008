// Gates of rbhmc against their definition and in their limits.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/model/rbhmc/margins.hpp"
#include "support/rbhmc_random_tree.hpp"

namespace coppice::test {
namespace {

RbhmcSettings gated_settings() {
  RbhmcSettings settings{2, 1.0, 1.0, 1.0, 0.5, 0.7, 2.0};
  settings.infomax = true;
  return settings;
}

struct Gated {
  Gated(const Problem& problem, const Labels& labels, Stream& stream)
      : tree(kRandomRows, 2), margins(problem, rbhmc::Options(problem.parameters)) {
    tree.assign(labels);
    margins.fit(tree);
    eta.assign(tree.capacity(), std::vector<double>(margins.dimension(), 0.0));
    for (NodeId node = 1; node < tree.capacity(); ++node) {
      margins.draw_prior(stream, margins.eta(node));
      eta[node].assign(margins.eta(node), margins.eta(node) + margins.dimension());
    }
    margins.refresh_all(tree);
  }
  LevelTree tree;
  rbhmc::Margins margins;
  std::vector<std::vector<double>> eta;
};

TEST(RbhmcGates, FeaturesAreStandardizedAndHaveMeanSquaredLengthOne) {
  Stream stream({1, 0, 0}, Purpose::test);
  const RbhmcCase small = random_rbhmc_case(stream, gated_settings(), 1000.0);
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  const rbhmc::Margins margins(problem, rbhmc::Options(problem.parameters));
  ASSERT_EQ(margins.dimension(), 3u);
  double squares = 0.0;
  for (std::size_t row = 0; row < kRandomRows; ++row) {
    for (std::size_t i = 0; i < 2; ++i)
      squares += margins.feature(row)[i] * margins.feature(row)[i] / kRandomRows;
    EXPECT_EQ(margins.feature(row)[2], 1.0);
  }
  EXPECT_NEAR(squares, 1.0, 1e-12);
}

TEST(RbhmcGates, AreWhatTheirDefinitionSays) {
  Stream stream({2, 0, 0}, Purpose::test);
  const RbhmcCase small = random_rbhmc_case(stream, gated_settings());
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  for (int round = 0; round < 100; ++round) {
    const Labels labels = random_rbhmc_tree(stream);
    const Gated gated(problem, labels, stream);
    const double expected =
        total_log_gates(RbhmcTree(labels, kRandomRows), gated.eta, gate_features(data.rows, data.rows));
    EXPECT_NEAR(gated.margins.gates().total(gated.tree), expected, 1e-10);
    EXPECT_NEAR(gated.margins.total_from_scratch(gated.tree), -0.5 * expected, 1e-10);
  }
}

// What a row gains or loses for all of them is what the totals say before and after.
TEST(RbhmcGates, ARowChangesThemByThePredictedAmount) {
  Stream stream({3, 0, 0}, Purpose::test);
  const RbhmcCase small = random_rbhmc_case(stream, gated_settings());
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  for (int round = 0; round < 200; ++round) {
    Gated gated(problem, random_rbhmc_tree(stream), stream);
    LevelTree& tree = gated.tree;
    rbhmc::Gates& gates = gated.margins.gates();
    const std::size_t row = draw_index(stream, kRandomRows);
    const NodeId leaf = tree.leaf(row);
    const double with = gates.total(tree);
    gates.row_leaves(tree, row);
    tree.detach(row);
    NodeId top = LevelTree::kNone;
    for (NodeId node = leaf; node != LevelTree::kRoot && tree.size(node) == 0; node = tree.parent(node))
      top = node;
    if (top != LevelTree::kNone) {  // its own branch goes with it, and comes back with the same discriminant
      const AlignedVector kept(gated.margins.eta(top), gated.margins.eta(top) + gated.margins.stride());
      const NodeId parent = tree.parent(top);
      tree.remove(top);
      const double without = gates.total(tree);
      EXPECT_NEAR(gates.gain(tree, row, parent, kept.data(), gated.margins.feature_rows(), 0), with - without,
                  1e-9);
      continue;
    }
    const double without = gates.total(tree);
    EXPECT_NEAR(gates.gain(tree, row, leaf, nullptr, gated.margins.feature_rows(), 0), with - without, 1e-9);
    tree.attach(row, leaf);
    gates.row_came(tree, row);
    EXPECT_NEAR(gates.total(tree), with, 1e-9);
  }
}

TEST(RbhmcGates, AreOneWhereNothingIsToldApart) {
  Stream stream({4, 0, 0}, Purpose::test);
  const RbhmcCase small = random_rbhmc_case(stream, gated_settings());
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  Gated gated(problem, random_rbhmc_tree(stream), stream);
  for (NodeId node = 1; node < gated.tree.capacity(); ++node)
    std::fill_n(gated.margins.eta(node), gated.margins.stride(), 0.0);
  gated.margins.refresh_all(gated.tree);
  EXPECT_NEAR(gated.margins.total(gated.tree), 0.0, 1e-12);
  const Gated single_path(problem, Labels(2 * kRandomRows, 0), stream);
  EXPECT_NEAR(single_path.margins.total(single_path.tree), 0.0, 1e-12);
}

// A split that is certain gets back what the Chinese restaurant process charged for it.
TEST(RbhmcGates, AreAtMostTheEntropyOfTheSplit) {
  Stream stream({5, 0, 0}, Purpose::test);
  RbhmcCase small = random_rbhmc_case(stream, gated_settings());
  for (std::size_t row = 0; row < kRandomRows; ++row) small.data[row] = {row < 3 ? -1.0 : 1.0, 0.0};
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  Labels labels(2 * kRandomRows);
  for (std::size_t row = 0; row < kRandomRows; ++row)
    labels[row] = labels[kRandomRows + row] = row < 3 ? 0 : 1;
  Gated gated(problem, labels, stream);
  for (const NodeId node : gated.tree.at_level(1)) {
    std::fill_n(gated.margins.eta(node), gated.margins.stride(), 0.0);
    gated.margins.eta(node)[0] = (gated.tree.size(node) == 3 ? -1.0 : 1.0) * 100.0;
  }
  gated.margins.refresh_all(gated.tree);
  const double entropy = 3.0 * std::log(7.0 / 3.0) + 4.0 * std::log(7.0 / 4.0);
  EXPECT_NEAR(gated.margins.gates().total(gated.tree), entropy, 1e-9);
}

// The units of a column say nothing about the partition.
TEST(RbhmcGates, DrawsDoNotDependOnUnits) {
  Stream stream({6, 0, 0}, Purpose::test);
  RbhmcCase small = random_rbhmc_case(stream, gated_settings());
  small.data.push_back(small.data[0]);  // a row twice
  EXPECT_EQ(rbhmc_draws(small, 7, 50), rbhmc_draws(in_other_units(small), 7, 50));
}

}  // namespace
}  // namespace coppice::test
