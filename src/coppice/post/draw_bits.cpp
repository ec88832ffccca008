#include "coppice/post/draw_bits.hpp"

#include <algorithm>
#include <array>
#include <bit>

#if defined(__AVX512VPOPCNTDQ__)
#include <immintrin.h>
#endif

namespace coppice {
namespace {

constexpr std::size_t kBits = 64;
constexpr std::size_t kClustersAtOnce = 8;
constexpr std::size_t kMostClusters = 2 * kClustersAtOnce;  // so that bits take at most half of the labels
// Clusters of a partition times eights of a draw: with more of them rows are counted faster one by one.
#if defined(__AVX512VPOPCNTDQ__)
constexpr std::size_t kMostPairs = 24;
#else
constexpr std::size_t kMostPairs = 6;
#endif

using Counts = std::array<std::uint64_t, kClustersAtOnce>;

/// How many of the rows in `own` are in each of eight clusters, whose words stand side by side.
Counts shared_rows(const std::uint64_t* own, const std::uint64_t* words, std::size_t size) {
  Counts counts{};
#if defined(__AVX512VPOPCNTDQ__)  // compilers find this instruction only in loops that they then turn around
  __m512i sums = _mm512_setzero_si512();
  for (std::size_t word = 0; word < size; ++word)
    sums = _mm512_add_epi64(
        sums, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_load_si512(words + word * kClustersAtOnce),
                                                   _mm512_set1_epi64(static_cast<long long>(own[word])))));
  _mm512_storeu_si512(counts.data(), sums);
#else
  for (std::size_t word = 0; word < size; ++word)
    for (std::size_t lane = 0; lane < kClustersAtOnce; ++lane)
      counts[lane] +=
          static_cast<std::uint64_t>(std::popcount(own[word] & words[word * kClustersAtOnce + lane]));
#endif
  return counts;
}

std::size_t eights_of(std::size_t clusters) { return (clusters + kClustersAtOnce - 1) / kClustersAtOnce; }

}  // namespace

DrawBits::DrawBits(const DrawSet& draws) : size_((draws.rows() + kBits - 1) / kBits), entries_(draws.size()) {
  std::size_t total = 0;
  for (std::size_t d = 0; d < draws.size(); ++d) {
    if (draws.clusters(d) > kMostClusters) continue;
    entries_[d] = {total, draws.clusters(d)};
    total += eights_of(draws.clusters(d)) * size_ * kClustersAtOnce;
  }
  words_.resize(total);
  for (std::size_t d = 0; d < draws.size(); ++d) {
    if (entries_[d].clusters == 0) continue;
    std::uint64_t* words = words_.data() + entries_[d].begin;
    const std::span<const Label> labels = draws[d];
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto cluster = static_cast<std::size_t>(labels[i]);
      words[(cluster / kClustersAtOnce * size_ + i / kBits) * kClustersAtOnce + cluster % kClustersAtOnce] |=
          std::uint64_t{1} << i % kBits;
    }
  }
}

std::vector<std::uint64_t> DrawBits::bits_of(std::span<const Label> labels, std::size_t clusters) const {
  if (clusters > kMostPairs) return {};
  std::vector<std::uint64_t> bits(clusters * size_, 0);
  for (std::size_t i = 0; i < labels.size(); ++i)
    bits[static_cast<std::size_t>(labels[i]) * size_ + i / kBits] |= std::uint64_t{1} << i % kBits;
  return bits;
}

bool DrawBits::suits(std::span<const std::uint64_t> bits, std::size_t d) const {
  return !bits.empty() && entries_[d].clusters != 0 &&
         bits.size() / size_ * eights_of(entries_[d].clusters) <= kMostPairs;
}

double DrawBits::sum_over_cells(std::span<const std::uint64_t> bits, std::size_t d,
                                std::span<const double> value) const {
  double sum = 0.0;
  for (const std::uint64_t* own = bits.data(); own != bits.data() + bits.size(); own += size_) {
    const std::uint64_t* words = words_.data() + entries_[d].begin;
    for (std::size_t first = 0; first < entries_[d].clusters; first += kClustersAtOnce) {
      const Counts counts = shared_rows(own, words, size_);
      words += size_ * kClustersAtOnce;
      // Also of the clusters that there are not: adding value[0] is faster than to ask how many there are.
      for (const std::uint64_t count : counts) sum += value[count];
    }
  }
  return sum;
}

}  // namespace coppice
