// Evenly spaced picks: what stands for too many draws or rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace coppice {

/// Index t of `count` evenly spaced picks out of `total` (count <= total).
inline std::size_t spaced(std::size_t t, std::size_t count, std::size_t total) {
  return (2 * t + 1) * total / (2 * count);
}

/// `most` evenly spaced ones of `total` members, or all of them.
inline std::vector<std::size_t> spaced_members(std::size_t total, std::size_t most) {
  std::vector<std::size_t> members(std::min(total, most));
  for (std::size_t t = 0; t < members.size(); ++t) members[t] = spaced(t, members.size(), total);
  return members;
}

}  // namespace coppice
