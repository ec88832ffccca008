// Log weights, eight at a time: their sum, and drawing an index.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "coppice/base/lanes.hpp"

namespace coppice {

/// Sum of exp(values[i] - log_largest).
struct RelativeSum {
  double log_largest;
  double sum;
};

/// What exp() would round to a denormal is zero.
inline Lanes exp_or_zero(Lanes x) { return x > -700.0 ? exp(x) : Lanes{}; }

/// `count` is a multiple of kLanes; values of minus infinity are allowed. If there are no others, the sum is
/// 1. What is summed goes to take(i, eight of them).
template <typename Take>
RelativeSum relative_sum(const double* values, std::size_t count, Take&& take) {
  Lanes largest = load_lanes(values);
  for (std::size_t i = kLanes; i < count; i += kLanes) largest = larger(largest, load_lanes(values + i));
  const double top = maximum(largest);
  if (top == -std::numeric_limits<double>::infinity()) return {top, 1.0};
  Lanes total{};
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Lanes term = exp_or_zero(load_lanes(values + i) - top);
    take(i, term);
    total += term;
  }
  return {top, horizontal_sum(total)};
}
inline RelativeSum relative_sum(const double* values, std::size_t count) {
  return relative_sum(values, count, [](std::size_t, Lanes) {});
}

/// The values become what is summed, unless all are minus infinity.
inline RelativeSum exponentiate(double* values, std::size_t count) {
  return relative_sum(values, count, [&](std::size_t i, Lanes term) { store_lanes(values + i, term); });
}

/// log of the sum of exp(values[i]), of such values.
inline double log_sum_exp_lanes(const double* values, std::size_t count) {
  const RelativeSum sum = relative_sum(values, count);
  return sum.log_largest + std::log(sum.sum);
}

/// Draws index i with probability proportional to exp(log_weights[i]) from one uniform number in (0, 1).
/// `count` is a multiple of kLanes; weights of minus infinity are allowed, but not all of them. Overwrites
/// the weights.
inline std::size_t draw_from_log_weights(double* log_weights, std::size_t count, double uniform) {
  Lanes largest = load_lanes(log_weights);
  for (std::size_t i = kLanes; i < count; i += kLanes) {
    const Lanes value = load_lanes(log_weights + i);
    largest = value > largest ? value : largest;
  }
  const double top = maximum(largest);
  double total = 0.0;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Lanes value = load_lanes(log_weights + i) - top;
    // exp() stops at -708; what is impossible must weigh nothing at all.
    const Lanes running = running_sum(exp_or_zero(value));
    store_lanes(log_weights + i, running);
    total += running[kLanes - 1];
  }
  double target = uniform * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Lanes running = load_lanes(log_weights + i);
    const double sum = running[kLanes - 1];
    if (sum > 0.0) last = i;
    if (target < sum) return i + count_at_most(running, target);
    target -= sum;
  }
  // Rounding carried the target past the end: the last index that has weight.
  const Lanes running = load_lanes(log_weights + last);
  std::size_t lane = kLanes - 1;
  while (lane > 0 && running[lane] == running[lane - 1]) --lane;
  return last + lane;
}

}  // namespace coppice
