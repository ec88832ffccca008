// Rows are cut into as many parts whatever the number of threads, so that sums are added in one order.
#pragma once

#include <algorithm>
#include <cstddef>

namespace coppice::bnmc {

inline constexpr std::size_t kMostParts = 8;
inline constexpr std::size_t kLeastPart = 128;  // rows of a part

inline std::size_t parts_of(std::size_t rows) {
  return std::clamp<std::size_t>(rows / kLeastPart, 1, kMostParts);
}

}  // namespace coppice::bnmc
