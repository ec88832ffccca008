// Cross-tabulation of two labelings, the common ground of scores and expected losses. Tables that fit a
// cache are counted densely; larger ones are counted by sorting, so that the memory never exceeds O(rows).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/shape/partition.hpp"

namespace coppice {

/// Renumbers any non-negative labels by first appearance into `out` (same size); returns the number of
/// clusters. Error{usage} for a negative label.
std::size_t compact_labels(std::span<const Label> labels, std::span<Label> out);

/// Counts pairs of labels, with scratch memory that is kept between calls.
class PairCounter {
 public:
  /// Calls visit(a, b, count) for every cell with count > 0, where a[i] < a_clusters and b[i] < b_clusters.
  template <typename Visit>
  void for_each_cell(std::span<const Label> a, std::size_t a_clusters, std::span<const Label> b,
                     std::size_t b_clusters, Visit visit) {
    const std::size_t cells = a_clusters * b_clusters;
    if (cells <= std::max<std::size_t>(kDenseCells, 4 * a.size())) {
      count_dense(a, b, b_clusters, cells);
      std::size_t cell = 0;
      for (std::size_t k = 0; k < a_clusters; ++k) {
        for (std::size_t l = 0; l < b_clusters; ++l, ++cell) {
          if (table_[cell] > 0) visit(k, l, static_cast<std::size_t>(table_[cell]));
        }
      }
      return;
    }
    sort_pairs(a, b);
    for (std::size_t first = 0; first < pairs_.size();) {
      std::size_t end = first + 1;
      while (end < pairs_.size() && pairs_[end] == pairs_[first]) ++end;
      visit(static_cast<std::size_t>(pairs_[first] >> 32),
            static_cast<std::size_t>(pairs_[first] & 0xffffffffU), end - first);
      first = end;
    }
  }

  /// Sum over the cells of value[count]; value[0] must be 0.
  double sum_over_cells(std::span<const Label> a, std::size_t a_clusters, std::span<const Label> b,
                        std::size_t b_clusters, std::span<const double> value);

  /// For each row the number of rows that share both its labels.
  void overlaps(std::span<const Label> a, std::size_t a_clusters, std::span<const Label> b,
                std::size_t b_clusters, std::span<std::uint32_t> out);

 private:
  static constexpr std::size_t kDenseCells = 1 << 16;

  void count_dense(std::span<const Label> a, std::span<const Label> b, std::size_t b_clusters,
                   std::size_t cells);
  void sort_pairs(std::span<const Label> a, std::span<const Label> b);

  std::vector<std::uint32_t> table_;
  std::vector<std::uint64_t> pairs_;
};

}  // namespace coppice
