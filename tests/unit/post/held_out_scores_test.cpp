// Scores of held-out cells against their definition, draw by draw, from statistics of their own.
#include "coppice/post/held_out_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/post/fold_scores.hpp"
#include "small_run.hpp"

namespace coppice {
namespace {

using HeldOutScoresTest = RunTest;

constexpr const char* kMixed =
    "x,n,c,b\n0.5,3,red,0\n0.7,,red,0\n,4,red,1\n5.5,9,,1\n5.1,11,blue,1\n5.7,8,blue,\n0.4,2,red,0\n";

constexpr const char* kCodebook = "[[column]]\nname=\"n\"\nkind=\"count\"\n";

/// The held-out cells of the gaps above; values are encoded as in the table.
const std::vector<HeldOutCell> kCells{{1, 1, 2.0}, {2, 0, 0.9}, {3, 2, 0.0}, {5, 3, 1.0}};

/// Row with one known cell.
std::vector<double> lone_cell(const SavedRun& run, const HeldOutCell& cell, std::size_t& place) {
  const FamilyPlan& plan = run.setup().plan;
  std::vector<double> row(plan.order.size(), kMissing);
  for (place = 0; plan.order[place] != cell.column;) ++place;
  row[place] = cell.value - plan.family->origin(place);
  return row;
}

TEST_F(HeldOutScoresTest, AgreeWithTheirDefinition) {
  const auto run = make_run({.csv = kMixed, .codebook = kCodebook, .chains = 2, .draws = 40});
  const Family& family = *run->setup().plan.family;
  double log_predictive = 0.0;
  double mean_of_x = 0.0;
  double mean_of_n = 0.0;
  double hits = 0.0;
  double draws = 0.0;
  for (const HeldOutCell& cell : kCells) {
    std::size_t place = 0;
    const std::vector<double> row = lone_cell(*run, cell, place);
    double probability = 0.0;
    double mean = 0.0;
    std::vector<double> values(12, 0.0);
    draws = 0.0;
    run->for_each_draw(0, [&](const SavedDraw& saved) {
      const std::vector<double> stats =
          stats_of(family, run->setup().rows, saved.labels, saved.labels[cell.row]);
      probability += std::exp(family.log_predictive(stats.data(), row.data()));
      mean += family.predict_cell(stats.data(), place).mean;
      std::vector<double> other = row;
      for (std::size_t value = 0; value < values.size() && cell.column != 0; ++value) {
        if (cell.column > 1 && value > 1) break;
        other[place] = static_cast<double>(value) - family.origin(place);
        values[value] += std::exp(family.log_predictive(stats.data(), other.data()));
      }
      draws += 1.0;
    });
    log_predictive += std::log(probability / draws);
    if (cell.column == 0) mean_of_x = mean / draws;
    if (cell.column == 1) mean_of_n = mean / draws;
    const auto best = std::max_element(values.begin(), values.end()) - values.begin();
    if (cell.column != 0 && static_cast<double>(best) == cell.value) hits += 1.0;
  }
  const HeldOutScores scores = score_held_out(*run, kCells);
  EXPECT_EQ(scores.cells, 4u);
  EXPECT_NEAR(scores.log_predictive, log_predictive / 4.0, 1e-12);
  EXPECT_NEAR(scores.rmse, std::sqrt((std::pow(mean_of_x - 0.9, 2) + std::pow(mean_of_n - 2.0, 2)) / 2.0),
              1e-12);
  EXPECT_NEAR(scores.mae, (std::abs(mean_of_x - 0.9) + std::abs(mean_of_n - 2.0)) / 2.0, 1e-12);
  EXPECT_NEAR(scores.mode_accuracy, hits / 3.0, 1e-12);
}

TEST_F(HeldOutScoresTest, OneClusterIsThePredictiveOfAllRows) {
  const auto run = make_run({.csv = kMixed, .codebook = kCodebook, .chains = 1, .draws = 1});
  const Family& family = *run->setup().plan.family;
  const std::vector<Label> together(run->rows(), 0);
  const std::vector<double> stats = stats_of(family, run->setup().rows, together, 0);
  double log_predictive = 0.0;
  for (const HeldOutCell& cell : kCells) {
    std::size_t place = 0;
    const std::vector<double> row = lone_cell(*run, cell, place);
    log_predictive += family.log_predictive(stats.data(), row.data());
  }
  EXPECT_NEAR(score_one_cluster(run->setup(), run->table(), kCells).log_predictive, log_predictive / 4.0,
              1e-12);
}

TEST_F(HeldOutScoresTest, ThreadsDoNotChangeThem) {
  const auto run = make_run({.csv = kMixed, .codebook = kCodebook, .chains = 2, .draws = 40});
  EXPECT_EQ(score_held_out(*run, kCells, 0, 1).log_predictive,
            score_held_out(*run, kCells, 0, 2).log_predictive);
}

TEST(FoldScores, AnImpossibleCellIsNotForgotten) {
  FoldScores scores{"nrmm"};
  for (const double value : {-1.0, kMinusInfinity, -2.0}) scores.folds.push_back({5, {value, kMissing}});
  EXPECT_EQ(mean_over_folds(scores, 0).mean, kMinusInfinity);
  EXPECT_TRUE(std::isnan(mean_over_folds(scores, 0).error));
  EXPECT_EQ(infinite_folds(scores, 0), 1u);
  EXPECT_TRUE(std::isnan(mean_over_folds(scores, 1).mean));
  EXPECT_EQ(infinite_folds(scores, 1), 0u);
}

}  // namespace
}  // namespace coppice
