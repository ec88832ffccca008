// Which sweeps of a chain are draws.
#pragma once

#include <cstddef>

namespace coppice {

/// Every `thin`-th sweep after the warm-up is a draw.
struct RunLength {
  std::size_t warmup = 0;
  std::size_t draws = 0;
  std::size_t thin = 1;

  std::size_t sweeps() const { return warmup + draws * thin; }
  /// The sweep of a draw, which counts from 0.
  std::size_t sweep_of(std::size_t draw) const { return warmup + (draw + 1) * thin; }
  bool operator==(const RunLength&) const = default;
};

}  // namespace coppice
