#include "coppice/prior/hdp.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"

namespace coppice {

std::uint64_t draw_table_count(Stream& stream, std::uint64_t customers, double mass) {
  if (customers == 0) return 0;
  std::uint64_t tables = 1;
  constexpr std::uint64_t kOneByOne = 8;
  std::uint64_t i = 1;
  for (; i < customers && i < kOneByOne; ++i)
    tables += draw_uniform(stream) * (mass + static_cast<double>(i)) < mass;
  while (i < customers) {
    const std::uint64_t end = std::min(customers, 2 * i);
    const double highest = mass / (mass + static_cast<double>(i));
    if (highest > 0.25) {
      for (; i < end; ++i) tables += draw_uniform(stream) * (mass + static_cast<double>(i)) < mass;
      continue;
    }
    const double log_fail = std::log1p(-highest);
    if (log_fail == 0.0) return tables;  // no success in any number of customers there can be
    double next = static_cast<double>(i);
    while (true) {
      next += std::floor(std::log(draw_uniform(stream)) / log_fail);
      if (!(next < static_cast<double>(end))) break;
      tables += draw_uniform(stream) * highest * (mass + next) < mass;
      next += 1.0;
    }
    i = end;
  }
  return tables;
}

double log_rising(double a, double n) {
  if (n <= 0.0) return 0.0;
  if (n <= 16.0) {
    double product = 1.0;
    double sum = 0.0;
    for (double i = 0.0; i < n; i += 1.0) {
      product *= a + i;
      if (product > 1e150 || product < 1e-150) {
        sum += std::log(product);
        product = 1.0;
      }
    }
    return sum + std::log(product);
  }
  if (a <= 0.0) return kMinusInfinity;
  // For large a the difference of the two would cancel; Stirling's series does it in closed form.
  if (a > 1e8) return n * std::log(a) + (a + n - 0.5) * std::log1p(n / a) - n;
  return log_gamma(a + n) - log_gamma(a);
}

double log_dirichlet_multinomial(std::span<const double> counts, std::span<const double> base, double scale,
                                 double total_concentration) {
  double total = 0.0;
  double n = 0.0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0.0) continue;
    n += counts[k];
    total += log_rising(scale * base[k], counts[k]);
  }
  return total - log_rising(total_concentration, n);
}

}  // namespace coppice
