// How strongly columns separate clusters: pooled variances by hand, no separation by chance, and columns of a
// run.
#include "coppice/post/column_separation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/rng.hpp"
#include "unit/post/small_run.hpp"

namespace coppice {
namespace {

TEST(ColumnSeparation, PooledVarianceByHand) {
  const std::vector<double> values{1, 3, 10, 14, kMissing};
  const PooledVariance variance = pooled_variance(values, Labels{0, 0, 1, 1, 2}, 3);
  EXPECT_DOUBLE_EQ(variance.within,
                   (2.0 + 8.0) / 2.0);  // four values in two clusters; the third is empty here
  EXPECT_DOUBLE_EQ(variance.overall, (36.0 + 16.0 + 9.0 + 49.0) / 3.0);
  EXPECT_TRUE(std::isnan(pooled_variance(values, Labels{0, 1, 2, 3, 4}, 5).within))
      << "singletons have no spread";
}

TEST(ColumnSeparation, PooledDifferenceIsTheShareOfPairsThatDiffer) {
  const PooledVariance difference =
      pooled_difference(std::vector<double>{0, 0, 1, 1, 2, kMissing}, 3, Labels{0, 0, 0, 1, 1, 1}, 2);
  EXPECT_DOUBLE_EQ(difference.overall, 8.0 / 10.0);  // of the ten pairs two agree
  // Two of three pairs differ in the first cluster (two degrees of freedom), the one pair of the second
  // (one).
  EXPECT_DOUBLE_EQ(difference.within, (2.0 * 2.0 / 3.0 + 1.0) / 3.0);
}

TEST(ColumnSeparation, ChanceDoesNotSeparateHoweverManyClusters) {
  Stream stream({1, 0, 0}, Purpose::prior_data);
  constexpr std::size_t kRows = 200;
  for (const std::size_t clusters : {2u, 60u}) {
    double numbers = 0.0;
    double codes = 0.0;
    constexpr int kTimes = 200;
    for (int time = 0; time < kTimes; ++time) {
      std::vector<double> value(kRows), code(kRows);
      Labels labels(kRows);
      for (std::size_t row = 0; row < kRows; ++row) {
        value[row] = draw_normal(stream);
        code[row] = std::floor(4.0 * draw_uniform(stream));
        labels[row] = static_cast<Label>(draw_uniform(stream) * static_cast<double>(clusters));
      }
      const PooledVariance a = pooled_variance(value, labels, clusters);
      const PooledVariance b = pooled_difference(code, 4, labels, clusters);
      numbers += (1.0 - a.within / a.overall) / kTimes;
      codes += (1.0 - b.within / b.overall) / kTimes;
    }
    EXPECT_NEAR(numbers, 0.0, 0.01) << clusters;
    EXPECT_NEAR(codes, 0.0, 0.01) << clusters;
  }
}

using ColumnSeparationOfARun = RunTest;

/// Two groups that differ in x and kind, and not in noise.
TEST_F(ColumnSeparationOfARun, InTheUnitsOfTheData) {
  std::string csv = "id,noise,x,kind\n";
  for (int row = 0; row < 24; ++row)
    csv += fmt::format("r{},{},{},{}\n", row, 0.37 * ((row * 7) % 12),
                       (row % 2 == 1 ? 1000.0 : 0.0) + 3.5 * (row % 5), row % 2 == 1 ? "red" : "blue");
  for (const bool standardize : {false, true}) {
    const auto run = make_run({.csv = csv, .standardize = standardize});
    const std::vector<ColumnSeparation> columns = column_separation(Analysis(run->file().path()));
    ASSERT_EQ(columns.size(), 3u);
    EXPECT_EQ(columns.back().name, "noise");
    EXPECT_LT(columns.back().between, 0.3);
    for (const ColumnSeparation& column : columns) {
      if (column.name == "noise") continue;
      EXPECT_GT(column.between, 0.9) << column.name;
      if (column.name != "x") continue;
      EXPECT_NEAR(column.overall, 511.0, 10.0);
      EXPECT_LT(column.within, 100.0);
    }
  }
}

}  // namespace
}  // namespace coppice
