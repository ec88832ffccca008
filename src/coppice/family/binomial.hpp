// Binomial columns with Beta(a, b) priors: x ~ Binomial(trials, p), p ~ Beta(a, b).
// log m = sum log C(trials, x) + log B(a + s, b + f) - log B(a, b), s successes and f failures in all.
// Learned: a / (a + b) ~ U(0, 1), log(a + b) ~ N(log 2, 1.5^2).
#pragma once

#include <bit>
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
  BinomialCell(double trials, double a, double b, TableOf<BetaTables> tables, bool learns = false)
      : trials_(trials), a_(a), b_(b), learns_(learns), tables_(std::move(tables)) {
    if (!tables_) return;
    std::vector<double> coefficients;
    for (double x = 0.0; x <= trials_; ++x)
      coefficients.push_back(log_factorial(trials_) - log_factorial(x) - log_factorial(trials_ - x));
    coefficients_ = std::make_shared<const std::vector<double>>(std::move(coefficients));
  }

  std::size_t stats_size() const { return 3; }  // successes, failures, sum of log binomial coefficients
  std::size_t theta_size() const { return 1; }
  std::size_t cache_size() const { return 4; }  // s, f, constant, constant with one cell taken out
  double origin() const { return 0.0; }

  void clear(double* stats) const { stats[0] = stats[1] = stats[2] = 0.0; }
  void add(double* stats, double x, double copies = 1.0) const { change(stats, x, copies); }
  bool remove(double* stats, double x, double copies = 1.0) const {
    change(stats, x, -copies);
    return true;
  }
  void merge(double* stats, const double* other) const {
    for (std::size_t i = 0; i < 3; ++i) stats[i] += other[i];
  }
  double log_marginal(const double* stats) const {
    return stats[2] + log_beta_at(stats[0], stats[1]) - log_prior_;
  }
  double log_predictive(const double* stats, double x) const {
    if (x > trials_) return kMinusInfinity;
    return log_coefficient(x) + log_beta_at(stats[0] + x, stats[1] + trials_ - x) -
           log_beta_at(stats[0], stats[1]);
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
  std::size_t likelihood_size() const { return 2; }  // log odds, log of the probability of failures alone
  void fill_likelihood(const double* theta, double* values) const {
    const double log_failure = bounded_log(std::log1p(-theta[0]));
    values[0] = bounded_log(std::log(theta[0])) - log_failure;
    values[1] = trials_ * log_failure;
  }
  Lanes lane_log_likelihood(const double* values, Lanes x) const { return x * values[0] + values[1]; }

  void fill_cache(const double* stats, double* cache) const {
    const double cells = stats[0] + stats[1];
    const double log_here = log_beta_at(stats[0], stats[1]);
    cache[0] = stats[0];
    cache[kLanes] = stats[1];
    cache[2 * kLanes] = -log_here - log_gamma_total(cells + trials_);
    // log B(a, b) - log B(a - x, b - trials + x) is the predictive of an x that is taken out; this is the
    // part of it that does not depend on x.
    cache[3 * kLanes] = cells >= trials_ ? log_here + log_gamma_total(cells - trials_) : 0.0;
  }
  Lanes lane_log_predictive(const double* cache, double x) const {
    if (x > trials_) return Lanes{} + kMinusInfinity;  // rows that come later may have any count
    const Lanes successes = load_lanes(cache) + x;
    const Lanes failures = load_lanes(cache + kLanes) + (trials_ - x);
    const Lanes rest = load_lanes(cache + 2 * kLanes) + log_coefficient(x);
    if (tables_ && maximum(successes + failures) < static_cast<double>(tables_->total.size()))
      return tables_->ones.log_gamma_at(successes) + tables_->zeros.log_gamma_at(failures) + rest;
    return coppice::log_gamma(a_ + successes) + coppice::log_gamma(b_ + failures) + rest;
  }
  double own_log_predictive(const double* cache, double x) const {
    const double successes = cache[0] - x;
    const double failures = cache[kLanes] - (trials_ - x);
    const double rest = log_coefficient(x) + cache[3 * kLanes];
    if (tables_) return rest - tables_->ones.log_gamma_at(successes) - tables_->zeros.log_gamma_at(failures);
    return rest - log_gamma(a_ + successes) - log_gamma(b_ + failures);
  }

  /// Values as binary numbers: plane b holds the bits of weight 2^b.
  std::size_t planes(double) const {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(trials_)));
  }
  bool is_on(double x, std::size_t plane) const {
    return ((static_cast<std::uint64_t>(x) >> plane) & 1U) != 0;
  }
  double alone_part(double x) const { return log_coefficient(x); }
  double log_marginal_of_counts(const std::uint64_t* counts, std::size_t planes, std::uint64_t cells) const {
    const std::uint64_t successes = weighted_sum(counts, planes);
    const std::uint64_t failures = cells * static_cast<std::uint64_t>(trials_) - successes;
    if (tables_)
      return tables_->ones.log_gamma_of(successes) + tables_->zeros.log_gamma_of(failures) -
             tables_->total.log_gamma_of(successes + failures) - log_prior_;
    return log_beta(a_ + static_cast<double>(successes), b_ + static_cast<double>(failures)) - log_prior_;
  }

  std::size_t union_size() const { return 3; }  // successes, failures, sum of log binomial coefficients
  void fill_union(const double* stats, double* cache) const {
    for (std::size_t i = 0; i < 3; ++i) cache[i * kLanes] = stats[i];
  }
  Lanes lane_log_marginal(const double* one, const double* others) const {
    const Lanes successes = one[0] + load_lanes(others);
    const Lanes failures = one[kLanes] + load_lanes(others + kLanes);
    const Lanes coefficients = one[2 * kLanes] + load_lanes(others + 2 * kLanes);
    if (tables_)
      return coefficients + (tables_->ones.log_gamma_at(successes) + tables_->zeros.log_gamma_at(failures)) -
             tables_->total.log_gamma_at(successes + failures) - log_prior_;
    return coefficients + (coppice::log_gamma(a_ + successes) + coppice::log_gamma(b_ + failures)) -
           coppice::log_gamma((a_ + b_) + (successes + failures)) - log_prior_;
  }

  bool has_tables() const { return static_cast<bool>(tables_); }
  /// The bits of lane_log_marginal for these cells and no others; needs tables.
  double log_marginal_of_one(const double* stats) const {
    return stats[2] + (tables_->ones.log_gamma_at(stats[0]) + tables_->zeros.log_gamma_at(stats[1])) -
           tables_->total.log_gamma_at(stats[0] + stats[1]) - log_prior_;
  }
  /// The code of a singleton: its successes, or one more than the trials for a missing cell.
  std::size_t codes() const {
    constexpr double kMostTrials = 126.0;
    return tables_ && !tables_->total.may_be_beyond() && trials_ <= kMostTrials
               ? static_cast<std::size_t>(trials_) + 2
               : 0;
  }
  std::size_t code(const double* stats) const {
    return static_cast<std::size_t>(stats[0] + stats[1] > 0.0 ? stats[0] : trials_ + 1.0);
  }
  void fill_single(const double* one, double* values) const {
    const auto trials = static_cast<std::size_t>(trials_);
    const double* log_successes = tables_->ones.log_gammas_from(one[0]);
    const double* log_failures = tables_->zeros.log_gammas_from(one[kLanes]);
    const double* log_totals = tables_->total.log_gammas_from(one[0] + one[kLanes]);
    const double* coefficients = coefficients_->data();
    const double own = one[2 * kLanes];
    for (std::size_t x = 0; x <= trials; ++x)
      values[x] = (own + coefficients[x]) + (log_successes[x] + log_failures[trials - x]) -
                  log_totals[trials] - log_prior_;
    values[trials + 1] = own + (log_successes[0] + log_failures[0]) - log_totals[0] - log_prior_;
  }

  CellPredictive predictive(const double* stats) const {
    const double a = a_ + stats[0];
    const double b = b_ + stats[1];
    const double p = a / (a + b);
    return {trials_ * p, trials_ * p * (1.0 - p) * (a + b + trials_) / (a + b + 1.0), {}};
  }

  static std::vector<std::string> hyper_names() { return {"a", "b"}; }
  std::size_t hyper_size() const { return learns_ ? 2 : 0; }
  void get_hyper(double* values) const {
    values[0] = a_;
    values[1] = b_;
  }
  void set_hyper(const double* values) {
    a_ = values[0];
    b_ = values[1];
    if (tables_) tables_.own().refill(a_, b_);
    log_prior_ = log_beta(a_, b_);
  }
  static bool is_valid_hyper(std::size_t, double value) { return value > 0.0; }
  double log_hyper_prior() const { return kHyperPrior.log_density(a_, b_); }
  void draw_hyper_prior(Stream& stream) {
    double values[2];
    kHyperPrior.draw(stream, values[0], values[1]);
    set_hyper(values);
  }
  void update_hyper(std::span<const double* const> clusters, Stream& stream, double power) {
    double values[] = {a_, b_};
    kHyperPrior.update(clusters, stream, power, values[0], values[1]);
    set_hyper(values);
  }
  std::size_t hyper_table_size() const { return tables_ ? 3 * tables_->total.size() : 0; }

 private:
  static constexpr BetaHyperPrior kHyperPrior{{2.0, 1.5}};
  void change(double* stats, double x, double sign) const {
    stats[0] += sign * x;
    stats[1] += sign * (trials_ - x);
    stats[2] += sign * log_coefficient(x);
  }
  /// log B(a + successes, b + failures).
  double log_beta_at(double successes, double failures) const {
    if (!tables_) return log_beta(a_ + successes, b_ + failures);
    return tables_->ones.log_gamma_at(successes) + tables_->zeros.log_gamma_at(failures) -
           tables_->total.log_gamma_at(successes + failures);
  }
  double log_gamma_total(double trials) const {
    return tables_ ? tables_->total.log_gamma_at(trials) : log_gamma(a_ + b_ + trials);
  }
  double log_coefficient(double x) const {
    if (coefficients_ != nullptr && x <= trials_) return (*coefficients_)[static_cast<std::size_t>(x)];
    return log_factorial(trials_) - log_factorial(x) - log_factorial(trials_ - x);
  }
  double trials_, a_, b_;
  bool learns_;
  double log_prior_ = log_beta(a_, b_);
  TableOf<BetaTables> tables_;
  std::shared_ptr<const std::vector<double>> coefficients_;  // log binomial ones, if there are tables
};

FamilyEntry binomial_entry();

}  // namespace coppice
