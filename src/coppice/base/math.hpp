// Scalar mathematics in log space.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>

namespace coppice {

/// Parts of a mixture below this weight are left out.
inline constexpr double kNegligiblePart = 1e-12;

inline constexpr double kLogPi = 1.1447298858494002;
inline constexpr double kLog2Pi = 1.8378770664093454;
inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// log Gamma(x) for x > 0; unlike std::lgamma it writes no global.
double log_gamma(double x);
/// log of the multivariate gamma function of the given dimension, x > (dimension - 1) / 2.
double log_gamma_multivariate(std::size_t dimension, double x);
double log_beta(double a, double b);
double log_factorial(double n);

/// log(exp(a) + exp(b)); either may be minus infinity.
inline double log_add_exp(double a, double b) {
  const double larger = a > b ? a : b;
  if (larger == kMinusInfinity) return larger;
  return larger + std::log1p(std::exp((a > b ? b : a) - larger));
}

/// log of 1 / (1 + exp(-x)), for any x.
inline double log_logistic(double x) {
  return x > 0.0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x));
}
/// log(1 + exp(x)).
inline double log1p_exp(double x) { return -log_logistic(-x); }

/// log of the sum of exp(values); minus infinity for an empty span.
double log_sum_exp(std::span<const double> values);

}  // namespace coppice
