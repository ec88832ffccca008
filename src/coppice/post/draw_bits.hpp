// The clusters of draws as bits, one bit for each row: the rows that two clusters share are the bits that
// both have, and eight clusters of a draw are compared at a time. For few clusters this is several times
// faster than counting row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/post/draw_set.hpp"

namespace coppice {

class DrawBits {
 public:
  explicit DrawBits(const DrawSet& draws);

  /// The clusters of a partition, one after the other; empty if it has too many.
  std::vector<std::uint64_t> bits_of(std::span<const Label> labels, std::size_t clusters) const;
  /// Whether clusters of a partition with these bits are counted faster here.
  bool suits(std::span<const std::uint64_t> bits, std::size_t d) const;
  /// Sum over pairs of a cluster of the partition and one of draw d of value[rows that both have], the pairs
  /// in the order of PairCounter; value[0] must be 0.
  double sum_over_cells(std::span<const std::uint64_t> bits, std::size_t d,
                        std::span<const double> value) const;

 private:
  struct Entry {
    std::size_t begin = 0;     // in words_
    std::size_t clusters = 0;  // 0: too many
  };
  std::size_t size_;  // words for the rows of a cluster
  std::vector<Entry> entries_;
  /// For each draw and each eight of its clusters, word by word the eight side by side.
  std::vector<std::uint64_t, LaneAllocator<std::uint64_t>> words_;
};

}  // namespace coppice
