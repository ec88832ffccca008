// Restricted Gibbs scans: the probability a scan reports is the product of the conditionals it drew from, a
// forced scan reports the same number for the same path, and both directions of a move see the same launch.
#include "coppice/cluster/split_merge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "coppice/prior/crp.hpp"
#include "laws/law_case.hpp"
#include "support/monte_carlo.hpp"

namespace coppice::test {
namespace {

using Sides = std::vector<std::uint8_t>;

Sides sides_of(const RestrictedPair& pair) { return {pair.sides().begin(), pair.sides().end()}; }

/// Log weight of one group of the pair: kappa times marginal of its rows, from scratch.
double log_weight(const Fixture& fixture, const Crp& crp, std::uint32_t anchor,
                  const std::vector<std::uint32_t>& items, const Sides& sides, std::uint8_t group) {
  Stats stats(fixture.family());
  stats.add(fixture.rows[anchor]);
  std::size_t size = 1;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (sides[i] == group) {
      stats.add(fixture.rows[items[i]]);
      ++size;
    }
  return crp.log_kappa(size) + stats.log_marginal();
}

TEST(RestrictedPair, ReportedProbabilityIsTheProductOfConditionals) {
  const std::vector<std::uint32_t> items{0, 2, 3, 5, 7, 8};
  for (const LawCase& law_case : law_cases()) {
    SCOPED_TRACE(law_case.name);
    const Fixture fixture(law_case, 1, 9);
    const Crp crp(1.0, 9);
    RestrictedPair pair(fixture.family(), fixture.rows, crp.log_join_table());
    for (std::uint64_t repeat = 0; repeat < 20; ++repeat) {
      Stream stream({1, 0, repeat}, Purpose::test);
      if (repeat % 2 == 0)
        pair.launch_random(1, 4, items, stream);
      else
        pair.launch_sequential(1, 4, items, stream);
      Sides sides = sides_of(pair);
      const double reported = pair.scan(stream);
      const Sides after = sides_of(pair);
      double expected = 0.0;
      for (std::size_t i = 0; i < items.size(); ++i) {
        double weight[2];
        for (std::uint8_t side = 0; side < 2; ++side) {
          sides[i] = side;
          weight[side] =
              log_weight(fixture, crp, 1, items, sides, 0) + log_weight(fixture, crp, 4, items, sides, 1);
        }
        sides[i] = after[i];
        expected += -std::log1p(std::exp(weight[1 - after[i]] - weight[after[i]]));
      }
      ASSERT_NEAR(reported, expected, relative(1e-8, expected));
      for (std::uint8_t group = 0; group < 2; ++group) {
        const double whole = log_weight(fixture, crp, group == 0 ? 1 : 4, items, after, group);
        EXPECT_NEAR(crp.log_kappa(pair.size(group)) + pair.log_marginal(group), whole, relative(1e-8, whole));
      }
    }
  }
}

TEST(RestrictedPair, ForcedScanReportsTheSameNumber) {
  const std::vector<std::uint32_t> items{1, 2, 3, 4, 6, 7, 9};
  const Fixture fixture(law_cases().front(), 2, 10);
  const Crp crp(1.0, 10);
  RestrictedPair pair(fixture.family(), fixture.rows, crp.log_join_table());
  for (std::uint64_t repeat = 0; repeat < 50; ++repeat) {
    Stream first({2, 0, repeat}, Purpose::test);
    pair.launch_random(0, 5, items, first);
    const Sides launch = sides_of(pair);
    const double free = pair.scan(first);
    const Sides path = sides_of(pair);
    Stream second({2, 0, repeat}, Purpose::test);
    pair.launch_random(0, 5, items, second);
    ASSERT_EQ(sides_of(pair), launch);
    EXPECT_NEAR(pair.scan_forced(path), free, 1e-9);
    EXPECT_EQ(sides_of(pair), path);
  }
}

// Where the scan ends early, the answer and the work are those of a whole one.
TEST(RestrictedPair, ForcedScanEndsWhereTheAnswerIsNo) {
  const std::vector<std::uint32_t> items{1, 2, 3, 4, 6, 7, 9};
  const Fixture fixture(law_cases().front(), 2, 10);
  const Crp crp(1.0, 10);
  RestrictedPair pair(fixture.family(), fixture.rows, crp.log_join_table());
  std::size_t accepted = 0;
  for (std::uint64_t repeat = 0; repeat < 200; ++repeat) {
    Stream stream({4, 0, repeat}, Purpose::test);
    Sides wanted;
    for (std::size_t i = 0; i < items.size(); ++i) wanted.push_back(draw_uniform(stream) < 0.5 ? 0 : 1);
    const double log_bound = 8.0 * draw_uniform(stream);
    const double log_uniform = std::log(draw_uniform(stream));
    const Stream before_launch = stream;
    pair.launch_random(0, 5, items, stream);
    Work work = pair.work();
    const bool expected = log_uniform < log_bound + pair.scan_forced(wanted);
    const Work whole = pair.work() - work;
    stream = before_launch;
    pair.launch_random(0, 5, items, stream);
    work = pair.work();
    EXPECT_EQ(pair.accepts_forced(wanted, log_bound, log_uniform), expected);
    EXPECT_EQ(pair.work() - work, whole);
    accepted += expected ? 1 : 0;
  }
  EXPECT_GT(accepted, 20U);
  EXPECT_LT(accepted, 180U);
}

TEST(RestrictedPair, RandomLaunchIsFair) {
  // More than 64 items, so that more than one word of bits is used.
  std::vector<std::uint32_t> items;
  for (std::uint32_t i = 2; i < 152; ++i) items.push_back(i);
  const Fixture fixture(law_cases().front(), 3, 152);
  const Crp crp(1.0, 152);
  RestrictedPair pair(fixture.family(), fixture.rows, crp.log_join_table());
  std::vector<RunningMean> ones(items.size());
  RunningMean neighbors;
  for (std::uint64_t repeat = 0; repeat < 2000; ++repeat) {
    Stream stream({3, 0, repeat}, Purpose::test);
    pair.launch_random(0, 1, items, stream);
    for (std::size_t i = 0; i < items.size(); ++i) ones[i].add(pair.sides()[i]);
    neighbors.add(pair.sides()[63] == pair.sides()[64] ? 1.0 : 0.0);
  }
  for (const RunningMean& one : ones) expect_mean(one, 0.5);
  expect_mean(neighbors, 0.5);
}

TEST(RestrictedPair, SequentialLaunchDrawsItsConditionals) {
  const std::vector<std::uint32_t> items{1, 3, 4};
  const Fixture fixture(law_cases().front(), 4, 5);
  const Crp crp(1.0, 5);
  RestrictedPair pair(fixture.family(), fixture.rows, crp.log_join_table());
  std::vector<double> probabilities;
  for (unsigned code = 0; code < 8; ++code) {
    double log_probability = 0.0;
    Sides sides;
    std::vector<std::uint32_t> so_far;
    for (std::size_t i = 0; i < 3; ++i) {
      so_far.push_back(items[i]);
      sides.push_back(0);
      double weight[2];
      for (std::uint8_t side = 0; side < 2; ++side) {
        sides[i] = side;
        weight[side] =
            log_weight(fixture, crp, 0, so_far, sides, 0) + log_weight(fixture, crp, 2, so_far, sides, 1);
      }
      const auto chosen = static_cast<std::uint8_t>(code >> i & 1);
      sides[i] = chosen;
      log_probability -= std::log1p(std::exp(weight[1 - chosen] - weight[chosen]));
    }
    probabilities.push_back(std::exp(log_probability));
  }
  std::vector<double> counts(8, 0.0);
  for (std::uint64_t repeat = 0; repeat < 50'000; ++repeat) {
    Stream stream({4, 0, repeat}, Purpose::test);
    pair.launch_sequential(0, 2, items, stream);
    counts[pair.sides()[0] + 2U * pair.sides()[1] + 4U * pair.sides()[2]] += 1.0;
  }
  expect_frequencies(counts, probabilities);
}

TEST(SplitMerge, OneRowIsLeftAlone) {
  const Fixture fixture({"one", "gaussian-diagonal", {{Kind::real}}}, 5, 1);
  const Crp crp(1.0, 1);
  Clusters clusters(fixture.family(), fixture.rows, crp.log_join_table());
  clusters.assign(Labels{0});
  SplitMerge move(fixture.family(), fixture.rows, crp, {});
  Stream stream({5, 0, 0}, Purpose::test);
  move.step(clusters, clusters.rows(), stream);
  EXPECT_EQ(clusters.clusters(), 1u);
  EXPECT_EQ(move.splits().proposed + move.merges().proposed, 0u);
}

}  // namespace
}  // namespace coppice::test
