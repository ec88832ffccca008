// Cholesky factors as packed lower triangles, column by column: L_00, L_10, ..., L_11, L_21, ...
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace coppice {

/// 2 sum log L_jj of a packed factor; products keep the number of logarithms low.
inline double log_determinant(const double* factor, std::size_t d) {
  double total = 0.0;
  double product = 1.0;
  for (std::size_t j = 0; j < d; ++j) {
    product *= *factor;
    factor += d - j;
    if (j % 8 == 7 || !(product > 1e-100 && product < 1e100)) {
      total += std::log(product);
      product = 1.0;
    }
  }
  return 2.0 * (total + std::log(product));
}

/// L L' + sign v v' for a packed factor, in place; v is overwritten. False: not (safely) positive definite.
inline bool rank_one(double* factor, double* v, std::size_t d, double sign) {
  double ratio = 1.0;  // of the determinants, after to before: the share of the digits that survives
  for (std::size_t j = 0; j < d; ++j) {
    const double diagonal = factor[0];
    const double square = diagonal * diagonal + sign * v[j] * v[j];
    if (!(square > 1e-16 * diagonal * diagonal)) return false;
    const double updated = std::sqrt(square);
    const double c = updated / diagonal;
    ratio *= c * c;
    const double s = v[j] / diagonal;
    const double inverse_c = 1.0 / c;
    factor[0] = updated;
    for (std::size_t i = j + 1; i < d; ++i) {
      const double entry = (factor[i - j] + sign * s * v[i]) * inverse_c;
      factor[i - j] = entry;
      v[i] = c * v[i] - s * entry;
    }
    factor += d - j;
  }
  return ratio > 1e-6;
}

/// Cholesky factor of a packed positive definite matrix, in place. `least` is the factor of a matrix that it
/// is at least as large as: then so are its pivots, and what rounding takes from them is given back.
inline void factorize(double* packed, std::size_t d, const double* least) {
  for (std::size_t j = 0; j < d; ++j) {
    const double diagonal = std::sqrt(std::max(packed[0], *least * *least));
    least += d - j;
    packed[0] = diagonal;
    for (std::size_t i = 1; i < d - j; ++i) packed[i] /= diagonal;
    double* next = packed + (d - j);
    for (std::size_t column = 1; column < d - j; ++column) {
      for (std::size_t i = column; i < d - j; ++i) *next++ -= packed[i] * packed[column];
    }
    packed += d - j;
  }
}

/// Squared length of L^-1 v; v is overwritten.
inline double squared_distance(const double* factor, double* v, std::size_t d) {
  double total = 0.0;
  for (std::size_t j = 0; j < d; ++j) {
    const double z = v[j] / *factor++;
    total += z * z;
    for (std::size_t i = j + 1; i < d; ++i) v[i] -= *factor++ * z;
  }
  return total;
}

}  // namespace coppice
