// Unequal costs, by their definitions and by enumeration of all partitions; rows that cannot be placed.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "coppice/base/error.hpp"
#include "coppice/post/consensus.hpp"
#include "unit/post/random_draws.hpp"

namespace coppice {
namespace {

constexpr std::size_t kJudgedRows = 7;

/// b per ordered pair that the estimate joins and the draw separates, 2 - b per one it separates, over n^2.
double binder(std::span<const Label> estimate, std::span<const Label> draw, double b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < kJudgedRows; ++i)
    for (std::size_t j = 0; j < kJudgedRows; ++j) {
      const bool joined = estimate[i] == estimate[j];
      if (joined == (draw[i] == draw[j])) continue;
      sum += joined ? b : 2.0 - b;
    }
  return sum / (kJudgedRows * kJudgedRows);
}

/// b H(draw | estimate) + (2 - b) H(estimate | draw).
double vi(std::span<const Label> estimate, std::span<const Label> draw, double b) {
  std::map<std::pair<Label, Label>, double> both;
  std::map<Label, double> own, other;
  for (std::size_t i = 0; i < kJudgedRows; ++i) {
    both[{estimate[i], draw[i]}] += 1.0 / kJudgedRows;
    own[estimate[i]] += 1.0 / kJudgedRows;
    other[draw[i]] += 1.0 / kJudgedRows;
  }
  double sum = 0.0;
  for (const auto& [cell, share] : both)
    sum -= share * (b * std::log(share / own[cell.first]) + (2.0 - b) * std::log(share / other[cell.second]));
  return sum;
}

TEST(UnequalCosts, TheEstimateIsTheBestOfAllPartitions) {
  const LabelMatrix draws = random_draws(4, kJudgedRows, 40, 3, 0.35);
  for (const Loss loss : {Loss::vi, Loss::binder})
    for (const double b : {0.3, 1.0, 1.6}) {
      double best = std::numeric_limits<double>::infinity();
      for_each_partition(kJudgedRows, [&](std::span<const Label> labels, std::size_t) {
        double sum = 0.0;
        for (std::size_t d = 0; d < draws.draws(); ++d)
          sum += loss == Loss::vi ? vi(labels, draws[d], b) : binder(labels, draws[d], b);
        best = std::min(best, sum / static_cast<double>(draws.draws()));
      });
      ConsensusOptions options;
      options.loss = loss;
      options.join_cost = b;
      EXPECT_NEAR(consensus(draws, options).expected_loss, best, 1e-9) << b;
    }
}

TEST(UnequalCosts, DearJoiningGivesMoreClusters) {
  const LabelMatrix draws = random_draws(9, 30, 200, 4, 0.4);
  std::size_t before = 0;
  for (const double b : {0.2, 1.0, 1.8}) {
    ConsensusOptions options;
    options.join_cost = b;
    const std::size_t clusters = consensus(draws, options).clusters;
    EXPECT_GE(clusters, before);
    before = clusters;
  }
  ConsensusOptions wrong;
  wrong.join_cost = 2.0;
  EXPECT_THROW(consensus(draws, wrong), Error);
}

TEST(UnassignedRows, AreAloneInTheEstimateButInFewDraws) {
  Consensus estimate;
  estimate.labels = {0, 0, 1, 2, 3};
  estimate.clusters = 4;
  estimate.row_confidence = {0.1, 0.1, 0.49, 0.5, 1.0};
  EXPECT_EQ(unassigned_rows(estimate), (std::vector<bool>{false, false, true, false, false}));
  Consensus one_row;
  one_row.labels = {0};
  one_row.clusters = 1;
  one_row.row_confidence = {0.0};
  EXPECT_EQ(unassigned_rows(one_row), std::vector<bool>{false});
}

}  // namespace
}  // namespace coppice
