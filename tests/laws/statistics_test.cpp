// Laws of the statistics: the predictive is the ratio of marginals, rows leave as if they had never come,
// merged is the same as all at once, and the order of the rows is forgotten.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "laws/law_case.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

class Statistics : public ::testing::TestWithParam<LawCase> {};

/// Takes a row out as a sampler does: from scratch when rounding has spoilt the shortcut.
void take_out(Stats& stats, const Rows& rows, const std::vector<std::size_t>& left, std::size_t row) {
  if (stats.remove(rows[row])) return;
  stats.clear();
  for (const std::size_t i : left) stats.add(rows[i]);
}

void expect_same(const Stats& stats, const Stats& truth, const Rows& rows, double tolerance) {
  EXPECT_EQ(count_of(stats.data()), count_of(truth.data()));
  EXPECT_NEAR(stats.log_marginal(), truth.log_marginal(), relative(tolerance, truth.log_marginal()));
  for (const std::size_t i : {std::size_t{0}, rows.size() / 2, rows.size() - 1})
    EXPECT_NEAR(stats.log_predictive(rows[i]), truth.log_predictive(rows[i]),
                relative(tolerance, truth.log_predictive(rows[i])));
}

TEST_P(Statistics, NothingHasProbabilityOne) {
  const Fixture fixture(GetParam(), 1);
  EXPECT_NEAR(Stats(fixture.family()).log_marginal(), 0.0, 1e-12);
  EXPECT_EQ(count_of(Stats(fixture.family()).data()), 0.0);
}

TEST_P(Statistics, PredictiveIsTheRatioOfMarginals) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    Stats stats(fixture.family());
    for (std::size_t i = 0; i < fixture.rows.size(); ++i) {
      const double predictive = stats.log_predictive(fixture.rows[i]);
      const double before = stats.log_marginal();
      stats.add(fixture.rows[i]);
      const double after = stats.log_marginal();
      ASSERT_NEAR(predictive, after - before, relative(1e-10, after)) << "row " << i;
      ASSERT_EQ(count_of(stats.data()), static_cast<double>(i + 1));
    }
  }
}

TEST_P(Statistics, RemoveUndoesAdd) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Rows& rows = fixture.rows;
    Stream stream({seed, 0, 0}, Purpose::test, 1);
    std::vector<std::size_t> outside(rows.size());
    std::iota(outside.begin(), outside.end(), 0);
    std::vector<std::size_t> inside;
    Stats stats(fixture.family());
    for (int operation = 0; operation < 10000; ++operation) {
      // Long tides of growing and shrinking, so that the cluster is often small and often empty.
      const bool grow = draw_uniform(stream) < ((operation / 250) % 2 == 0 ? 0.7 : 0.3);
      std::vector<std::size_t>& from = grow ? outside : inside;
      std::vector<std::size_t>& to = grow ? inside : outside;
      if (from.empty()) continue;
      std::swap(from[draw_index(stream, from.size())], from.back());
      const std::size_t row = from.back();
      from.pop_back();
      to.push_back(row);
      if (grow)
        stats.add(rows[row]);
      else
        take_out(stats, rows, inside, row);
      if (operation % 97 != 0) continue;
      Stats truth(fixture.family());
      for (const std::size_t i : inside) truth.add(rows[i]);
      expect_same(stats, truth, rows, 1e-8);
      ASSERT_FALSE(HasFailure()) << "after " << operation << " operations, seed " << seed;
    }
  }
}

TEST_P(Statistics, RowsLeaveInAnyOrderDownToNone) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Rows& rows = fixture.rows;
    Stream stream({seed, 0, 0}, Purpose::test, 2);
    Stats stats(fixture.family(), rows, 0, rows.size());
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0u);
    shuffle(stream, order);
    std::vector<std::size_t> left(order.begin(), order.end());
    while (!left.empty()) {
      const std::size_t row = left.back();
      left.pop_back();
      take_out(stats, rows, left, row);
      Stats truth(fixture.family());
      for (const std::size_t i : left) truth.add(rows[i]);
      expect_same(stats, truth, rows, 1e-8);
      ASSERT_FALSE(HasFailure()) << left.size() << " rows left, seed " << seed;
    }
  }
}

TEST_P(Statistics, MergeIsAllAtOnce) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Family& family = fixture.family();
    const Rows& rows = fixture.rows;
    const std::size_t n = rows.size();
    const Stats all(family, rows, 0, n);
    for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, n / 3, n - 1, n}) {
      SCOPED_TRACE(cut);
      Stats merged(family, rows, 0, cut);
      merged.merge(Stats(family, rows, cut, n));
      expect_same(merged, all, rows, 1e-10);
    }
    Stats in_parts(family);
    for (std::size_t begin = 0; begin < n; begin += 7)
      in_parts.merge(Stats(family, rows, begin, std::min(begin + 7, n)));
    expect_same(in_parts, all, rows, 1e-9);
    Stats none(family);
    none.merge(Stats(family));
    expect_same(none, Stats(family), rows, 1e-12);
  }
}

TEST_P(Statistics, MergedStatisticsGoOnLikeAnyOthers) {
  const Fixture fixture(GetParam(), 1);
  const Rows& rows = fixture.rows;
  Stats merged(fixture.family(), rows, 0, 10);
  merged.merge(Stats(fixture.family(), rows, 10, 20));
  std::vector<std::size_t> left(20);
  std::iota(left.begin(), left.end(), 0);
  left.erase(left.begin() + 4);
  take_out(merged, rows, left, 4);
  merged.add(rows[25]);
  left.push_back(25);
  Stats truth(fixture.family());
  for (const std::size_t i : left) truth.add(rows[i]);
  expect_same(merged, truth, rows, 1e-9);
}

TEST_P(Statistics, OrderIsForgotten) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Rows& rows = fixture.rows;
    const Stats in_order(fixture.family(), rows, 0, rows.size());
    Stream stream({seed, 0, 0}, Purpose::test, 3);
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0u);
    for (int repeat = 0; repeat < 5; ++repeat) {
      shuffle(stream, order);
      Stats shuffled(fixture.family());
      for (const std::uint32_t i : order) shuffled.add(rows[i]);
      expect_same(shuffled, in_order, rows, 1e-10);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, Statistics, ::testing::ValuesIn(law_cases()), CaseName());
INSTANTIATE_TEST_SUITE_P(Learned, Statistics, ::testing::ValuesIn(learned_cases()), CaseName());

class RealStatistics : public ::testing::TestWithParam<LawCase> {};

TEST_P(RealStatistics, AFarRowLeavesNoTrace) {
  // What is left after an outlier is a small difference of large numbers: either it is still good, or remove
  // says so.
  const Fixture fixture(GetParam(), 1);
  Rows rows = fixture.rows;
  std::vector<std::size_t> left(rows.size() - 1);
  std::iota(left.begin(), left.end(), 1);
  for (const double distance : {1e2, 1e4, 1e5, 1e6, 1e8, 1e12}) {
    SCOPED_TRACE(distance);
    for (std::size_t j = 0; j < rows.width; ++j) rows[0][j] = j % 2 == 0 ? distance : -0.3 * distance;
    for (const std::size_t others : {std::size_t{1}, std::size_t{5}, left.size()}) {
      const std::vector<std::size_t> kept(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(others));
      Stats truth(fixture.family());
      for (const std::size_t i : kept) truth.add(rows[i]);
      Stats stats = truth;
      stats.add(rows[0]);
      take_out(stats, rows, kept, 0);
      EXPECT_NEAR(stats.log_marginal(), truth.log_marginal(), relative(1e-8, truth.log_marginal()))
          << others << " others";
      EXPECT_NEAR(stats.log_predictive(rows[1]), truth.log_predictive(rows[1]),
                  relative(1e-8, truth.log_predictive(rows[1])));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, RealStatistics, ::testing::ValuesIn(real_cases()), CaseName());

class LoneCells : public ::testing::TestWithParam<LawCase> {};

TEST_P(LoneCells, ArePredictedLikeRowsWithNothingElse) {
  const Fixture fixture(GetParam(), 1);
  const Rows& rows = fixture.rows;
  const Stats stats(fixture.family(), rows, 0, 5);
  for (std::size_t j = 0; j < rows.width; ++j) {
    if (is_missing(rows[6][j])) continue;
    std::vector<double> lone(rows.width, kMissing);
    lone[j] = rows[6][j];
    EXPECT_NEAR(fixture.family().cell_log_predictive(stats.data(), j, lone[j]),
                stats.log_predictive(lone.data()), 1e-12)
        << "column " << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, LoneCells, ::testing::ValuesIn(missing_cases()), CaseName());

}  // namespace
}  // namespace coppice::test
