// Bernoulli columns with Beta(a, b) priors: x ~ Bernoulli(p), p ~ Beta(a, b).
// log m = log B(a + s, b + n - s) - log B(a, b), s the number of ones among n present cells. Learned: a / (a
// + b) ~ U(0, 1), log(a + b) ~ N(0, 1).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coppice/family/count_table.hpp"
#include "coppice/family/hyper.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

/// Tables of a Beta(a, b) prior, shared by all columns that have it.
struct BetaTables {
  BetaTables(double a, double b, std::size_t largest)
      : ones(a, largest), zeros(b, largest), total(a + b, largest) {}
  void refill(double a, double b) {
    ones.refill(a);
    zeros.refill(b);
    total.refill(a + b);
  }
  CountTable ones, zeros, total;
};

/// A column's own tables of learned hyper-parameters: their size is limited, since chains have copies and
/// change them.
inline TableOf<BetaTables> own_beta_tables(double a, double b, std::size_t largest) {
  constexpr std::size_t kLargestOwn = 16384;
  auto tables = std::make_unique<BetaTables>(a, b, std::min(largest, kLargestOwn));
  if (largest > kLargestOwn)
    for (CountTable* table : {&tables->ones, &tables->zeros, &tables->total}) table->allow_beyond();
  return TableOf<BetaTables>(std::move(tables));
}

class BernoulliCell {
 public:
  /// One that learns a and b owns its tables.
  BernoulliCell(double a, double b, TableOf<BetaTables> tables, bool learns = false)
      : a_(a), b_(b), learns_(learns), tables_(std::move(tables)) {}

  std::size_t stats_size() const { return 2; }  // ones, zeros
  std::size_t theta_size() const { return 1; }
  /// log p(0), log p(1), log p(0) with that cell taken out first, nothing, log p(1) with that cell taken out.
  std::size_t cache_size() const { return 5; }
  double origin() const { return 0.0; }

  void clear(double* stats) const { stats[0] = stats[1] = 0.0; }
  void add(double* stats, double x, double copies = 1.0) const { stats[x != 0.0 ? 0 : 1] += copies; }
  bool remove(double* stats, double x, double copies = 1.0) const {
    stats[x != 0.0 ? 0 : 1] -= copies;
    return true;
  }
  void merge(double* stats, const double* other) const {
    stats[0] += other[0];
    stats[1] += other[1];
  }
  double log_marginal(const double* stats) const { return log_beta(stats[0], stats[1]) - log_prior_; }
  double log_predictive(const double* stats, double x) const {
    return (x != 0.0 ? tables_->ones.log(stats[0]) : tables_->zeros.log(stats[1])) -
           tables_->total.log(stats[0] + stats[1]);
  }
  void draw_theta(const double* stats, Stream& stream, double* theta) const {
    theta[0] = draw_beta(stream, a_ + stats[0], b_ + stats[1]);
  }
  double draw(const double* theta, Stream& stream) const {
    return draw_uniform(stream) < theta[0] ? 1.0 : 0.0;
  }
  double log_likelihood(const double* theta, double x) const {
    return x != 0.0 ? std::log(theta[0]) : std::log1p(-theta[0]);
  }
  std::size_t likelihood_size() const { return 2; }  // log p(0), log p(1)
  void fill_likelihood(const double* theta, double* values) const {
    values[0] = bounded_log(std::log1p(-theta[0]));
    values[1] = bounded_log(std::log(theta[0]));
  }
  Lanes lane_log_likelihood(const double* values, Lanes x) const {
    return x != 0.0 ? broadcast(values[1]) : broadcast(values[0]);
  }

  void fill_cache(const double* stats, double* cache) const {
    const double count = stats[0] + stats[1];
    const double log_total = tables_->total.log(count);
    cache[0] = tables_->zeros.log(stats[1]) - log_total;
    cache[kLanes] = tables_->ones.log(stats[0]) - log_total;
    // A cell can be taken out only if it is there; the other case is never read, but must stay finite.
    const double log_without = tables_->total.log(std::max(count - 1.0, 0.0));
    cache[2 * kLanes] = tables_->zeros.log(std::max(stats[1] - 1.0, 0.0)) - log_without;
    cache[3 * kLanes] = 0.0;
    cache[4 * kLanes] = tables_->ones.log(std::max(stats[0] - 1.0, 0.0)) - log_without;
  }
  /// The three top bits distinguish 0, 1 and NaN without a branch: 0, 1 and 3.
  std::size_t entry(double x) const { return (std::bit_cast<std::uint64_t>(x) >> 61) & 3; }
  std::size_t own_entry(double x) const {
    constexpr std::uint8_t kEntries[] = {2, 4, 3, 3};
    return kEntries[entry(x)];
  }

  CellPredictive predictive(const double* stats) const {
    const double p = (a_ + stats[0]) / (a_ + b_ + stats[0] + stats[1]);
    return {p, p * (1.0 - p), {1.0 - p, p}};
  }

  double probability(const double* stats, double x) const {
    if (stats == nullptr) return (x != 0.0 ? a_ : b_) / (a_ + b_);
    return (x != 0.0 ? a_ + stats[0] : b_ + stats[1]) / (a_ + b_ + stats[0] + stats[1]);
  }
  std::size_t planes(double) const { return 1; }  // the ones
  bool is_on(double x, std::size_t) const { return x != 0.0; }
  double alone_part(double) const { return 0.0; }
  double log_marginal_of_counts(const std::uint64_t* ones, std::size_t, std::uint64_t cells) const {
    return tables_->ones.log_gamma_of(*ones) + tables_->zeros.log_gamma_of(cells - *ones) -
           tables_->total.log_gamma_of(cells) - log_prior_;
  }

  std::size_t union_size() const { return 2; }  // ones, zeros
  void fill_union(const double* stats, double* cache) const {
    cache[0] = stats[0];
    cache[kLanes] = stats[1];
  }
  Lanes lane_log_marginal(const double* one, const double* others) const {
    const Lanes ones = one[0] + load_lanes(others);
    const Lanes zeros = one[kLanes] + load_lanes(others + kLanes);
    return (tables_->ones.log_gamma_at(ones) + tables_->zeros.log_gamma_at(zeros)) -
           tables_->total.log_gamma_at(ones + zeros) - log_prior_;
  }
  static constexpr bool has_tables() { return true; }
  double log_marginal_of_one(const double* stats) const { return log_marginal(stats); }
  static constexpr std::size_t single_size() { return 3; }  // with a missing cell, with a 0, with a 1
  void fill_single(const double* one, double* values) const {
    const auto joint = [&](double ones, double zeros) {
      return (tables_->ones.log_gamma_at(ones) + tables_->zeros.log_gamma_at(zeros)) -
             tables_->total.log_gamma_at(ones + zeros) - log_prior_;
    };
    values[0] = joint(one[0], one[kLanes]);
    values[1] = joint(one[0], one[kLanes] + 1.0);
    values[2] = joint(one[0] + 1.0, one[kLanes]);
  }
  static constexpr std::size_t single_words() { return 2; }  // ones, missing cells
  void set_single(const double* stats, std::size_t place, std::uint64_t* words) const {
    const std::uint64_t bit = std::uint64_t{1} << place;
    words[0] = stats[0] > 0.0 ? words[0] | bit : words[0] & ~bit;
    words[1] = stats[0] + stats[1] > 0.0 ? words[1] & ~bit : words[1] | bit;
  }
  /// totals[i][lane] += the value of the row at place `first` + 8 i + lane.
  static void add_singles(const double* values, const std::uint64_t* words, std::size_t first,
                          Lanes (&totals)[4]) {
    constexpr LanesInt kPlaces = {1, 2, 4, 8, 16, 32, 64, 128};
    const LanesInt ones = static_cast<std::int64_t>(words[0] >> first) - LanesInt{};
    const Lanes zero = broadcast(values[1]);
    const Lanes one = broadcast(values[2]);
    const std::uint64_t absent = words[1] >> first & 0xffffffffU;
    if (absent == 0) {
      for (int i = 0; i < 4; ++i) totals[i] += (ones & kPlaces << 8 * i) != 0 ? one : zero;
      return;
    }
    const LanesInt missing = static_cast<std::int64_t>(absent) - LanesInt{};
    const Lanes nothing = broadcast(values[0]);
    for (int i = 0; i < 4; ++i) {
      const Lanes present = (ones & kPlaces << 8 * i) != 0 ? one : zero;
      totals[i] += (missing & kPlaces << 8 * i) != 0 ? nothing : present;
    }
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
    tables_.own().refill(a_, b_);
    log_prior_ = log_beta(0.0, 0.0);
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
  /// Numbers that an update writes into tables.
  std::size_t hyper_table_size() const { return 3 * tables_->total.size(); }

 private:
  static constexpr BetaHyperPrior kHyperPrior{{1.0, 1.0}};
  /// log B(a + ones, b + zeros).
  double log_beta(double ones, double zeros) const {
    return tables_->ones.log_gamma_at(ones) + tables_->zeros.log_gamma_at(zeros) -
           tables_->total.log_gamma_at(ones + zeros);
  }
  double a_, b_;
  bool learns_;
  TableOf<BetaTables> tables_;
  double log_prior_ = log_beta(0.0, 0.0);
};

FamilyEntry bernoulli_entry();

}  // namespace coppice
