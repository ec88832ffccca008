// The best pair while pairs are merged, against looking at all pairs every time; with and without kept
// scores, with many equal scores, with compaction at any time.
#include "coppice/cluster/best_pairs.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "coppice/base/rng.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

/// Items with identities; the score of two is a hash of them, rounded so that many are equal.
class HashedScores final : public PairScorer {
 public:
  HashedScores(std::size_t items, std::uint64_t seed, std::uint64_t values)
      : seed_(seed), values_(values), identity_(items) {
    std::iota(identity_.begin(), identity_.end(), std::uint64_t{1});
    next_ = items + 1;
  }
  double score(std::uint64_t a, std::uint64_t b) const {
    const std::uint64_t low = std::min(a, b);
    const std::uint64_t high = std::max(a, b);
    Stream stream({seed_, low, high}, Purpose::test);
    return static_cast<double>(draw_index(stream, values_));
  }
  void scores(std::size_t position, std::size_t begin, std::size_t end, double* out) override {
    for (std::size_t p = begin; p < end; ++p)
      out[p - begin] = p == position ? 1e9 : score(identity_[position], identity_[p]);
  }
  void merge(std::size_t first) { identity_[first] = next_++; }
  void keep(const std::vector<std::size_t>& kept) {
    std::vector<std::uint64_t> identity;
    for (const std::size_t p : kept) identity.push_back(identity_[p]);
    identity_ = identity;
  }
  std::uint64_t identity(std::size_t position) const { return identity_[position]; }

 private:
  std::uint64_t seed_, values_;
  std::vector<std::uint64_t> identity_;
  std::uint64_t next_ = 0;
};

BestPairs::Pair best_of_all(const BestPairs& pairs, const HashedScores& scores) {
  BestPairs::Pair best{0, 0, -1.0};
  for (std::size_t a = 0; a < pairs.positions(); ++a)
    for (std::size_t b = a + 1; b < pairs.positions(); ++b) {
      if (!pairs.is_alive(a) || !pairs.is_alive(b)) continue;
      const double score = scores.score(scores.identity(a), scores.identity(b));
      if (score > best.score) best = {a, b, score};
    }
  return best;
}

class BestPairsTest : public ::testing::TestWithParam<std::tuple<std::size_t, std::uint64_t, bool>> {};

TEST_P(BestPairsTest, IsTheBestOfAllPairsAfterEveryMerge) {
  const auto [items, values, keeps] = GetParam();
  for (const std::uint64_t seed : test_seeds()) {
    HashedScores scores(items, seed, values);
    BestPairs pairs(items, keeps);
    while (!pairs.is_started()) pairs.start_next(scores);
    Stream stream({seed, items, values}, Purpose::test);
    while (pairs.live() > 1) {
      const BestPairs::Pair found = pairs.best();
      const BestPairs::Pair expected = best_of_all(pairs, scores);
      ASSERT_EQ(found.score, expected.score);
      ASSERT_EQ(found.first, expected.first);
      ASSERT_EQ(found.second, expected.second);
      scores.merge(found.first);
      pairs.merge(found.first, found.second, scores);
      if (draw_index(stream, 4) == 0) scores.keep(pairs.compact());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, BestPairsTest,
                         ::testing::Combine(::testing::Values<std::size_t>(1, 2, 3, 17, 60),
                                            ::testing::Values<std::uint64_t>(1, 3, 1'000'000),
                                            ::testing::Bool()));

}  // namespace
}  // namespace coppice::test
