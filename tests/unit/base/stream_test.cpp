// Named streams: the same name gives the same bits for ever, other names give unrelated ones.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "coppice/base/rng.hpp"
#include "support/monte_carlo.hpp"
#include "support/seeds.hpp"

namespace coppice {
namespace {

using test::test_seeds;

// Computed with a separate implementation of Philox4x64-10 that reproduces Random123's known answers. Runs on
// disk depend on these bits, so a change here breaks resume for every user.
TEST(Stream, BitsAreThoseOfPhiloxWithTheNameAsKeyAndCounter) {
  Stream stream({42, 3, 11}, Purpose::gibbs, 5);
  const std::vector<std::uint64_t> expected{0x73e429d8719b7720, 0xa297acbfc3bc19f8, 0xfb0c2815a1741d94,
                                            0x74aeb6711b4afd5e, 0x447ab5d48d229b75, 0x53597c18ce96da50,
                                            0x1a5d1e9c2f716647, 0xc5a0bfab103dd873};
  for (const std::uint64_t bits : expected) EXPECT_EQ(stream(), bits);
}

TEST(Stream, PurposesKeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(Purpose::initialize), 1);
  EXPECT_EQ(static_cast<int>(Purpose::gibbs), 2);
  EXPECT_EQ(static_cast<int>(Purpose::split_merge), 3);
  EXPECT_EQ(static_cast<int>(Purpose::concentration), 4);
  EXPECT_EQ(static_cast<int>(Purpose::prior_shape), 5);
  EXPECT_EQ(static_cast<int>(Purpose::prior_data), 6);
  EXPECT_EQ(static_cast<int>(Purpose::scan_order), 7);
  EXPECT_EQ(static_cast<int>(Purpose::test), 8);
}

TEST(Stream, SameNameGivesTheSameNumbersWhateverWasDrawnBetween) {
  Stream first({9, 1, 7}, Purpose::test, 3);
  std::vector<double> expected;
  for (int i = 0; i < 100; ++i) expected.push_back(draw_normal(first) + draw_gamma(first, 0.3));
  Stream other({9, 1, 7}, Purpose::test, 4);
  Stream again({9, 1, 7}, Purpose::test, 3);
  for (int i = 0; i < 100; ++i) {
    draw_normal(other);
    EXPECT_EQ(draw_normal(again) + draw_gamma(again, 0.3), expected[static_cast<std::size_t>(i)]);
  }
}

TEST(Stream, CopyGoesOnWhereTheOriginalStands) {
  Stream stream({1, 0, 0}, Purpose::test);
  stream();
  Stream copy = stream;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(copy(), stream());
}

TEST(Stream, EveryPartOfTheNameMatters) {
  std::vector<Stream> streams;
  for (std::uint64_t a = 0; a < 3; ++a)
    for (std::uint64_t b = 0; b < 3; ++b)
      for (std::uint64_t c = 0; c < 3; ++c)
        for (std::uint64_t d = 0; d < 3; ++d)
          for (const Purpose purpose : {Purpose::initialize, Purpose::gibbs, Purpose::test})
            streams.emplace_back(StreamName{a, b, c}, purpose, d);
  std::set<std::uint64_t> seen;
  for (Stream& stream : streams)
    for (int i = 0; i < 20; ++i) seen.insert(stream());
  EXPECT_EQ(seen.size(), streams.size() * 20);
}

/// Correlation of two streams' uniforms, in units of its standard error.
double correlation(Stream a, Stream b, std::size_t count) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += (draw_uniform(a) - 0.5) * (draw_uniform(b) - 0.5);
  return 12.0 * sum / std::sqrt(static_cast<double>(count));
}

TEST(Stream, NeighboringNamesAreUncorrelated) {
  for (const std::uint64_t seed : test_seeds()) {
    const Stream base({seed, 0, 0}, Purpose::test, 0);
    const std::vector<Stream> neighbors{
        Stream({seed + 1, 0, 0}, Purpose::test, 0), Stream({seed, 1, 0}, Purpose::test, 0),
        Stream({seed, 0, 1}, Purpose::test, 0), Stream({seed, 0, 0}, Purpose::test, 1),
        Stream({seed, 0, 0}, Purpose::scan_order, 0)};
    for (const Stream& other : neighbors)
      EXPECT_LT(std::abs(correlation(base, other, 100000)), test::kStandardErrors);
  }
}

TEST(Stream, FirstNumbersOfManyStreamsAreUniformAndUncorrelated) {
  // Sites are used a few numbers each, so it is across sites that the numbers must be good.
  for (const std::uint64_t seed : test_seeds()) {
    std::vector<double> values;
    for (std::uint64_t site = 0; site < 100000; ++site) {
      Stream stream({seed, 0, 0}, Purpose::test, site);
      values.push_back(draw_uniform(stream));
    }
    double sum = 0.0;
    for (std::size_t i = 1; i < values.size(); ++i) sum += (values[i] - 0.5) * (values[i - 1] - 0.5);
    EXPECT_LT(std::abs(12.0 * sum / std::sqrt(static_cast<double>(values.size() - 1))),
              test::kStandardErrors);
    test::expect_distribution(values, [](double x) { return x; });
  }
}

TEST(Stream, EveryBitIsFair) {
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream({seed, 0, 0}, Purpose::test, 77);
    const int count = 100000;
    std::vector<double> ones(64, 0.0);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t bits = stream();
      for (std::size_t bit = 0; bit < 64; ++bit) ones[bit] += static_cast<double>((bits >> bit) & 1u);
    }
    for (const double sum : ones)
      EXPECT_LT(std::abs(sum - 0.5 * count),
                test::kStandardErrors * 0.5 * std::sqrt(static_cast<double>(count)));
  }
}

TEST(Stream, UnitIntervalIsOpen) {
  EXPECT_GT(to_unit_interval(0), 0.0);
  EXPECT_LT(to_unit_interval(Stream::max()), 1.0);
  EXPECT_EQ(to_unit_interval(0) + to_unit_interval(Stream::max()), 1.0);
}

}  // namespace
}  // namespace coppice
