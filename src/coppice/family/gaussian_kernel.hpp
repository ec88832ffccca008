// The inner loop of the Gaussian family: q = |L^-1 (y - m)|^2 for eight clusters at once, by forward
// substitution. A cluster's cache holds m, then column by column 1 / L_jj and L_ij for i > j, then the seven
// scalars below.
#pragma once

#include <cstddef>

#include "coppice/base/lanes.hpp"

namespace coppice::gaussian_kernel {

enum Scalar : std::size_t {
  constant,          // C(n+1) - C(n) - (1/2) log|Lambda|
  half_dof,          // (dof + n + 1) / 2
  ratio,             // k / (k + 1)
  constant_without,  // C(n) - C(n-1) - (1/2) log|Lambda|
  half_dof_without,  // (dof + n - 1) / 2
  ratio_without,     // k / (k - 1)
  scalars = 7,       // padded, so that a cache never ends inside a cache line
};

/// Fixed dimension: everything stays in registers.
template <std::size_t D>
inline Lanes squared_distance(const double* row, const double* cache) {
  Lanes rest[D];
  for (std::size_t j = 0; j < D; ++j) rest[j] = row[j] - load_lanes(cache + j * kLanes);
  const double* factor = cache + D * kLanes;
  Lanes total{};
#pragma GCC unroll 16
  for (std::size_t j = 0; j < D; ++j) {
    const Lanes z = rest[j] * load_lanes(factor);
    factor += kLanes;
    total += z * z;
#pragma GCC unroll 16
    for (std::size_t i = j + 1; i < D; ++i) {
      rest[i] -= load_lanes(factor) * z;
      factor += kLanes;
    }
  }
  return total;
}

/// Any dimension up to the size of the buffer.
inline Lanes squared_distance(std::size_t d, const double* row, const double* cache, Lanes* rest) {
  for (std::size_t j = 0; j < d; ++j) rest[j] = row[j] - load_lanes(cache + j * kLanes);
  const double* factor = cache + d * kLanes;
  Lanes total{};
  for (std::size_t j = 0; j < d; ++j) {
    const Lanes z = rest[j] * load_lanes(factor);
    factor += kLanes;
    total += z * z;
    for (std::size_t i = j + 1; i < d; ++i) {
      rest[i] -= load_lanes(factor) * z;
      factor += kLanes;
    }
  }
  return total;
}

}  // namespace coppice::gaussian_kernel
