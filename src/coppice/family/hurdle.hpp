// A column with a spike: x is at the spike with probability p ~ Beta(a, b), and otherwise follows the inner
// cell, which never sees the spike. Log marginals and predictives of the two parts add up. A cell at the
// spike is minus infinity; what is not has the inner cell's encoding (counts above a spike at zero are
// counted from one, so that the inner cell gives the spike no mass).
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coppice/family/bernoulli.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

template <typename Inner>
class HurdleCell {
 public:
  HurdleCell(BernoulliCell spike, Inner inner) : spike_(std::move(spike)), inner_(std::move(inner)) {}

  std::size_t stats_size() const { return spike_.stats_size() + inner_.stats_size(); }
  std::size_t theta_size() const { return spike_.theta_size() + inner_.theta_size(); }
  std::size_t cache_size() const { return spike_.cache_size() + inner_.cache_size(); }
  double origin() const { return inner_.origin(); }

  void clear(double* stats) const {
    spike_.clear(stats);
    inner_.clear(inner(stats));
  }
  void add(double* stats, double x, double copies = 1.0) const {
    spike_.add(stats, at_spike(x), copies);
    if (!is_spike(x)) inner_.add(inner(stats), x, copies);
  }
  bool remove(double* stats, double x, double copies = 1.0) const {
    const bool accurate = spike_.remove(stats, at_spike(x), copies);
    return (is_spike(x) || inner_.remove(inner(stats), x, copies)) && accurate;
  }
  void merge(double* stats, const double* other) const {
    spike_.merge(stats, other);
    inner_.merge(inner(stats), inner(other));
  }
  double log_marginal(const double* stats) const {
    return spike_.log_marginal(stats) + inner_.log_marginal(inner(stats));
  }
  double log_predictive(const double* stats, double x) const {
    const double log_part = spike_.log_predictive(stats, at_spike(x));
    return is_spike(x) ? log_part : log_part + inner_.log_predictive(inner(stats), x);
  }
  void draw_theta(const double* stats, Stream& stream, double* theta) const {
    spike_.draw_theta(stats, stream, theta);
    inner_.draw_theta(inner(stats), stream, theta + spike_.theta_size());
  }
  double draw(const double* theta, Stream& stream) const {
    return spike_.draw(theta, stream) != 0.0 ? kMinusInfinity
                                             : inner_.draw(theta + spike_.theta_size(), stream);
  }
  double log_likelihood(const double* theta, double x) const {
    const double log_part = spike_.log_likelihood(theta, at_spike(x));
    return is_spike(x) ? log_part : log_part + inner_.log_likelihood(theta + spike_.theta_size(), x);
  }
  std::size_t likelihood_size() const { return spike_.likelihood_size() + inner_.likelihood_size(); }
  void fill_likelihood(const double* theta, double* values) const {
    spike_.fill_likelihood(theta, values);
    inner_.fill_likelihood(theta + spike_.theta_size(), values + spike_.likelihood_size());
  }
  Lanes lane_log_likelihood(const double* values, Lanes x) const {
    const LanesInt at_spike = x == kMinusInfinity;
    const Lanes log_part = spike_.lane_log_likelihood(values, at_spike ? broadcast(1.0) : Lanes{});
    const Lanes rest = inner_.lane_log_likelihood(values + spike_.likelihood_size(), at_spike ? Lanes{} : x);
    return at_spike ? log_part : log_part + rest;
  }

  void fill_cache(const double* stats, double* cache) const {
    spike_.fill_cache(stats, cache);
    inner_.fill_cache(inner(stats), cache + spike_.cache_size() * kLanes);
  }
  Lanes lane_log_predictive(const double* cache, double x) const {
    const Lanes log_part = load_lanes(cache + spike_.entry(at_spike(x)) * kLanes);
    if (is_spike(x)) return log_part;
    return log_part + inner_.lane_log_predictive(cache + spike_.cache_size() * kLanes, x);
  }
  double own_log_predictive(const double* cache, double x) const {
    const double log_part = cache[spike_.own_entry(at_spike(x)) * kLanes];
    if (is_spike(x)) return log_part;
    return log_part + inner_.own_log_predictive(cache + spike_.cache_size() * kLanes, x);
  }

  std::size_t union_size() const { return spike_.union_size() + inner_.union_size(); }
  void fill_union(const double* stats, double* cache) const {
    spike_.fill_union(stats, cache);
    inner_.fill_union(inner(stats), cache + spike_.union_size() * kLanes);
  }
  Lanes lane_log_marginal(const double* one, const double* others) const {
    const std::size_t step = spike_.union_size() * kLanes;
    return spike_.lane_log_marginal(one, others) + inner_.lane_log_marginal(one + step, others + step);
  }

  CellPredictive predictive(const double* stats) const {
    CellPredictive result = inner_.predictive(inner(stats));
    result.spike = spike_.predictive(stats).mean;
    return result;
  }

  static std::vector<std::string> hyper_names() {
    std::vector<std::string> names{"spike_a", "spike_b"};
    for (const std::string& name : Inner::hyper_names()) names.push_back(name);
    return names;
  }
  std::size_t hyper_size() const { return spike_.hyper_size() + inner_.hyper_size(); }
  void get_hyper(double* values) const {
    spike_.get_hyper(values);
    inner_.get_hyper(values + spike_.hyper_size());
  }
  void set_hyper(const double* values) {
    spike_.set_hyper(values);
    inner_.set_hyper(values + spike_.hyper_size());
  }
  double log_hyper_prior() const { return spike_.log_hyper_prior() + inner_.log_hyper_prior(); }
  void draw_hyper_prior(Stream& stream) {
    spike_.draw_hyper_prior(stream);
    inner_.draw_hyper_prior(stream);
  }
  void update_hyper(std::span<const double* const> clusters, Stream& stream, double power) {
    spike_.update_hyper(clusters, stream, power);
    of_inner_.clear();
    for (const double* stats : clusters) of_inner_.push_back(inner(stats));
    inner_.update_hyper(of_inner_, stream, power);
  }
  std::size_t hyper_table_size() const { return spike_.hyper_table_size() + inner_.hyper_table_size(); }
  static bool is_valid_hyper(std::size_t index, double value) {
    return index < 2 ? BernoulliCell::is_valid_hyper(index, value) : Inner::is_valid_hyper(index - 2, value);
  }

 private:
  static bool is_spike(double x) { return x == kMinusInfinity; }
  static double at_spike(double x) { return is_spike(x) ? 1.0 : 0.0; }
  double* inner(double* stats) const { return stats + spike_.stats_size(); }
  const double* inner(const double* stats) const { return stats + spike_.stats_size(); }

  BernoulliCell spike_;
  Inner inner_;
  std::vector<const double*> of_inner_;  // room for update_hyper
};

/// FamilyEntry::make and make_with_spike of a family whose cells are made by `make_cells(inputs)`. `name` is
/// not known to a pointer to a function, so the inputs have it.
template <auto make_cells>
std::unique_ptr<Family> make_columns(const FamilyInputs& inputs) {
  auto cells = make_cells(inputs);
  using Cell = typename decltype(cells)::value_type;
  return std::make_unique<IndependentColumns<Cell>>(inputs.family, std::move(cells), inputs.column_names());
}

/// The prior of the spike's probability is Beta(1/2, 1/2), or learned if the inner cells learn.
template <auto make_cells>
std::unique_ptr<Family> make_columns_with_spike(const FamilyInputs& inputs) {
  constexpr double kWeight = 0.5;
  auto cells = make_cells(inputs);
  using Inner = typename decltype(cells)::value_type;
  std::vector<HurdleCell<Inner>> hurdles;
  const auto shared = std::make_shared<const BetaTables>(kWeight, kWeight, 2 * inputs.rows);
  for (Inner& cell : cells) {
    const bool learns = cell.hyper_size() != 0;
    hurdles.emplace_back(BernoulliCell(kWeight, kWeight,
                                       learns ? own_beta_tables(kWeight, kWeight, 2 * inputs.rows)
                                              : TableOf<BetaTables>(shared),
                                       learns),
                         std::move(cell));
  }
  return std::make_unique<IndependentColumns<HurdleCell<Inner>>>(inputs.family, std::move(hurdles),
                                                                 inputs.column_names());
}

}  // namespace coppice
