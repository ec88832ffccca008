// Imputed cells against the enumeration of all partitions of five rows, and against their definition draw by
// draw.
#include "coppice/post/impute.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/post/cell_mixture.hpp"
#include "coppice/post/units.hpp"
#include "small_run.hpp"
#include "support/nrmm_enumeration.hpp"
#include "support/sampling_error.hpp"

namespace coppice {
namespace {

using ImputeTest = RunTest;

/// What the row's cluster predicts for a cell in each draw, from statistics of its own.
std::vector<CellPredictive> predictives(const SavedRun& run, std::size_t row, std::size_t place) {
  const Family& family = *run.setup().plan.family;
  std::vector<CellPredictive> list;
  run.for_each_draw(0, [&](const SavedDraw& saved) {
    const std::vector<double> stats = stats_of(family, run.setup().rows, saved.labels, saved.labels[row]);
    list.push_back(family.predict_cell(stats.data(), place));
  });
  return list;
}

double average_cdf(const std::vector<CellPredictive>& list, double x) {
  double sum = 0.0;
  for (const CellPredictive& one : list)
    sum += boost::math::cdf(boost::math::students_t(one.dof), (x - one.mean) / one.scale);
  return sum / static_cast<double>(list.size());
}

/// P(count <= value), from the probabilities of all values up to it.
double average_count_cdf(const SavedRun& run, std::size_t row, std::size_t place, double value) {
  const FamilyPlan& plan = run.setup().plan;
  double sum = 0.0, draws = 0.0;
  run.for_each_draw(0, [&](const SavedDraw& saved) {
    const std::vector<double> stats =
        stats_of(*plan.family, run.setup().rows, saved.labels, saved.labels[row]);
    for (double x = 0.0; x <= value; ++x)
      sum += std::exp(plan.family->cell_log_predictive(stats.data(), place, plan.encodings[place].encode(x)));
    draws += 1.0;
  });
  return sum / draws;
}

double average_mean(const std::vector<CellPredictive>& list) {
  double sum = 0.0;
  for (const CellPredictive& one : list) sum += one.mean;
  return sum / static_cast<double>(list.size());
}

double total_sd(const std::vector<CellPredictive>& list) {
  double squares = 0.0;
  for (const CellPredictive& one : list) squares += one.variance + one.mean * one.mean;
  const double mean = average_mean(list);
  return std::sqrt(squares / static_cast<double>(list.size()) - mean * mean);
}

TEST_F(ImputeTest, BinaryCellsAgreeWithAllPartitions) {
  const double alpha = 0.8;
  const auto run = make_run({.csv = "a,b,c\n1,1,0\n1,,1\n0,0,1\n0,0,\n1,1,0\n",
                             .parameters = {{"alpha", Setting::number(alpha)}},
                             .chains = 1,
                             .draws = test::scaled(20'000)});
  const Imputation result = impute(*run);
  ASSERT_EQ(result.cells.size(), 2u);
  EXPECT_EQ(result.cells[0].row, 1u);
  EXPECT_EQ(result.cells[0].column, 1u);
  EXPECT_EQ(result.cells[1].row, 3u);
  EXPECT_EQ(result.cells[1].column, 2u);
  EXPECT_EQ(result.draws, run->draws_per_chain());
  test::Agreement agreement;
  double probability[2];
  for (std::size_t k = 0; k < 2; ++k) {
    const ImputedCell& cell = result.cells[k];
    // P(cell = 1) is a ratio of the evidence with 0 and with 1 in its place.
    double log_evidence[2];
    for (std::size_t value = 0; value < 2; ++value) {
      Rows filled = run->setup().rows;
      filled[cell.row][cell.column] = static_cast<double>(value);
      log_evidence[value] =
          test::ExactPosterior(*run->setup().plan.family, filled, {.fixed = alpha}).log_evidence();
    }
    probability[k] = 1.0 / (1.0 + std::exp(log_evidence[0] - log_evidence[1]));
    std::vector<double> series;
    for (const CellPredictive& one : predictives(*run, cell.row, cell.column))
      series.push_back(one.probabilities[1]);
    test::Estimate estimate = test::batch_estimate(series);
    EXPECT_NEAR(cell.mean,
                std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size()),
                1e-10);
    estimate.mean = cell.mean;
    agreement.check(fmt::format("cell {}", k), estimate, probability[k]);
    EXPECT_NEAR(cell.probabilities[0] + cell.probabilities[1], 1.0, 1e-12);
    EXPECT_EQ(cell.level, cell.mean > 0.5 ? "1" : "0");
    EXPECT_EQ(cell.probability, std::max(cell.probabilities[0], cell.probabilities[1]));
    EXPECT_EQ(result.completed.columns[cell.column].values[cell.row], cell.mean > 0.5 ? 1.0 : 0.0);
  }
  EXPECT_TRUE(agreement.holds()) << agreement;
  EXPECT_GT(std::abs(probability[0] - probability[1]), 0.1) << "cells that are alike prove nothing";
}

TEST_F(ImputeTest, RealCellsInTheUnitsOfTheData) {
  const std::string csv =
      "x,y\n-39.9,3\n-38.6,3.5\n-40.3,2.5\n,3.25\n40.3,-2.125\n38.9,-2\n41.2,\n39.8,-1.5\n";
  const auto run = make_run({.csv = csv, .family = "gaussian-diagonal", .draws = 300, .standardize = true});
  const Transform transform = transform_from_json(run->contents().transform);
  const Imputation result = impute(*run, {.threads = 1});
  ASSERT_EQ(result.cells.size(), 2u);
  for (const ImputedCell& cell : result.cells) {
    const Transform::Scale& scale = transform.scales[cell.column];
    const std::vector<CellPredictive> list = predictives(*run, cell.row, cell.column);
    EXPECT_NEAR(cell.mean, scale.mean + scale.deviation * average_mean(list), 1e-9);
    EXPECT_NEAR(cell.sd, scale.deviation * total_sd(list), 1e-9);
    EXPECT_NEAR(average_cdf(list, (cell.low - scale.mean) / scale.deviation), 0.05, 1e-4);
    EXPECT_NEAR(average_cdf(list, (cell.median - scale.mean) / scale.deviation), 0.5, 1e-4);
    EXPECT_NEAR(average_cdf(list, (cell.high - scale.mean) / scale.deviation), 0.95, 1e-4);
    EXPECT_EQ(result.completed.columns[cell.column].values[cell.row], cell.mean);
    EXPECT_TRUE(cell.level.empty());
  }
  // The row with y = 3.25 belongs to the rows near -40, not to the average of all.
  EXPECT_NEAR(result.cells[0].mean, -40.0, 20.0);
  // Cells that were there are what was read, to the last bit.
  const Table original = read_dataset_bytes(csv, "data.csv", {}).table;
  for (std::size_t j = 0; j < 2; ++j)
    for (std::size_t i = 0; i < original.rows(); ++i)
      if (!is_missing(original.columns[j].values[i])) {
        EXPECT_EQ(result.completed.columns[j].values[i], original.columns[j].values[i]) << i << " " << j;
      }
  const Imputation threaded = impute(*run, {.threads = 3});
  EXPECT_EQ(threaded.cells[0].low, result.cells[0].low);
  EXPECT_EQ(threaded.cells[1].sd, result.cells[1].sd);
}

TEST(OriginalUnits, GiveBackTheNumberThatWasRead) {
  const OriginalUnits units{3.7123, 0.91237};
  std::size_t rounded = 0;
  for (int k = -2000; k <= 2000; ++k) {
    const double read = k / 100.0;
    const double standardized = (read - units.mean) / units.deviation;
    EXPECT_EQ(units.cell(standardized), read);
    rounded += units.location(standardized) == read ? 0 : 1;
  }
  EXPECT_GT(rounded, 100u) << "plain arithmetic would do";
}

TEST_F(ImputeTest, AgreesWithAllPartitionsOnReals) {
  const double alpha = 1.3;
  const auto run = make_run({.csv = "x,y\n-2.1,0.3\n-1.7,-0.2\n0.4,2.2\n1.9,\n2.3,1.8\n",
                             .parameters = {{"alpha", Setting::number(alpha)}},
                             .chains = 1,
                             .draws = test::scaled(20'000)});
  const Imputation result = impute(*run);
  ASSERT_EQ(result.cells.size(), 1u);
  const Family& family = *run->setup().plan.family;
  const test::ExactPosterior exact(family, run->setup().rows, {.fixed = alpha});
  double mean = 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const Labels& labels = exact.partition(i);
    const CellPredictive one =
        family.predict_cell(stats_of(family, run->setup().rows, labels, labels[3]).data(), 1);
    mean += exact.probability(i) * one.mean;
    square += exact.probability(i) * (one.variance + one.mean * one.mean);
  }
  std::vector<double> means;
  std::vector<double> squares;
  for (const CellPredictive& one : predictives(*run, 3, 1)) {
    means.push_back(one.mean);
    squares.push_back(one.variance + one.mean * one.mean);
  }
  test::Estimate first = test::batch_estimate(means);
  test::Estimate second = test::batch_estimate(squares);
  first.mean = result.cells[0].mean;
  second.mean = result.cells[0].sd * result.cells[0].sd + first.mean * first.mean;
  test::Agreement agreement;
  agreement.check("mean", first, mean);
  agreement.check("square", second, square);
  EXPECT_TRUE(agreement.holds()) << agreement;
}

TEST_F(ImputeTest, CountsAreWholeAndLevelsAreNamed) {
  std::string csv = "n,color\n";
  for (std::size_t i = 0; i < 12; ++i) csv += fmt::format("{},{}\n", i % 3, i % 6 == 0 ? "blue" : "red");
  for (std::size_t i = 0; i < 12; ++i)
    csv += fmt::format("{},{}\n", 20 + i % 7, i % 6 == 0 ? "red" : "green");
  csv += "1,\n,green\n";
  const auto run = make_run({.csv = csv, .codebook = "[[column]]\nname=\"n\"\nkind=\"count\"\n"});
  const Imputation result = impute(*run);
  ASSERT_EQ(result.cells.size(), 2u);
  const ImputedCell& color = result.cells[0];
  const ImputedCell& count = result.cells[1];
  EXPECT_EQ(color.level, "red");
  EXPECT_GT(color.probability, 0.6);
  EXPECT_TRUE(is_missing(color.mean));
  EXPECT_NEAR(std::accumulate(color.probabilities.begin(), color.probabilities.end(), 0.0), 1.0, 1e-12);
  EXPECT_EQ(result.completed.columns[1].text(24), "red");
  EXPECT_EQ(count.low, std::floor(count.low));
  EXPECT_EQ(count.high, std::floor(count.high));
  EXPECT_GE(count.low, 0.0);
  const std::size_t place = run->setup().plan.order[0] == 0 ? 0 : 1;
  // The least whole numbers that reach 5 %, half and 95 %.
  for (const auto& [value, share] :
       {std::pair{count.low, 0.05}, std::pair{count.median, 0.5}, std::pair{count.high, 0.95}}) {
    EXPECT_GE(average_count_cdf(*run, 25, place, value), share - 1e-9);
    if (value > 0.0) {
      EXPECT_LT(average_count_cdf(*run, 25, place, value - 1.0), share + 1e-9);
    }
  }
  EXPECT_EQ(result.completed.columns[0].values[25], std::round(count.mean));
  EXPECT_NE(count.mean, std::round(count.mean));
}

TEST_F(ImputeTest, PredictivesWithoutVarianceHaveIntervals) {
  const auto run = make_run({.csv = "x,y\n0.5,-1\n0.25,2\n-0.5,3.5\n7,\n",
                             .family = "gaussian-diagonal",
                             .codebook = "[[column]]\nname=\"y\"\nkind=\"real\"\nshape=0.4\n"});
  const Imputation result = impute(*run);
  ASSERT_EQ(result.cells.size(), 1u);
  double boundless = 0.0;
  const std::vector<CellPredictive> list = predictives(*run, 3, 1);
  for (const CellPredictive& one : list) boundless += std::isinf(one.variance) ? 1.0 : 0.0;
  ASSERT_GT(boundless, 0.1 * static_cast<double>(list.size()));
  EXPECT_TRUE(std::isinf(result.cells[0].sd));
  EXPECT_NEAR(average_cdf(list, result.cells[0].low), 0.05, 1e-4);
  EXPECT_NEAR(average_cdf(list, result.cells[0].high), 0.95, 1e-4);
  EXPECT_TRUE(std::isfinite(result.completed.columns[1].values[3]));
}

/// Fares: positive, skewed, free for some. The same columns with and without --standardize.
TEST_F(ImputeTest, PositiveNumbersStayPositive) {
  std::string csv = "fare,tip,visits,group\n";
  for (int i = 0; i < 40; ++i) {
    const double scale = i % 2 == 0 ? 2.0 : 40.0;
    csv +=
        fmt::format("{},{},{},{}\n", scale * std::exp(0.9 * std::sin(3.0 * i)),
                    i % 4 == 1 ? 0.0 : scale / (1.0 + i % 5), i % 4 == 0 ? 0 : i % 5, i % 2 == 0 ? "a" : "b");
  }
  csv += ",,,a\n,,,b\n";
  const std::string codebook =
      "[[column]]\nname=\"fare\"\nkind=\"real\"\ntransform=\"log\"\n"
      "[[column]]\nname=\"tip\"\nkind=\"real\"\ntransform=\"log\"\nhurdle=0\n"
      "[[column]]\nname=\"visits\"\nkind=\"count\"\nhurdle=0\n";
  for (const bool standardize : {false, true}) {
    const auto run =
        make_run({.csv = csv, .family = "auto", .codebook = codebook, .standardize = standardize});
    const FamilyPlan& plan = run->setup().plan;
    const Imputation result = impute(*run);
    ASSERT_EQ(result.cells.size(), 6u);
    for (const ImputedCell& cell : result.cells) {
      const auto place = static_cast<std::size_t>(
          std::find(plan.order.begin(), plan.order.end(), cell.column) - plan.order.begin());
      const Encoding& encoding = plan.encodings[place];
      EXPECT_GE(cell.low, 0.0);
      EXPECT_LE(cell.low, cell.median);
      EXPECT_LE(cell.median, cell.high);
      EXPECT_EQ(is_missing(cell.mean), encoding.log);
      EXPECT_EQ(result.completed.columns[cell.column].values[cell.row], cell.median);
      const std::vector<CellPredictive> list = predictives(*run, cell.row, place);
      if (encoding.counts) {
        EXPECT_GE(average_count_cdf(*run, cell.row, place, cell.high), 0.95 - 1e-9);
        EXPECT_LT(average_count_cdf(*run, cell.row, place, cell.high - 1.0), 0.95 + 1e-9);
        continue;
      }
      // The spike, then the other numbers as far as they go.
      for (const auto& [value, share] : {std::pair{cell.low, 0.05}, std::pair{cell.high, 0.95}}) {
        double below = 0.0, at_most = 0.0;
        for (const CellPredictive& one : list) {
          const double numbers = value == 0.0 ? 0.0
                                              : boost::math::cdf(boost::math::students_t(one.dof),
                                                                 (std::log(value) - one.mean) / one.scale);
          at_most += (one.spike + (1.0 - one.spike) * numbers) / static_cast<double>(list.size());
          below += (value == 0.0 ? 0.0 : one.spike + (1.0 - one.spike) * numbers) /
                   static_cast<double>(list.size());
        }
        EXPECT_GE(at_most, share - 1e-4);
        EXPECT_LE(below, share + 1e-4);
      }
      if (encoding.spike) {
        double spike = 0.0;
        for (const CellPredictive& one : list) spike += one.spike / static_cast<double>(list.size());
        EXPECT_NEAR(cell.probability_of_spike, spike, 1e-12);
      }
    }
    // Cheap rows are cheap.
    EXPECT_LT(result.cells[0].median, 8.0);
    EXPECT_GT(result.cells[3].median, 15.0);
  }
}

TEST(CellMixtures, QuantilesOfOneTDistribution) {
  for (const double dof : {0.7, 2.0, 3.0, 4.5, 10.0, 200.0}) {
    CellPredictive predictive{5.0, 1.0, {}, dof, 2.0};
    const NumberComponent component(predictive);
    const MixturePart whole{0, 3.0};
    const CellMixture mixture({&component, 1}, {&whole, 1}, {});
    for (const double p : {0.05, 0.3, 0.5, 0.95})
      EXPECT_NEAR(boost::math::cdf(boost::math::students_t(dof), (mixture.quantile(p) - 5.0) / 2.0), p, 1e-4)
          << dof;
  }
}

TEST(CellMixtures, ASpikeIsAQuantileAsOftenAsItShouldBe) {
  CellPredictive predictive{0.0, 1.0, {}};
  predictive.spike = 0.3;
  const NumberComponent component(predictive);
  const MixturePart whole{0, 1.0};
  Encoding encoding;
  encoding.spike = 1.0;  // 84 % of the other numbers are below it
  const CellMixture mixture({&component, 1}, {&whole, 1}, encoding);
  const double below = 0.7 * 0.5 * std::erfc(-std::sqrt(0.5));
  EXPECT_LT(mixture.quantile(below - 0.001), 1.0);
  EXPECT_EQ(mixture.quantile(below + 0.001), 1.0);
  EXPECT_EQ(mixture.quantile(below + 0.299), 1.0);
  EXPECT_GT(mixture.quantile(below + 0.301), 1.0);
  EXPECT_NEAR(mixture.mean(), 0.3, 1e-12);
  EXPECT_NEAR(mixture.sd(), std::sqrt(0.7 + 0.3 - 0.09), 1e-12);
}

TEST_F(ImputeTest, CompleteTablesAndPrincipalComponents) {
  const std::string csv = "x,y\n1.5,2\n2.5,3.25\n-1.5,0.5\n4,4\n";
  const Imputation nothing = impute(*make_run({.csv = csv, .standardize = true}));
  EXPECT_TRUE(nothing.cells.empty());
  EXPECT_EQ(nothing.completed.columns[0].values, (std::vector<double>{1.5, 2.5, -1.5, 4.0}));
  const auto run = make_run({.csv = csv, .pca = 1});
  try {
    impute(*run);
    FAIL() << "a run on components was imputed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::configuration);
    EXPECT_NE(std::string(error.what()).find("--pca"), std::string::npos);
  }
}

}  // namespace
}  // namespace coppice
