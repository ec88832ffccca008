#include "coppice/prior/product_partition.hpp"

#include <cmath>

#include "coppice/base/math.hpp"

namespace coppice {

ProductPartition::ProductPartition(std::size_t rows) : log_join_(rows + 1), log_rising_(rows + 1) {
  log_join_[0] = kMinusInfinity;
  log_rising_[0] = 0.0;
  for (std::size_t n = 1; n <= rows; ++n) {
    log_join_[n] = std::log(static_cast<double>(n));
    log_rising_[n] = log_factorial(static_cast<double>(n - 1));
  }
}

void ProductPartition::set_discount(double sigma) {
  if (sigma == discount_) return;
  discount_ = sigma;
  // Neumaier's sum: a million terms lose no digits.
  double sum = 0.0;
  double lost = 0.0;
  for (std::size_t n = 1; n < log_join_.size(); ++n) {
    log_rising_[n] = sum + lost;
    const double term = std::log(static_cast<double>(n) - sigma);
    log_join_[n] = term;
    const double next = sum + term;
    lost += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
  }
}

double ProductPartition::log_rising(std::size_t n) const {
  return log_gamma(static_cast<double>(n) - discount_) - log_gamma(1.0 - discount_);
}

ProductPartition::LogKappas ProductPartition::log_kappas(std::span<const std::uint32_t> sizes) const {
  LogKappas sums;
  for (const std::uint32_t size : sizes) {
    if (size == 0) continue;
    sums.total += log_kappa(size);
    sums.rows += size;
  }
  return sums;
}

}  // namespace coppice
