// log(offset + n) and log Gamma(offset + n) for whole n: what count families evaluate all the time, tabulated
// once. A table of a family goes to twice its rows, so that the union of any two clusters is in it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/hyper.hpp"

namespace coppice {

class CountTable {
 public:
  CountTable(double offset, std::size_t largest) : offset_(offset) {
    for (std::size_t n = 0; n <= largest; ++n) {
      logs_.push_back(std::log(offset + static_cast<double>(n)));
      log_gammas_.push_back(log_gamma(offset + static_cast<double>(n)));
    }
  }

  /// The same table for another offset, by the recurrence log Gamma(x + 1) = log Gamma(x) + log x: quick, and
  /// within 1e-13 of what the constructor finds.
  void refill(double offset) {
    constexpr std::size_t kRestart = 512;  // so that rounding does not pile up
    offset_ = offset;
    const std::size_t size = logs_.size();
    Lanes next = offset + Lanes{0, 1, 2, 3, 4, 5, 6, 7};
    for (std::size_t n = 0; n < size; n += kLanes, next += 8.0) {
      const Lanes found = coppice::log(next);
      if (n + kLanes <= size)
        store_lanes(logs_.data() + n, found);
      else
        for (std::size_t lane = 0; n + lane < size; ++lane) logs_[n + lane] = found[lane];
    }
    constexpr std::size_t kSums = 4;  // side by side, so that additions need not wait for each other
    double sums[kSums];
    for (std::size_t first = 0; first < size; first += kSums * kRestart) {
      const std::size_t used = std::min(kSums, (size - first + kRestart - 1) / kRestart);
      for (std::size_t k = 0; k < used; ++k)
        sums[k] = log_gamma(offset + static_cast<double>(first + k * kRestart));
      for (std::size_t i = 0; i < kRestart; ++i)
        for (std::size_t k = 0; k < used; ++k) {
          const std::size_t n = first + k * kRestart + i;
          if (n >= size) break;
          log_gammas_[n] = sums[k];
          sums[k] += logs_[n];
        }
    }
  }
  /// From now on counts may be beyond the table.
  void allow_beyond() { may_be_beyond_ = true; }
  bool may_be_beyond() const { return may_be_beyond_; }

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

  /// The same for eight n at once, none of them beyond the table unless that was allowed.
  Lanes log_gamma_at(Lanes n) const {
    if (may_be_beyond_) {
      Lanes found;
      for (std::size_t lane = 0; lane < kLanes; ++lane) found[lane] = log_gamma_at(n[lane]);
      return found;
    }
    const LanesInt index = __builtin_convertvector(n, LanesInt);
    Lanes found;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      found[lane] = log_gammas_[static_cast<std::size_t>(index[lane])];
    return found;
  }
  /// The same for a count that is not beyond the table unless that was allowed.
  double log_gamma_of(std::uint64_t n) const {
    return may_be_beyond_ ? log_gamma_at(static_cast<double>(n)) : log_gammas_[n];
  }
  /// Those of n, n + 1, ... as far as the table goes.
  const double* log_gammas_from(double n) const { return log_gammas_.data() + static_cast<std::size_t>(n); }
  std::size_t size() const { return log_gammas_.size(); }

 private:
  double offset_;
  bool may_be_beyond_ = false;
  std::vector<double> logs_, log_gammas_;
};

/// A column's own table of a learned offset: its size is limited, since chains have copies and change them.
inline TableOf<CountTable> own_count_table(double offset, std::size_t largest, std::size_t most = 16384) {
  auto table = std::make_unique<CountTable>(offset, std::min(largest, most));
  if (largest > most) table->allow_beyond();
  return TableOf<CountTable>(std::move(table));
}

/// Sum of counts[b] 2^b.
inline std::uint64_t weighted_sum(const std::uint64_t* counts, std::size_t planes) {
  std::uint64_t sum = 0;
  for (std::size_t plane = 0; plane < planes; ++plane) sum += counts[plane] << plane;
  return sum;
}

}  // namespace coppice
