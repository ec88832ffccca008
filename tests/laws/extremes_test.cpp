// Numbers far from the origin, rows without spread, tables of zeros, many rows: nothing may lose its digits
// or turn into infinity.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {
namespace {

constexpr double kOffset = 1e8;

/// Cells rounded so that adding the offset is exact: both tables then hold the very same differences.
Table rounded(const Table& table, double offset) {
  Table result = table;
  for (Column& column : result.columns)
    for (double& cell : column.values) cell = std::round(cell * 0x1p20) * 0x1p-20 + offset;
  return result;
}

/// The case's settings with the prior mean moved by the offset.
Settings shifted_settings(const LawCase& law_case, double offset) {
  Settings settings = parse_all(law_case.settings);
  const auto given = settings.find("prior_mean");
  std::vector<double> means(law_case.columns.size(), 2.0);
  if (given != settings.end()) means = given->second.numbers;
  for (double& mean : means) mean += offset;
  settings.insert_or_assign("prior_mean", Setting::vector(means));
  return settings;
}

class Offset : public ::testing::TestWithParam<LawCase> {};

TEST_P(Offset, ShiftedDataWithAShiftedPriorHasTheSameMarginals) {
  const Fixture fixture(GetParam(), 1);
  const Table near_table = rounded(fixture.table, 0.0);
  const Table far_table = rounded(fixture.table, kOffset);
  const FamilyPlan near =
      plan_family(near_table, fixture.codebook, GetParam().family, shifted_settings(GetParam(), 0.0));
  const FamilyPlan far =
      plan_family(far_table, fixture.codebook, GetParam().family, shifted_settings(GetParam(), kOffset));
  const Rows near_rows = encode(near, near_table);
  const Rows far_rows = encode(far, far_table);
  Stats near_stats(*near.family);
  Stats far_stats(*far.family);
  for (std::size_t i = 0; i < near_rows.size(); ++i) {
    EXPECT_NEAR(far_stats.log_predictive(far_rows[i]), near_stats.log_predictive(near_rows[i]),
                relative(1e-6, near_stats.log_predictive(near_rows[i])));
    near_stats.add(near_rows[i]);
    far_stats.add(far_rows[i]);
    ASSERT_NEAR(far_stats.log_marginal(), near_stats.log_marginal(),
                relative(1e-6, near_stats.log_marginal()));
  }
  // Still so after 10,000 rows have left and come back.
  for (std::size_t operation = 0; operation < 10000; ++operation) {
    const std::size_t i = operation * 31 % far_rows.size();
    if (!far_stats.remove(far_rows[i])) {
      far_stats.clear();
      for (std::size_t k = 0; k < far_rows.size(); ++k)
        if (k != i) far_stats.add(far_rows[k]);
    }
    far_stats.add(far_rows[i]);
  }
  EXPECT_NEAR(far_stats.log_marginal(), near_stats.log_marginal(), relative(1e-6, near_stats.log_marginal()));
}

TEST_P(Offset, DefaultsFollowTheData) {
  // Nothing given: prior mean and scale come from the columns, so the offset must not matter either.
  const LawCase plain{"plain", GetParam().family, GetParam().columns, {}, GetParam().missing};
  const Fixture fixture(plain, 1);
  const Table near_table = rounded(fixture.table, 0.0);
  const Table far_table = rounded(fixture.table, kOffset);
  const FamilyPlan near = plan_family(near_table, fixture.codebook, plain.family, {});
  const FamilyPlan far = plan_family(far_table, fixture.codebook, plain.family, {});
  const Rows near_rows = encode(near, near_table);
  const Rows far_rows = encode(far, far_table);
  const Stats near_stats(*near.family, near_rows, 0, near_rows.size());
  const Stats far_stats(*far.family, far_rows, 0, far_rows.size());
  EXPECT_NEAR(far_stats.log_marginal(), near_stats.log_marginal(), relative(1e-6, near_stats.log_marginal()));
  for (std::size_t j = 0; j < near_rows.width; ++j) {
    const CellPredictive near_cell = near.family->predict_cell(near_stats.data(), j);
    const CellPredictive far_cell = far.family->predict_cell(far_stats.data(), j);
    EXPECT_NEAR(far_cell.mean - kOffset, near_cell.mean, 1e-6);
    EXPECT_NEAR(far_cell.variance, near_cell.variance, relative(1e-6, near_cell.variance));
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, Offset, ::testing::ValuesIn(real_cases()), CaseName());

class Extremes : public ::testing::TestWithParam<LawCase> {};

/// Everything a sampler asks of a cluster is finite.
void expect_finite(const Family& family, const Stats& stats, const double* row) {
  ASSERT_TRUE(std::isfinite(stats.log_marginal())) << stats.log_marginal();
  ASSERT_TRUE(std::isfinite(stats.log_predictive(row))) << stats.log_predictive(row);
  AlignedVector cache(family.cache_size() * kLanes);
  for (std::size_t lane = 0; lane < kLanes; ++lane) family.fill_cache(stats.data(), cache.data() + lane);
  for (const double value : cache) ASSERT_TRUE(std::isfinite(value));
  AlignedVector out(kLanes, 0.0);
  const bool member = count_of(stats.data()) >= 2.0;
  family.add_log_predictive(row, cache.data(), family.cache_size() * kLanes, 1,
                            member ? OwnCluster{0, stats.data()} : OwnCluster{}, out.data());
  for (const double value : out) ASSERT_TRUE(std::isfinite(value)) << value;
  std::vector<double> theta(family.theta_size());
  std::vector<double> drawn(family.width());
  Stream stream({1, 0, 0}, Purpose::test, 1);
  family.draw_theta(stats.data(), stream, theta.data());
  for (const double value : theta) ASSERT_TRUE(std::isfinite(value));
  family.draw(theta.data(), stream, drawn.data());
  for (const double value : drawn) ASSERT_TRUE(std::isfinite(value));
  for (std::size_t j = 0; j < family.width(); ++j)
    ASSERT_TRUE(std::isfinite(family.predict_cell(stats.data(), j).mean));
}

/// Grows a cluster of the given rows (repeated from the start if there are too few) and looks at it on the
/// way.
void expect_finite_while_growing(const Family& family, const Rows& rows, std::size_t count) {
  Stats stats(family);
  expect_finite(family, stats, rows[0]);
  for (std::size_t i = 0; i < count; ++i) {
    stats.add(rows[i % rows.size()]);
    if (i < 5 || i == 100 || i + 1 == count) expect_finite(family, stats, rows[i % rows.size()]);
    if (::testing::Test::HasFatalFailure()) return;
  }
  Stats merged = stats;
  merged.merge(stats);
  expect_finite(family, merged, rows[0]);
}

TEST_P(Extremes, IdenticalRows) {
  const Fixture fixture(GetParam(), 1);
  Rows one = fixture.rows;
  one.cells.resize(one.width);
  expect_finite_while_growing(fixture.family(), one, 1000);
}

TEST_P(Extremes, ZerosOnly) {
  // Zero in the user's units, under the prior of ordinary data.
  const Fixture fixture(GetParam(), 1);
  Table zeros = fixture.table;
  for (Column& column : zeros.columns) std::fill(column.values.begin(), column.values.end(), 0.0);
  expect_finite_while_growing(fixture.family(), encode(fixture.plan, zeros), 1000);
}

TEST_P(Extremes, ConstantColumnsGiveUsableDefaults) {
  const LawCase& law_case = GetParam();
  const Fixture fixture(law_case, 1);
  for (const double value : {0.0, 1.0}) {
    Table constant = fixture.table;
    for (Column& column : constant.columns) std::fill(column.values.begin(), column.values.end(), value);
    Settings settings = parse_all(law_case.settings);
    settings.erase(
        "preset");  // rescales the covariance, which is zero here; refused with a message of its own
    const FamilyPlan plan = plan_family(constant, fixture.codebook, law_case.family, settings);
    expect_finite_while_growing(*plan.family, encode(plan, constant), 200);
  }
}

TEST_P(Extremes, TenThousandRowsAreMoreThanTheTablesHold) {
  const Fixture fixture(GetParam(), 1);
  expect_finite_while_growing(fixture.family(), fixture.rows, 10000);
  // Counts beyond the tabulated constants must follow the same law.
  Stats stats(fixture.family());
  for (std::size_t i = 0; i < 10000; ++i) stats.add(fixture.rows[i % fixture.rows.size()]);
  const double predictive = stats.log_predictive(fixture.rows[0]);
  const double before = stats.log_marginal();
  stats.add(fixture.rows[0]);
  EXPECT_NEAR(predictive, stats.log_marginal() - before, relative(1e-10, before));
}

INSTANTIATE_TEST_SUITE_P(Laws, Extremes, ::testing::ValuesIn(law_cases()), CaseName());

class EmptyRows : public ::testing::TestWithParam<LawCase> {};

TEST_P(EmptyRows, ChangeNothingButTheCount) {
  const Fixture fixture(GetParam(), 1);
  const std::vector<double> nothing(fixture.family().width(), kMissing);
  Stats stats(fixture.family(), fixture.rows, 0, 10);
  const double before = stats.log_marginal();
  EXPECT_EQ(stats.log_predictive(nothing.data()), 0.0);
  stats.add(nothing.data());
  EXPECT_EQ(stats.log_marginal(), before);
  EXPECT_EQ(count_of(stats.data()), 11.0);
  EXPECT_TRUE(stats.remove(nothing.data()));
  EXPECT_EQ(stats.log_marginal(), before);
  expect_finite(fixture.family(), stats, nothing.data());
}

INSTANTIATE_TEST_SUITE_P(Laws, EmptyRows, ::testing::ValuesIn(missing_cases()), CaseName());

}  // namespace
}  // namespace coppice::test
