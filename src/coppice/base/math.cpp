#include "coppice/base/math.hpp"

#include <math.h>

#include <algorithm>

namespace coppice {

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double log_gamma_multivariate(std::size_t dimension, double x) {
  const auto d = static_cast<double>(dimension);
  double total = d * (d - 1.0) / 4.0 * kLogPi;
  for (std::size_t j = 0; j < dimension; ++j) total += log_gamma(x - static_cast<double>(j) / 2.0);
  return total;
}

double log_beta(double a, double b) { return log_gamma(a) + log_gamma(b) - log_gamma(a + b); }

double log_factorial(double n) { return log_gamma(n + 1.0); }

double log_sum_exp(std::span<const double> values) {
  double largest = kMinusInfinity;
  for (const double value : values) largest = std::max(largest, value);
  if (largest == kMinusInfinity) return largest;
  double total = 0.0;
  for (const double value : values) total += std::exp(value - largest);
  return largest + std::log(total);
}

}  // namespace coppice
