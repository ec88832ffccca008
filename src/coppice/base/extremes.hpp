// The first place of the smallest or largest of many numbers. Sixteen running extremes, because one is a
// chain of dependent comparisons.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>

namespace coppice {

namespace detail {
template <typename Before, typename Real>
std::size_t first_extreme(const Real* values, std::size_t n, Real neutral) {
  constexpr std::size_t kRunning = 16;
  const Before before;
  std::array<Real, kRunning> running;
  running.fill(neutral);
  std::size_t i = 0;
  for (; i + kRunning <= n; i += kRunning)
    for (std::size_t l = 0; l < kRunning; ++l)
      running[l] = before(values[i + l], running[l]) ? values[i + l] : running[l];
  Real extreme = neutral;
  for (const Real value : running) extreme = before(value, extreme) ? value : extreme;
  for (; i < n; ++i) extreme = before(values[i], extreme) ? values[i] : extreme;
  return static_cast<std::size_t>(std::find(values, values + n, extreme) - values);
}
}  // namespace detail

/// Without a number below infinity: the place of the first infinity.
template <typename Real>
std::size_t first_minimum(const Real* values, std::size_t n) {
  return detail::first_extreme<std::less<Real>>(values, n, std::numeric_limits<Real>::infinity());
}
/// Without a number above minus infinity: the place of the first of these.
template <typename Real>
std::size_t first_maximum(const Real* values, std::size_t n) {
  return detail::first_extreme<std::greater<Real>>(values, n, -std::numeric_limits<Real>::infinity());
}

}  // namespace coppice
