// What cells with learned hyper-parameters have in common: log-normal hyper-priors, the collapsed sum of log
// marginals over clusters (eight at a time), the hyper-prior of a Beta prior, and tables that a column shares
// with others or owns.
//
// A cell that learns has: hyper_names, hyper_size (0 if it does not learn), get_hyper, set_hyper,
// log_hyper_prior (the density of the numbers that get_hyper writes), draw_hyper_prior, and update_hyper, a
// slice update of every coordinate given the statistics of the clusters, whose likelihood counts to a power
// (1 but in tempered replicas; the hyper-prior is as it is). It may have hyper_slices, if an update does not
// make hyper_size slices, and has_hyper (whether these are its numbers), if it may have more than eight.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <span>
#include <utility>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/base/slice.hpp"

namespace coppice {

/// A number whose logarithm is normal with mean log(center), cut off below `least`.
struct LogNormal {
  double center = 1.0;
  double sd = 1.0;
  double least = 0.0;

  /// Of the number's logarithm, up to the constant.
  double log_kernel(double log_value) const {
    const double z = (log_value - std::log(center)) / sd;
    return -0.5 * z * z;
  }
  /// Of the number itself.
  double log_density(double value) const {
    if (value < least) return kMinusInfinity;
    return log_kernel(std::log(value)) - 0.5 * kLog2Pi - std::log(sd * value) - std::log(share_above());
  }
  double draw(Stream& stream) const {
    for (;;) {
      const double value = center * std::exp(sd * draw_normal(stream));
      if (value >= least) return value;
    }
  }
  /// One slice update of a positive value; `log_likelihood` is a function of it.
  template <typename LogLikelihood>
  double update(double value, LogLikelihood&& log_likelihood, Stream& stream) const {
    constexpr double kReach = 20.0;  // standard deviations: beyond them there is nothing
    const double low = std::max(std::log(center) - kReach * sd, least > 0.0 ? std::log(least) : -1e300);
    const auto log_density = [&](double log_value) {
      return log_kernel(log_value) + log_likelihood(std::exp(log_value));
    };
    const double high = std::log(center) + kReach * sd;
    return std::exp(draw_slice(stream, log_density, std::clamp(std::log(value), low, high), sd, low, high));
  }

 private:
  double share_above() const {
    if (least <= 0.0) return 1.0;
    return 0.5 * std::erfc((std::log(least) - std::log(center)) / (sd * std::numbers::sqrt2));
  }
};

/// Sum over clusters of term(statistics) - term(no statistics), eight clusters at a time; term takes an array
/// of the first `Count` statistics.
template <std::size_t Count, typename Term>
double sum_over_clusters(std::span<const double* const> clusters, Term&& term) {
  const Lanes zeros[Count] = {};
  const Lanes none = term(zeros);
  Lanes total{};
  for (std::size_t first = 0; first < clusters.size(); first += kLanes) {
    Lanes stats[Count] = {};
    for (std::size_t lane = 0; lane < std::min(kLanes, clusters.size() - first); ++lane)
      for (std::size_t i = 0; i < Count; ++i) stats[i][lane] = clusters[first + lane][i];
    total += term(stats) - none;
  }
  double sum = 0.0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) sum += total[lane];
  return sum;
}

/// The hyper-prior of a Beta(a, b) prior: a / (a + b) uniform, a + b log-normal.
struct BetaHyperPrior {
  LogNormal strength;

  double log_density(double a, double b) const {
    // (mean, strength) to (a, b) has the Jacobian 1 / strength.
    return strength.log_density(a + b) - std::log(a + b);
  }
  void draw(Stream& stream, double& a, double& b) const {
    const double mean = draw_uniform(stream);
    const double total = strength.draw(stream);
    a = mean * total;
    b = (1.0 - mean) * total;
  }
  /// The first two statistics are what is added to a and to b.
  void update(std::span<const double* const> clusters, Stream& stream, double power, double& a,
              double& b) const {
    const auto log_likelihood = [&](double mean, double total) {
      const double one = mean * total;
      const double other = (1.0 - mean) * total;
      return power * sum_over_clusters<2>(clusters, [&](const Lanes* stats) {
               return log_gamma(one + stats[0]) + log_gamma(other + stats[1]) -
                      log_gamma(total + (stats[0] + stats[1]));
             });
    };
    constexpr double kReach = 36.0;  // beyond these log odds there is no mass that arithmetic could see
    double total = a + b;
    const auto log_odds_density = [&](double log_odds) {
      const double mean = 1.0 / (1.0 + std::exp(-log_odds));
      return log_logistic(log_odds) + log_logistic(-log_odds) + log_likelihood(mean, total);
    };
    const double log_odds = draw_slice(stream, log_odds_density, std::clamp(std::log(a / b), -kReach, kReach),
                                       1.0, -kReach, kReach);
    const double mean = 1.0 / (1.0 + std::exp(-log_odds));
    total = strength.update(total, [&](double value) { return log_likelihood(mean, value); }, stream);
    a = mean * total;
    b = total / (1.0 + std::exp(log_odds));
  }
};

/// A table of constants: shared by all columns with the same hyper-parameters, or a column's own, which it
/// may change. Copies of a column share its table until one of them is changed.
template <typename Table>
class TableOf {
 public:
  TableOf() = default;
  TableOf(std::shared_ptr<const Table> shared) : shared_(std::move(shared)), table_(shared_.get()) {}
  explicit TableOf(std::unique_ptr<Table> own) : own_(std::move(own)), table_(own_.get()) {}

  const Table* operator->() const { return table_; }
  const Table& operator*() const { return *table_; }
  explicit operator bool() const { return table_ != nullptr; }
  /// To be changed; only of a table that is the column's own.
  Table& own() {
    if (own_.use_count() != 1) own_ = std::make_shared<Table>(*own_);
    // Whoever shared it in another thread has read it.
    std::atomic_thread_fence(std::memory_order_acquire);
    table_ = own_.get();
    return *own_;
  }

 private:
  std::shared_ptr<const Table> shared_;
  std::shared_ptr<Table> own_;
  const Table* table_ = nullptr;
};

}  // namespace coppice
