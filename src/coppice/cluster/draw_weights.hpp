// Drawing an index from log weights, eight at a time.
#pragma once

#include <cmath>
#include <cstddef>

#include "coppice/base/lanes.hpp"

namespace coppice {

/// Turns `count` log weights (a multiple of kLanes, some may be minus infinity) into weights, in place, relative to
/// the largest of them and `also`; returns their total and sets `also` to its weight.
inline double exponentiate(double* log_weights, std::size_t count, double& also) {
  Lanes largest = broadcast(also);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Lanes value = load_lanes(log_weights + i);
    largest = value > largest ? value : largest;
  }
  const double top = maximum(largest);
  Lanes total{};
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Lanes value = load_lanes(log_weights + i) - top;
    // exp() stops at -708; an empty cluster must weigh nothing at all.
    const Lanes weight = value > -700.0 ? exp(value) : Lanes{};
    total += weight;
    store_lanes(log_weights + i, weight);
  }
  also = std::exp(also - top);
  double sum = 0.0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) sum += total[lane];
  return sum;
}

/// The index at which the running sum of weights passes `target`; `count` if it never does.
inline std::size_t pick(const double* weights, std::size_t count, double target) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    double chunk = 0.0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) chunk += weights[i + lane];
    if (target >= chunk) {
      target -= chunk;
      continue;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      target -= weights[i + lane];
      if (target < 0.0) return i + lane;
    }
    // Rounding left a sliver behind the last cluster of the chunk that has weight.
    for (std::size_t lane = kLanes; lane-- > 0;)
      if (weights[i + lane] > 0.0) return i + lane;
  }
  return count;
}

}  // namespace coppice
