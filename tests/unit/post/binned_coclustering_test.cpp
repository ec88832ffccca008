#include "coppice/post/binned_coclustering.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/post/coclustering.hpp"
#include "random_draws.hpp"

namespace coppice {
namespace {

/// The mean over pairs of different rows, from the matrix of rows.
double mean_between(const std::vector<double>& together, std::span<const std::uint32_t> bin, std::size_t a,
                    std::size_t b) {
  double sum = 0.0;
  double pairs = 0.0;
  for (std::size_t i = 0; i < bin.size(); ++i)
    for (std::size_t j = 0; j < bin.size(); ++j)
      if (i != j && bin[i] == a && bin[j] == b) {
        sum += together[i * bin.size() + j];
        pairs += 1.0;
      }
  return pairs == 0.0 ? 1.0 : sum / pairs;
}

TEST(BinnedCoclustering, IsTheMeanOverPairsOfRows) {
  const LabelMatrix draws = random_draws(7, 37, 60, 5, 0.3);
  const std::vector<double> together = coclustering(draws);
  std::vector<std::uint32_t> bin;
  for (std::uint32_t row = 0; row < 37; ++row)
    bin.push_back(row == 20 ? 6 : row * row % 6);  // bin 6 has one row
  for (const std::size_t threads : {1U, 3U}) {
    const std::vector<double> binned = binned_coclustering(draws, bin, 7, threads);
    ASSERT_EQ(binned.size(), 49U);
    for (std::size_t a = 0; a < 7; ++a) {
      // Squares modulo 6 leave two bins empty: those have no pairs and are not asked for.
      if (std::count(bin.begin(), bin.end(), a) == 0) continue;
      for (std::size_t b = 0; b < 7; ++b) {
        if (std::count(bin.begin(), bin.end(), b) == 0) continue;
        EXPECT_NEAR(binned[a * 7 + b], mean_between(together, bin, a, b), 1e-12) << a << " " << b;
      }
    }
  }
}

TEST(BinnedCoclustering, OfSingleRowsIsTheMatrixItself) {
  const LabelMatrix draws = random_draws(8, 23, 41, 4, 0.5);
  std::vector<std::uint32_t> bin(23);
  for (std::uint32_t row = 0; row < 23; ++row) bin[row] = 22 - row;
  const std::vector<double> together = coclustering(draws);
  const std::vector<double> binned = binned_coclustering(draws, bin, 23);
  for (std::size_t i = 0; i < 23; ++i)
    for (std::size_t j = 0; j < 23; ++j)
      EXPECT_DOUBLE_EQ(binned[bin[i] * 23 + bin[j]], together[i * 23 + j]) << i << " " << j;
}

TEST(BinnedCoclustering, RefusesWhatDoesNotFit) {
  const LabelMatrix draws = random_draws(9, 4, 3, 2, 0.1);
  const std::vector<std::uint32_t> three{0, 0, 1};
  const std::vector<std::uint32_t> outside{0, 0, 1, 2};
  EXPECT_THROW(binned_coclustering(draws, three, 2), Error);
  EXPECT_THROW(binned_coclustering(draws, outside, 2), Error);
  EXPECT_THROW(binned_coclustering(LabelMatrix{4, {}}, outside, 3), Error);
}

}  // namespace
}  // namespace coppice
