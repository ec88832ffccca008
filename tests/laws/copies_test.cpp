// Copies of a row against rows that are added one by one: statistics, marginals, and what a cluster of tied
// copies weighs.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "coppice/base/math.hpp"
#include "laws/law_case.hpp"
#include "support/copied_rows.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kCopyCounts[] = {3, 1, 7, 2};

class Copies : public ::testing::TestWithParam<LawCase> {};

TEST_P(Copies, AreRowsAddedOneByOne) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed, 12);
    const Family& family = fixture.family();
    Stats one_by_one(family);
    std::vector<double> stats(family.stats_size());
    family.clear(stats.data());
    for (std::size_t row = 0; row < fixture.rows.size(); ++row) {
      const std::size_t count = kCopyCounts[row % 4];
      const double before = one_by_one.log_marginal();
      const double with =
          family.log_marginal_with(stats.data(), fixture.rows[row], static_cast<double>(count));
      for (std::size_t copy = 0; copy < count; ++copy) one_by_one.add(fixture.rows[row]);
      family.add_copies(stats.data(), fixture.rows[row], static_cast<double>(count));
      const double after = one_by_one.log_marginal();
      ASSERT_EQ(count_of(stats.data()), count_of(one_by_one.data()));
      ASSERT_NEAR(family.log_marginal(stats.data()), after, relative(1e-9, after)) << "row " << row;
      ASSERT_NEAR(with, after, relative(1e-9, after)) << "row " << row;
      const double without =
          family.log_marginal_without(stats.data(), fixture.rows[row], static_cast<double>(count));
      ASSERT_NEAR(without, before, relative(1e-8, after)) << "row " << row;
    }
    // Out again from the first on, so that other rows are left.
    Stats left(family);
    for (std::size_t row = 1; row < fixture.rows.size(); ++row)
      for (std::size_t copy = 0; copy < kCopyCounts[row % 4]; ++copy) left.add(fixture.rows[row]);
    if (!family.remove_copies(stats.data(), fixture.rows[0], kCopyCounts[0])) continue;  // to be rebuilt
    EXPECT_NEAR(family.log_marginal(stats.data()), left.log_marginal(), relative(1e-8, left.log_marginal()));
  }
}

/// log of Gamma(N) m(rows repeated), from the plain family.
double log_weight_of_copies(const Family& plain, const CopiedRows& rows,
                            std::span<const std::uint32_t> members) {
  Stats stats(plain);
  for (const std::uint32_t copy : rows.copies_of(members)) stats.add(rows.repeated[copy]);
  return log_gamma(count_of(stats.data())) + stats.log_marginal();
}

TEST_P(Copies, WeighClustersAsIfRowsWereRepeated) {
  const Fixture fixture(GetParam(), 1, 9);
  const CopiedRows rows(fixture, kCopyCounts);
  Stats stats(rows.family);
  std::vector<std::uint32_t> members;
  for (std::uint32_t row = 0; row < rows.weighted.size(); ++row) {
    const double before = members.empty() ? 0.0 : log_weight_of_copies(fixture.family(), rows, members);
    const auto n = static_cast<double>(members.size());
    const double predictive = stats.log_predictive(rows.weighted[row]);
    stats.add(rows.weighted[row]);
    members.push_back(row);
    const double after = log_weight_of_copies(fixture.family(), rows, members);
    ASSERT_EQ(count_of(stats.data()), n + 1.0);
    ASSERT_NEAR(log_gamma(n + 1.0) + stats.log_marginal(), after, relative(1e-9, after));
    // Joining a cluster of n rows weighs n times the predictive; the first opens it.
    ASSERT_NEAR((n > 0.0 ? std::log(n) : 0.0) + predictive, after - before, relative(1e-8, after));
  }
}

TEST_P(Copies, BatchesAreTheSame) {
  const Fixture fixture(GetParam(), 2, 12);
  for (std::size_t row = 0; row < fixture.rows.size(); ++row)
    for (std::size_t j = 0; j < fixture.rows.width; ++j)
      if (is_missing(fixture.rows[row][j]) && fixture.family().must_fill(j))
        GTEST_SKIP() << "rows with weights are complete where columns depend on each other";
  const CopiedRows rows(fixture, kCopyCounts);
  constexpr std::size_t kClusters = 3;  // rows i, i + 3, ... and empty ones behind them
  std::vector<Stats> clusters(kLanes, Stats(rows.family));
  for (std::size_t row = 0; row < rows.weighted.size(); ++row)
    clusters[row % kClusters].add(rows.weighted[row]);
  AlignedVector cache(rows.family.cache_size() * kLanes);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    rows.family.fill_cache(clusters[lane].data(), cache.data() + lane);
  for (std::size_t row = 0; row < rows.weighted.size(); ++row) {
    alignas(64) double out[kLanes] = {};
    rows.family.add_log_predictive(rows.weighted[row], cache.data(), cache.size(), 1,
                                   {row % kClusters, clusters[row % kClusters].data()}, out);
    for (std::size_t cluster = 0; cluster < kClusters; ++cluster) {
      Stats others(rows.family);
      for (std::size_t other = cluster; other < rows.weighted.size(); other += kClusters)
        if (other != row) others.add(rows.weighted[other]);
      const double truth = others.log_predictive(rows.weighted[row]);
      ASSERT_NEAR(out[cluster], truth, relative(1e-7, truth)) << "row " << row << ", cluster " << cluster;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Copies, ::testing::ValuesIn(law_cases()),
                         [](const ::testing::TestParamInfo<LawCase>& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Learned, Copies, ::testing::ValuesIn(learned_cases()),
                         [](const ::testing::TestParamInfo<LawCase>& info) { return info.param.name; });

}  // namespace
}  // namespace coppice::test
