// Eight doubles at a time: the type in which loops over clusters are written, with exp, log and log-gamma for
// it; and sixteen floats, for products that need few digits. GCC's and clang's vector extension lowers it to
// whatever the target has, so there are no intrinsics here. Accuracy: exp and log within 2 ulp on the stated
// ranges, log_gamma within 1e-14 relative or absolute.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace coppice {

inline constexpr std::size_t kLanes = 8;
using Lanes = double __attribute__((vector_size(64)));
using LanesInt = std::int64_t __attribute__((vector_size(64)));

inline constexpr std::size_t kFloatLanes = 16;
using FloatLanes = float __attribute__((vector_size(64)));
using FloatLanesInt = std::int32_t __attribute__((vector_size(64)));

inline Lanes load_lanes(const double* from) {
  Lanes value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline void store_lanes(double* to, Lanes value) { std::memcpy(to, &value, sizeof value); }
inline Lanes broadcast(double value) { return value - Lanes{}; }

inline FloatLanes load_lanes(const float* from) {
  FloatLanes value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline void store_lanes(float* to, FloatLanes value) { std::memcpy(to, &value, sizeof value); }

inline Lanes absolute(Lanes x) { return x < 0.0 ? -x : x; }
inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }
inline Lanes root(Lanes x) {
  for (std::size_t i = 0; i < kLanes; ++i) x[i] = std::sqrt(x[i]);
  return x;
}
inline bool any(LanesInt condition) {
  std::int64_t found = 0;
  for (std::size_t i = 0; i < kLanes; ++i) found |= condition[i];
  return found != 0;
}
inline bool any(FloatLanesInt condition) {
  std::int32_t found = 0;
  for (std::size_t i = 0; i < kFloatLanes; ++i) found |= condition[i];
  return found != 0;
}

namespace detail {
inline constexpr double kRoundMagic =
    0x1.8p52;  // adding it leaves the nearest integer in the low mantissa bits
inline constexpr std::int64_t kRoundMagicBits = 0x4338000000000000;
}  // namespace detail

/// exp(x) for x <= 709; below -708 the result is 0 up to 1e-308.
inline Lanes exp(Lanes x) {
  x = x < -708.0 ? broadcast(-708.0) : x;
  const Lanes shifted = x * 0x1.71547652b82fep0 + detail::kRoundMagic;
  const Lanes n = shifted - detail::kRoundMagic;
  const Lanes r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
  Lanes p = r * (1.0 / 6227020800.0) + (1.0 / 479001600.0);
  p = p * r + (1.0 / 39916800.0);
  p = p * r + (1.0 / 3628800.0);
  p = p * r + (1.0 / 362880.0);
  p = p * r + (1.0 / 40320.0);
  p = p * r + (1.0 / 5040.0);
  p = p * r + (1.0 / 720.0);
  p = p * r + (1.0 / 120.0);
  p = p * r + (1.0 / 24.0);
  p = p * r + (1.0 / 6.0);
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const LanesInt exponent = ((LanesInt)shifted - detail::kRoundMagicBits + 1023) << 52;
  return p * (Lanes)exponent;
}

/// log(x) for positive normal x.
inline Lanes log(Lanes x) {
  constexpr std::int64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
  const LanesInt exponent = ((LanesInt)x - kSqrtHalfBits) >> 52;
  const Lanes mantissa = (Lanes)((LanesInt)x - (exponent << 52));  // in [sqrt(1/2), sqrt(2))
  const Lanes n = (Lanes)(exponent + detail::kRoundMagicBits) - detail::kRoundMagic;
  const Lanes f = (mantissa - 1.0) / (mantissa + 1.0);
  const Lanes s = f * f;
  Lanes p = s * (2.0 / 21.0) + (2.0 / 19.0);
  p = p * s + (2.0 / 17.0);
  p = p * s + (2.0 / 15.0);
  p = p * s + (2.0 / 13.0);
  p = p * s + (2.0 / 11.0);
  p = p * s + (2.0 / 9.0);
  p = p * s + (2.0 / 7.0);
  p = p * s + (2.0 / 5.0);
  p = p * s + (2.0 / 3.0);
  return n * 0x1.62e42fefa38p-1 + (2.0 * f + (f * s * p + n * 0x1.ef35793c7673p-45));
}

/// log Gamma(x) for 1e-30 <= x <= 1e15.
inline Lanes log_gamma(Lanes x) {
  // Below 8 the recurrence raises x to 8 or more, paid for with the log of one product.
  const LanesInt small = x < 8.0;
  const Lanes product =
      (x * (x + 1.0)) * ((x + 2.0) * (x + 3.0)) * (((x + 4.0) * (x + 5.0)) * ((x + 6.0) * (x + 7.0)));
  const Lanes shifted = small ? x + 8.0 : x;
  const Lanes inverse = 1.0 / shifted;
  const Lanes s = inverse * inverse;
  Lanes p = s * (-3617.0 / 122400.0) + (1.0 / 156.0);
  p = p * s + (-691.0 / 360360.0);
  p = p * s + (1.0 / 1188.0);
  p = p * s + (-1.0 / 1680.0);
  p = p * s + (1.0 / 1260.0);
  p = p * s + (-1.0 / 360.0);
  p = p * s + (1.0 / 12.0);
  const Lanes stirling = (shifted - 0.5) * log(shifted) - shifted + 0.91893853320467274178 + p * inverse;
  return stirling - (small ? log(small ? product : broadcast(1.0)) : Lanes{});
}

/// log(exp(a) + exp(b)) for finite values.
inline Lanes log_add_exp(Lanes a, Lanes b) {
  const LanesInt first = a > b;
  const Lanes larger = first ? a : b;
  const Lanes smaller = first ? b : a;
  return larger + log(1.0 + exp(smaller - larger));
}

/// Largest of the eight values.
inline double maximum(Lanes x) {
  Lanes other = __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
  x = x > other ? x : other;
  other = __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
  x = x > other ? x : other;
  return x[0] > x[1] ? x[0] : x[1];
}

/// Sum of the eight values.
inline double horizontal_sum(Lanes x) {
  x += __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
  x += __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
  return x[0] + x[1];
}

/// Each value with all values before it added: {x0, x0 + x1, ...}.
inline Lanes running_sum(Lanes x) {
  constexpr Lanes kZero{};
  x += __builtin_shufflevector(kZero, x, 0, 8, 9, 10, 11, 12, 13, 14);
  x += __builtin_shufflevector(kZero, x, 0, 1, 8, 9, 10, 11, 12, 13);
  x += __builtin_shufflevector(kZero, x, 0, 1, 2, 3, 8, 9, 10, 11);
  return x;
}

/// Sum of products of two rows whose length is a multiple of eight.
inline double dot(const double* a, const double* b, std::size_t padded) {
  Lanes sum{};
  for (std::size_t i = 0; i < padded; i += kLanes) sum += load_lanes(a + i) * load_lanes(b + i);
  return horizontal_sum(sum);
}

/// How many of the eight values are at most the limit.
inline std::size_t count_at_most(Lanes x, double limit) {
  LanesInt found = x <= limit;  // -1 where true
  found += __builtin_shufflevector(found, found, 4, 5, 6, 7, 0, 1, 2, 3);
  found += __builtin_shufflevector(found, found, 2, 3, 0, 1, 6, 7, 4, 5);
  return static_cast<std::size_t>(-(found[0] + found[1]));
}

}  // namespace coppice
