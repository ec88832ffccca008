#include "coppice/post/coclustering.hpp"

#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "random_draws.hpp"

namespace coppice {
namespace {

std::uint32_t count_together(const LabelMatrix& draws, std::size_t i, std::size_t j) {
  std::uint32_t count = 0;
  for (std::size_t d = 0; d < draws.draws(); ++d) count += draws[d][i] == draws[d][j] ? 1 : 0;
  return count;
}

void expect_exact(const LabelMatrix& draws) {
  const std::size_t n = draws.rows;
  const auto counts = coclustering_counts(draws);
  const auto shares = coclustering(draws, 2);
  const auto packed = coclustering_packed(draws);
  ASSERT_EQ(counts.size(), n * n);
  ASSERT_EQ(packed.size(), n * (n - 1) / 2);
  const auto total = static_cast<double>(draws.draws());
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const std::uint32_t expected = count_together(draws, i, j);
      ASSERT_EQ(counts[i * n + j], expected) << i << " " << j;
      ASSERT_EQ(shares[i * n + j], expected / total) << i << " " << j;
      if (j > i) {
        ASSERT_EQ(packed[next], static_cast<float>(expected / total)) << i << " " << j;
        ++next;
      }
    }
  }
}

TEST(Coclustering, ExactForEverySizeAroundATile) {
  for (const std::size_t rows : {1U, 2U, 3U, 31U, 64U, 127U, 129U, 255U, 256U, 257U, 300U}) {
    expect_exact(random_draws(1, rows, 9, 5, 0.4));
  }
}

TEST(Coclustering, ExactAcrossTheFlushOfEightBitCounts) {
  for (const std::size_t draws : {254U, 255U, 256U, 511U, 600U})
    expect_exact(random_draws(2, 40, draws, 3, 0.3));
}

TEST(Coclustering, ExactForManyClustersAndHugeLabels) {
  expect_exact(random_draws(3, 700, 5, 600, 0.2));  // more than 256 clusters: 16-bit labels
  LabelMatrix mixed = random_draws(4, 600, 3, 500, 0.2);
  const LabelMatrix narrow = random_draws(5, 600, 4, 10, 0.2);
  for (std::size_t d = 0; d < narrow.draws(); ++d) mixed.push_back(narrow[d]);
  expect_exact(mixed);
  LabelMatrix huge = random_draws(6, 50, 6, 4, 0.2);
  for (Label& label : huge.values) label = label * 300000000;
  expect_exact(huge);
}

TEST(Coclustering, RefusesNoDrawsAndNegativeLabels) {
  EXPECT_THROW(coclustering(LabelMatrix{}), Error);
  LabelMatrix draws;
  draws.push_back(Labels{0, -1, 1});
  EXPECT_THROW(coclustering_counts(draws), Error);
}

}  // namespace
}  // namespace coppice
