// Topics: rows that are blends of known topics get their shares, whatever the threads; a saved pass resumes.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "coppice/model/bnmc/topics.hpp"

namespace coppice::bnmc {
namespace {

/// Three topics of six words each; every row is a blend of two of them, by the share of the first.
struct Blends {
  SparseRows rows;
  std::vector<std::size_t> first, second;
  std::vector<double> share;

  explicit Blends(std::size_t count) {
    Stream stream({4, 0, 0}, Purpose::test);
    rows.columns = 18;
    for (std::size_t row = 0; row < count; ++row) {
      first.push_back(row % 3);
      second.push_back((row + 1) % 3);
      share.push_back(draw_uniform(stream));
      for (std::uint32_t word = 0; word < 18; ++word) {
        const double rate = 20.0 * (word / 6 == first[row]    ? share[row]
                                    : word / 6 == second[row] ? 1.0 - share[row]
                                                              : 0.0);
        const auto times = static_cast<double>(draw_poisson(stream, rate + 1e-9));
        if (times == 0.0) continue;
        rows.column.push_back(word);
        rows.value.push_back(times);
      }
      rows.start.push_back(rows.column.size());
    }
  }
};

Topics learned(const Blends& blends, std::size_t passes, std::size_t threads) {
  Topics topics(3, 18);
  Stream stream({5, 0, 0}, Purpose::test);
  topics.start(blends.rows, stream);
  for (std::size_t pass = 0; pass < passes; ++pass) topics.pass(blends.rows, threads);
  return topics;
}

TEST(BnmcTopics, SharesAreThoseOfTheBlend) {
  const Blends blends(600);
  const Topics topics = learned(blends, 60, 1);
  // Which topic is which: by the row that has one alone.
  std::vector<double> shares(3);
  std::vector<std::size_t> place(3);
  for (std::uint32_t topic = 0; topic < 3; ++topic) {
    const std::vector<std::uint32_t> words{6 * topic, 6 * topic + 1, 6 * topic + 2};
    topics.shares(words, std::vector<double>{30.0, 30.0, 30.0}, shares);
    place[topic] = static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
    EXPECT_GT(shares[place[topic]], 0.95);
  }
  double error = 0.0;
  for (std::size_t row = 0; row < 600; ++row) {
    topics.shares(blends.rows.columns_of(row), blends.rows.values_of(row), shares);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-12);
    error += std::abs(shares[place[blends.first[row]]] - blends.share[row]) / 600.0;
  }
  // A share of about 120 words has a standard deviation of 0.04.
  EXPECT_LT(error, 0.06);
}

TEST(BnmcTopics, ThreadsAndStoresChangeNoBit) {
  const Blends blends(500);
  const auto bytes = [](const Topics& topics, bool with_rows) {
    ByteWriter out;
    topics.put(out, with_rows);
    return out.take();
  };
  const std::string whole = bytes(learned(blends, 12, 1), true);
  EXPECT_EQ(bytes(learned(blends, 12, 3), true), whole);
  const std::string half = bytes(learned(blends, 7, 1), true);
  Topics other(3, 18);
  ByteReader in(half);
  other.get(in, true, 500);
  for (int pass = 7; pass < 12; ++pass) other.pass(blends.rows, 2);
  EXPECT_EQ(bytes(other, true), whole);
}

TEST(BnmcTopics, EmptyRowsHaveEqualShares) {
  const Topics topics = learned(Blends(90), 5, 1);
  std::vector<double> shares(3);
  topics.shares({}, {}, shares);
  for (const double share : shares) EXPECT_NEAR(share, 1.0 / 3.0, 1e-12);
}

}  // namespace
}  // namespace coppice::bnmc
