// Binomial columns with Beta(a, b) priors: x ~ Binomial(trials, p), p ~ Beta(a, b).
// log m = sum log C(trials, x) + log B(a + s, b + f) - log B(a, b), s successes and f failures in all.
#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/family/bernoulli.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

class BinomialCell {
 public:
  /// The tables, if there are any, reach to the trials of twice all rows.
  BinomialCell(double trials, double a, double b, std::shared_ptr<const BetaTables> tables)
      : trials_(trials), a_(a), b_(b), tables_(std::move(tables)) {}

  std::size_t stats_size() const { return 3; }  // successes, failures, sum of log binomial coefficients
  std::size_t theta_size() const { return 1; }
  std::size_t bank_size() const { return 4; }  // a + s, b + f, constant, constant with one cell taken out
  double origin() const { return 0.0; }

  void clear(double* stats) const { stats[0] = stats[1] = stats[2] = 0.0; }
  void add(double* stats, double x) const { change(stats, x, 1.0); }
  bool remove(double* stats, double x) const {
    change(stats, x, -1.0);
    return true;
  }
  void merge(double* stats, const double* other) const {
    for (std::size_t i = 0; i < 3; ++i) stats[i] += other[i];
  }
  double log_marginal(const double* stats) const {
    return stats[2] + log_beta_of(stats[0], stats[1]) - log_prior_;
  }
  double log_predictive(const double* stats, double x) const {
    const double a = a_ + stats[0];
    const double b = b_ + stats[1];
    return log_coefficient(x) + log_beta(a + x, b + trials_ - x) - log_beta(a, b);
  }
  void draw_theta(const double* stats, Stream& stream, double* theta) const {
    theta[0] = draw_beta(stream, a_ + stats[0], b_ + stats[1]);
  }
  double draw(const double* theta, Stream& stream) const {
    return static_cast<double>(draw_binomial(stream, static_cast<std::uint64_t>(trials_), theta[0]));
  }
  double log_likelihood(const double* theta, double x) const {
    const double successes = x > 0.0 ? x * std::log(theta[0]) : 0.0;
    const double failures = x < trials_ ? (trials_ - x) * std::log1p(-theta[0]) : 0.0;
    return log_coefficient(x) + successes + failures;
  }

  void fill_bank(const double* stats, double* bank) const {
    const double a = a_ + stats[0];
    const double b = b_ + stats[1];
    bank[0] = a;
    bank[kLanes] = b;
    bank[2 * kLanes] = -log_beta(a, b) - log_gamma(a + b + trials_);
    // log B(a, b) - log B(a - x, b - trials + x) is the predictive of an x that is taken out; this is the
    // part of it that does not depend on x.
    const double rest = a + b - trials_;
    bank[3 * kLanes] = rest > 0.0 ? log_beta(a, b) + log_gamma(rest) : 0.0;
  }
  Lanes lane_log_predictive(const double* bank, double x) const {
    return coppice::log_gamma(load_lanes(bank) + x) +
           coppice::log_gamma(load_lanes(bank + kLanes) + (trials_ - x)) + load_lanes(bank + 2 * kLanes) +
           log_coefficient(x);
  }
  double own_log_predictive(const double* bank, double x) const {
    return log_coefficient(x) + bank[3 * kLanes] - log_gamma(bank[0] - x) -
           log_gamma(bank[kLanes] - (trials_ - x));
  }

  std::size_t union_size() const { return 3; }  // successes, failures, sum of log binomial coefficients
  void fill_union(const double* stats, double* bank) const {
    for (std::size_t i = 0; i < 3; ++i) bank[i * kLanes] = stats[i];
  }
  Lanes lane_log_marginal(const double* one, const double* others) const {
    const Lanes successes = one[0] + load_lanes(others);
    const Lanes failures = one[kLanes] + load_lanes(others + kLanes);
    const Lanes coefficients = one[2 * kLanes] + load_lanes(others + 2 * kLanes);
    if (tables_ != nullptr)
      return coefficients + (tables_->ones.log_gamma_at(successes) + tables_->zeros.log_gamma_at(failures)) -
             tables_->total.log_gamma_at(successes + failures) - log_prior_;
    return coefficients + (coppice::log_gamma(a_ + successes) + coppice::log_gamma(b_ + failures)) -
           coppice::log_gamma((a_ + b_) + (successes + failures)) - log_prior_;
  }

  CellPredictive predictive(const double* stats) const {
    const double a = a_ + stats[0];
    const double b = b_ + stats[1];
    const double p = a / (a + b);
    return {trials_ * p, trials_ * p * (1.0 - p) * (a + b + trials_) / (a + b + 1.0), {}};
  }

 private:
  void change(double* stats, double x, double sign) const {
    stats[0] += sign * x;
    stats[1] += sign * (trials_ - x);
    stats[2] += sign * log_coefficient(x);
  }
  /// log B(a + successes, b + failures).
  double log_beta_of(double successes, double failures) const {
    if (tables_ == nullptr) return log_beta(a_ + successes, b_ + failures);
    return tables_->ones.log_gamma_at(successes) + tables_->zeros.log_gamma_at(failures) -
           tables_->total.log_gamma_at(successes + failures);
  }
  /// Log binomial coefficients of all x, as far as a table of them is small.
  static std::shared_ptr<const std::vector<double>> coefficients(double trials) {
    constexpr double kMostTrials = 1000.0;
    auto table = std::make_shared<std::vector<double>>();
    for (double x = 0.0; x <= trials && trials <= kMostTrials; ++x)
      table->push_back(log_factorial(trials) - log_factorial(x) - log_factorial(trials - x));
    return table;
  }
  double log_coefficient(double x) const {
    if (x >= 0.0 && x < static_cast<double>(coefficients_->size()))
      return (*coefficients_)[static_cast<std::size_t>(x)];
    return log_factorial(trials_) - log_factorial(x) - log_factorial(trials_ - x);
  }
  double trials_, a_, b_;
  std::shared_ptr<const std::vector<double>> coefficients_ = coefficients(trials_);
  double log_prior_ = log_beta(a_, b_);
  std::shared_ptr<const BetaTables> tables_;
};

FamilyEntry binomial_entry();

}  // namespace coppice
