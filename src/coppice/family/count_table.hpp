// log(offset + n) and log Gamma(offset + n) for whole n: what count families evaluate all the time, tabulated
// once. A table of a family goes to twice its rows, so that the union of any two clusters is in it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"

namespace coppice {

class CountTable {
 public:
  CountTable(double offset, std::size_t largest) : offset_(offset) {
    for (std::size_t n = 0; n <= largest; ++n) {
      logs_.push_back(std::log(offset + static_cast<double>(n)));
      log_gammas_.push_back(log_gamma(offset + static_cast<double>(n)));
    }
  }

  /// log(offset + n) for a whole number n >= 0.
  double log(double n) const {
    const auto index = static_cast<std::size_t>(n);
    return index < logs_.size() ? logs_[index] : std::log(offset_ + n);
  }
  /// log Gamma(offset + n).
  double log_gamma_at(double n) const {
    const auto index = static_cast<std::size_t>(n);
    return index < log_gammas_.size() ? log_gammas_[index] : log_gamma(offset_ + n);
  }

  /// The same for eight n at once, none of them beyond the table.
  Lanes log_gamma_at(Lanes n) const {
    const LanesInt index = __builtin_convertvector(n, LanesInt);
    Lanes found;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      found[lane] = log_gammas_[static_cast<std::size_t>(index[lane])];
    return found;
  }
  /// The same for a count that is not beyond the table.
  double log_gamma_of(std::uint64_t n) const { return log_gammas_[n]; }
  /// Those of n, n + 1, ... as far as the table goes.
  const double* log_gammas_from(double n) const { return log_gammas_.data() + static_cast<std::size_t>(n); }
  std::size_t size() const { return log_gammas_.size(); }

 private:
  double offset_;
  std::vector<double> logs_, log_gammas_;
};

/// Sum of counts[b] 2^b.
inline std::uint64_t weighted_sum(const std::uint64_t* counts, std::size_t planes) {
  std::uint64_t sum = 0;
  for (std::size_t plane = 0; plane < planes; ++plane) sum += counts[plane] << plane;
  return sum;
}

}  // namespace coppice
