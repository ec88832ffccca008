// Gates of rbhmc against their definition and in their limits.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/model/rbhmc/margins.hpp"
#include "support/rbhmc_chain.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kRows = 7;

RbhmcCase random_case(Stream& stream, double scale = 1.0) {
  RbhmcCase small{"random", {}, "gaussian-known", {"noise_variance=1", "prior_variance=1"}, {}};
  small.settings = {2, 1.0, 1.0, 1.0, 0.5, 0.7, 2.0};
  small.settings.infomax = true;
  for (std::size_t row = 0; row < kRows; ++row)
    small.data.push_back({scale * draw_normal(stream), draw_normal(stream) + scale});
  return small;
}

/// A tree of three nodes with up to two leaves each.
Labels random_tree(Stream& stream) {
  Labels labels(2 * kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    labels[row] = static_cast<Label>(draw_index(stream, 3));
    labels[kRows + row] = 2 * labels[row] + static_cast<Label>(draw_index(stream, 2));
  }
  LevelTree tree(kRows, 2);
  tree.assign(labels);
  tree.labels(labels);
  return labels;
}

struct Gated {
  Gated(const Problem& problem, const Labels& labels, Stream& stream)
      : tree(kRows, 2), margins(problem, rbhmc::Options(problem.parameters)) {
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
  const RbhmcCase small = random_case(stream, 1000.0);
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  const rbhmc::Margins margins(problem, rbhmc::Options(problem.parameters));
  ASSERT_EQ(margins.dimension(), 3u);
  double squares = 0.0;
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < 2; ++i) squares += margins.feature(row)[i] * margins.feature(row)[i] / kRows;
    EXPECT_EQ(margins.feature(row)[2], 1.0);
  }
  EXPECT_NEAR(squares, 1.0, 1e-12);
}

TEST(RbhmcGates, AreWhatTheirDefinitionSays) {
  Stream stream({2, 0, 0}, Purpose::test);
  const RbhmcCase small = random_case(stream);
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  for (int round = 0; round < 100; ++round) {
    const Labels labels = random_tree(stream);
    const Gated gated(problem, labels, stream);
    const double expected =
        total_log_gates(RbhmcTree(labels, kRows), gated.eta, gate_features(data.rows, data.rows));
    EXPECT_NEAR(gated.margins.gates().total(gated.tree), expected, 1e-10);
    EXPECT_NEAR(gated.margins.total_from_scratch(gated.tree), -0.5 * expected, 1e-10);
  }
}

// What a row gains or loses for all of them is what the totals say before and after.
TEST(RbhmcGates, ARowChangesThemByThePredictedAmount) {
  Stream stream({3, 0, 0}, Purpose::test);
  const RbhmcCase small = random_case(stream);
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  for (int round = 0; round < 200; ++round) {
    Gated gated(problem, random_tree(stream), stream);
    LevelTree& tree = gated.tree;
    rbhmc::Gates& gates = gated.margins.gates();
    const std::size_t row = draw_index(stream, kRows);
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
  const RbhmcCase small = random_case(stream);
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  Gated gated(problem, random_tree(stream), stream);
  for (NodeId node = 1; node < gated.tree.capacity(); ++node)
    std::fill_n(gated.margins.eta(node), gated.margins.stride(), 0.0);
  gated.margins.refresh_all(gated.tree);
  EXPECT_NEAR(gated.margins.total(gated.tree), 0.0, 1e-12);
  const Gated single_path(problem, Labels(2 * kRows, 0), stream);
  EXPECT_NEAR(single_path.margins.total(single_path.tree), 0.0, 1e-12);
}

// A split that is certain gets back what the Chinese restaurant process charged for it.
TEST(RbhmcGates, AreAtMostTheEntropyOfTheSplit) {
  Stream stream({5, 0, 0}, Purpose::test);
  RbhmcCase small = random_case(stream);
  for (std::size_t row = 0; row < kRows; ++row) small.data[row] = {row < 3 ? -1.0 : 1.0, 0.0};
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  Labels labels(2 * kRows);
  for (std::size_t row = 0; row < kRows; ++row) labels[row] = labels[kRows + row] = row < 3 ? 0 : 1;
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
  RbhmcCase small = random_case(stream);
  small.data.push_back(small.data[0]);  // a row twice
  RbhmcCase scaled = small;
  // A power of two leaves all digits as they are.
  for (std::vector<double>& row : scaled.data)
    for (double& value : row) value *= 1024.0;
  scaled.family_settings = {"noise_variance=1048576", "prior_variance=1048576"};
  const RbhmcData data(small), scaled_data(scaled);
  std::vector<Labels> draws;
  for (const RbhmcData* each : {&data, &scaled_data}) {
    const Problem problem = rbhmc_problem(*each, small.settings);
    const std::unique_ptr<Inference> sampler = model_by_name("rbhmc").make_inference(problem);
    sampler->init({7, 0, 0});
    Labels all;
    for (std::size_t sweep = 1; sweep <= 50; ++sweep) {
      sampler->step({7, 0, sweep});
      Labels labels(2 * small.data.size());
      sampler->labels(labels);
      all.insert(all.end(), labels.begin(), labels.end());
    }
    draws.push_back(std::move(all));
  }
  EXPECT_EQ(draws[0], draws[1]);
}

}  // namespace
}  // namespace coppice::test
