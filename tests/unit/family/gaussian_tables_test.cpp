// The tables of the Gaussian family end before clusters of millions of rows, whose constants are computed:
// the evidence must not change there.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/family/gaussian.hpp"

namespace coppice::test {
namespace {

/// Statistics of 2^doublings times two rows.
std::vector<double> doubled(const Gaussian& family, int doublings) {
  std::vector<double> stats(family.stats_size());
  family.clear(stats.data());
  const std::vector<double> rows = {0.3, -1.2, -0.4, 0.9};
  family.add(stats.data(), rows.data());
  family.add(stats.data(), rows.data() + 2);
  for (int i = 0; i < doublings; ++i) {
    const std::vector<double> same = stats;
    family.merge(stats.data(), same.data());
  }
  return stats;
}

void expect_the_same(const Gaussian& tabled, const Gaussian& computed) {
  for (const int doublings : {3, 15, 16, 17, 20}) {
    const std::vector<double> stats = doubled(tabled, doublings);
    const double evidence = tabled.log_marginal(stats.data());
    EXPECT_NEAR(computed.log_marginal(stats.data()), evidence, 1e-9 * std::abs(evidence)) << doublings;
  }
}

TEST(GaussianTables, EndWithoutAStep) {
  const std::vector<double> scale = {1.0, 0.2, 0.2, 0.7};
  expect_the_same(Gaussian({0.1, -0.1}, 0.3, 5.0, scale, 4'000'000),
                  Gaussian({0.1, -0.1}, 0.3, 5.0, scale, 4));
}

TEST(GaussianTables, OfLearnedPriorsEndWithoutAStep) {
  expect_the_same(Gaussian({0.1, -0.1}, {1.0, 1.3}, 4'000'000), Gaussian({0.1, -0.1}, {1.0, 1.3}, 4));
}

TEST(GaussianTables, OfIndependentCellsEndWithoutAStep) {
  const auto tabled = Gaussian({0.1, -0.1}, {1.0, 1.3}, 100'000).with_independent_cells();
  const auto computed = Gaussian({0.1, -0.1}, {1.0, 1.3}, 4'000'000).with_independent_cells();
  ASSERT_EQ(tabled->union_size(), computed->union_size());
  const std::vector<double> rows = {0.3, -1.2, -0.4, 0.9};
  std::vector<double> stats(tabled->stats_size());
  tabled->clear(stats.data());
  AlignedVector cache(tabled->union_size() * kLanes, 0.0);
  for (std::size_t slot = 0; slot < kLanes; ++slot) {  // a row more in each of them
    tabled->add(stats.data(), rows.data() + 2 * (slot % 2));
    tabled->fill_union(stats.data(), cache.data() + slot);
    EXPECT_NEAR(computed->log_marginal(stats.data()), tabled->log_marginal(stats.data()), 1e-9);
  }
  AlignedVector expected(kLanes, 0.0), found(kLanes, 0.0);
  tabled->add_log_marginals(cache.data(), cache.data(), cache.size(), 1, expected.data());
  computed->add_log_marginals(cache.data(), cache.data(), cache.size(), 1, found.data());
  for (std::size_t slot = 0; slot < kLanes; ++slot) EXPECT_NEAR(found[slot], expected[slot], 1e-9) << slot;
}

}  // namespace
}  // namespace coppice::test
