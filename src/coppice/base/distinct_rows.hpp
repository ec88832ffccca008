// Some of the rows, drawn uniformly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_set>
#include <vector>

#include "coppice/base/rng.hpp"

namespace coppice {

/// `count` distinct numbers below `rows` in ascending order; count <= rows (Floyd's algorithm).
inline std::vector<std::uint64_t> draw_distinct_rows(std::uint64_t rows, std::uint64_t count,
                                                     Stream& stream) {
  std::vector<std::uint64_t> chosen(count);
  if (count == rows) {
    std::iota(chosen.begin(), chosen.end(), std::uint64_t{0});
    return chosen;
  }
  std::unordered_set<std::uint64_t> taken;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t last = rows - count + i;
    const std::uint64_t row = draw_index(stream, last + 1);
    chosen[i] = taken.contains(row) ? last : row;
    taken.insert(chosen[i]);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace coppice
