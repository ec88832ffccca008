// The nested Chinese restaurant process: a probability over all trees, co-clustering in closed form, and a
// simulator and a concentration update that follow it.
#include "coppice/prior/nested_crp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/monte_carlo.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

/// visit(labels of all levels) for every nested partition: each level refines the one above.
void for_each_tree(std::size_t rows, std::size_t depth, const std::function<void(const Labels&)>& visit) {
  const std::function<void(Labels)> refine = [&](const Labels& labels) {
    if (labels.size() == rows * depth) {
      visit(labels);
      return;
    }
    for_each_partition(rows, [&](std::span<const Label> finer, std::size_t) {
      for (std::size_t a = 0; a < rows && !labels.empty(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
          const std::size_t last = labels.size() - rows;
          if (finer[a] == finer[b] && labels[last + a] != labels[last + b]) return;
        }
      Labels deeper = labels;
      deeper.insert(deeper.end(), finer.begin(), finer.end());
      refine(deeper);
    });
  };
  refine({});
}

TEST(NestedCrp, SumsToOneWithKnownCoClustering) {
  constexpr std::size_t kRows = 4;
  for (const double alpha : {1e-3, 0.7, 5.0})
    for (const std::size_t depth : {1u, 2u, 3u}) {
      LevelTree tree(kRows, depth);
      double total = 0.0;
      std::vector<double> together(depth, 0.0);
      for_each_tree(kRows, depth, [&](const Labels& labels) {
        tree.assign(labels);
        const double probability = std::exp(log_nested_crp(tree, alpha));
        total += probability;
        for (std::size_t level = 0; level < depth; ++level)
          if (labels[level * kRows + 1] == labels[level * kRows + 3]) together[level] += probability;
      });
      EXPECT_NEAR(total, 1.0, 1e-10);
      for (std::size_t level = 0; level < depth; ++level)
        EXPECT_NEAR(together[level], std::pow(1.0 + alpha, -static_cast<double>(level + 1)), 1e-10);
    }
}

TEST(NestedCrp, DrawsFollowIt) {
  constexpr std::size_t kRows = 3;
  constexpr std::size_t kDepth = 2;
  LevelTree tree(kRows, kDepth);
  std::map<Labels, std::size_t> index;
  std::vector<double> probabilities;
  for_each_tree(kRows, kDepth, [&](const Labels& labels) {
    tree.assign(labels);
    index.emplace(labels, probabilities.size());
    probabilities.push_back(std::exp(log_nested_crp(tree, 0.9)));
  });
  EXPECT_EQ(probabilities.size(), 12u);
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream({seed, 0, 0}, Purpose::test);
    std::vector<double> counts(probabilities.size(), 0.0);
    Labels labels(kRows * kDepth);
    for (int draw = 0; draw < 20000; ++draw) {
      draw_nested_crp(stream, 0.9, tree);
      tree.labels(labels);
      counts[index.at(labels)] += 1.0;
    }
    expect_frequencies(counts, probabilities);
  }
}

// Concentration from its prior, a tree given it, the concentration given the tree: the prior again.
TEST(NestedCrp, UpdateOfTheConcentrationKeepsItsPrior) {
  const GammaPrior prior{2.0, 1.5};
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream({seed, 1, 0}, Purpose::test);
    LevelTree tree(5, 3);
    RunningMean first, second;
    for (int draw = 0; draw < 20000; ++draw) {
      const double alpha = prior.draw(stream);
      draw_nested_crp(stream, alpha, tree);
      const double next = update_nested_crp(stream, prior, alpha, tree);
      first.add(next);
      second.add(next * next);
    }
    expect_mean(first, 2.0 / 1.5);
    expect_mean(second, 2.0 * 3.0 / (1.5 * 1.5));
  }
}

}  // namespace
}  // namespace coppice::test
