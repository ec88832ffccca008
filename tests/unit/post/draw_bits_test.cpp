// Cells counted by bits against cells counted row by row: the same counts in the same order, so the same
// bits.
#include "coppice/post/draw_bits.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "coppice/shape/contingency.hpp"
#include "random_draws.hpp"

namespace coppice {
namespace {

std::vector<double> logs_of_counts(std::size_t rows) {
  std::vector<double> values(rows + 1, 0.0);
  for (std::size_t i = 2; i < values.size(); ++i)
    values[i] = static_cast<double>(i) * std::log(static_cast<double>(i));
  return values;
}

TEST(DrawBits, SumsAreThoseOfCountedRows) {
  for (const std::size_t rows : {1U, 63U, 64U, 65U, 130U, 515U}) {
    const std::vector<double> values = logs_of_counts(rows);
    std::size_t compared = 0;
    for (Label clusters = 1; clusters <= 16; ++clusters) {
      const LabelMatrix matrix = random_draws(17, rows, 20, clusters, 0.3);
      const DrawSet draws(matrix, matrix.draws());
      const DrawBits bits(draws);
      PairCounter counter;
      for (std::size_t a = 0; a < draws.size(); ++a) {
        const std::vector<std::uint64_t> own = bits.bits_of(draws[a], draws.clusters(a));
        for (std::size_t b = 0; b < draws.size(); ++b) {
          if (!bits.suits(own, b)) continue;
          ++compared;
          ASSERT_EQ(bits.sum_over_cells(own, b, values),
                    counter.sum_over_cells(draws[a], draws.clusters(a), draws[b], draws.clusters(b), values));
        }
      }
    }
    EXPECT_GE(compared, rows == 1 ? 1U : 100U) << rows << " rows";
  }
}

TEST(DrawBits, ManyClustersAreLeftToCounting) {
  const LabelMatrix matrix = random_draws(7, 200, 3, 40, 0.0);
  const DrawSet draws(matrix, matrix.draws());
  const DrawBits bits(draws);
  const Labels two = [] {
    Labels labels(200, 0);
    labels.back() = 1;
    return labels;
  }();
  ASSERT_EQ(draws.clusters(0), 40U);
  EXPECT_FALSE(bits.suits(bits.bits_of(two, 2), 0));
  EXPECT_FALSE(bits.suits(bits.bits_of(draws[0], 40), 0));
}

}  // namespace
}  // namespace coppice
