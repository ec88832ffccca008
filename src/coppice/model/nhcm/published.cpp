#include "coppice/model/nhcm/published.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/family/packed_cholesky.hpp"

namespace coppice::nhcm {

void PublishedUpdates::prepare(const State& state, std::span<const Label> subs, Label sub) {
  const Evidence& evidence = state.evidence();
  const std::size_t d = evidence.dimension();
  cluster_.resize(evidence.cluster_size());
  factor_.resize(evidence.factor_size());
  center_.resize(d);
  evidence.clear(cluster_.data());
  for (const Label member : subs)
    if (member != sub) evidence.take_in(cluster_.data(), state.sub_stats(member));
  const double n = sub == State::kNone ? 0.0 : state.sizes()[static_cast<std::size_t>(sub)];
  // What the other sub-clusters say of the place.
  const double kappa = evidence.locate(cluster_.data(), nullptr, center_.data());
  // The scale: the prior's, the scatters within sub-clusters, and this sub-cluster's distance from its place.
  std::size_t entry = 0;
  for (std::size_t j = 0; j < d; ++j)
    for (std::size_t i = j; i < d; ++i, ++entry) {
      factor_[entry] = evidence.scale(i, j);
      for (const Label member : subs)
        factor_[entry] += evidence.moments().scatter(state.sub_stats(member))[entry];
      if (sub == State::kNone) continue;
      const double* mean = ScatterMoments::mean(state.sub_stats(sub));
      factor_[entry] += kappa * n / (kappa + n) * (mean[j] - center_[j]) * (mean[i] - center_[i]);
    }
  factorize(factor_.data(), d, evidence.scale_factor());
  log_determinant_ = log_determinant(factor_.data(), d);
  if (sub != State::kNone)
    for (std::size_t j = 0; j < d; ++j)
      center_[j] = (kappa * center_[j] + n * ScatterMoments::mean(state.sub_stats(sub))[j]) / (kappa + n);
  ratio_ = (kappa + n) / (kappa + n + 1.0);
  rows_there_ = Evidence::rows(cluster_.data()) + n;
}

double PublishedUpdates::log_density(const State& state, const double* row) {
  const Evidence& evidence = state.evidence();
  const std::size_t d = evidence.dimension();
  distance_.resize(d);
  for (std::size_t j = 0; j < d; ++j) distance_[j] = row[j] - center_[j];
  return evidence.log_step(rows_there_) + 0.5 * static_cast<double>(d) * std::log(ratio_) -
         0.5 * log_determinant_ -
         0.5 * (evidence.dof() + rows_there_ + 1.0) *
             std::log1p(ratio_ * squared_distance(factor_.data(), distance_.data(), d));
}

std::size_t PublishedUpdates::draw(Stream& stream) { return draw_from_logs(stream, log_weights_); }

void PublishedUpdates::update_row(State& state, const TwoLevelCrp& prior, std::size_t row, Stream& stream) {
  const Label before = state.sub_of(row);
  const Label cluster = state.cluster_of(before);
  const State::Counts counts = state.counts()[static_cast<std::size_t>(cluster)];
  if (counts.rows == 1) return;  // its cluster would be empty: a new sub-cluster in it is the only choice
  const bool alone = state.sizes()[static_cast<std::size_t>(before)] == 1;
  state.take_out(row);
  const double alpha = prior.alpha_subclusters();
  const double* x = state.data()[row];
  log_weights_.clear();
  others_.assign(state.subs_of(cluster).begin(), state.subs_of(cluster).end());
  for (const Label sub : others_) {
    prepare(state, others_, sub);
    log_weights_.push_back(
        std::log(state.sizes()[static_cast<std::size_t>(sub)] / (counts.rows + alpha - 1.0)) +
        log_density(state, x));
  }
  prepare(state, {}, State::kNone);
  log_weights_.push_back(std::log(alpha / (static_cast<double>(state.rows()) + alpha - 1.0)) +
                         log_density(state, x));
  const std::size_t chosen = draw(stream);
  if (chosen == others_.size()) {
    state.put(row, state.open_sub(cluster));
    rows_.accepted += !alone;
  } else {
    state.put(row, others_[chosen]);
    rows_.accepted += others_[chosen] != before;
  }
}

void PublishedUpdates::update_subcluster(State& state, const TwoLevelCrp& prior, Label sub, Stream& stream) {
  state.members(sub, sub, members_);
  const Label own = state.cluster_of(sub);
  targets_.clear();
  log_weights_.clear();
  const auto add = [&](Label target, double weight) {
    prepare(state, others_, State::kNone);
    double log_weight = std::log(weight);
    for (const std::uint32_t row : members_) log_weight += log_density(state, state.data()[row]);
    targets_.push_back(target);
    log_weights_.push_back(log_weight);
  };
  for (std::size_t slot = 1; slot < state.counts().size(); ++slot) {
    const auto cluster = static_cast<Label>(slot);
    others_.assign(state.subs_of(cluster).begin(), state.subs_of(cluster).end());
    std::erase(others_, sub);
    if (!others_.empty()) add(cluster, static_cast<double>(others_.size()));
  }
  others_.clear();
  add(State::kNewCluster, prior.alpha_clusters());
  const Label to = targets_[draw(stream)];
  subclusters_.accepted += to != own && state.move_sub(sub, to);
}

void PublishedUpdates::update(State& state, const TwoLevelCrp& prior, std::size_t row, Stream& stream) {
  ++rows_.proposed;
  update_row(state, prior, row, stream);
  ++subclusters_.proposed;
  update_subcluster(state, prior, state.sub_of(row), stream);
}

void PublishedUpdates::scan(State& state, const TwoLevelCrp& prior, const StreamName& name) {
  for (std::size_t row = 0; row < state.rows(); ++row) {
    Stream stream(name, Purpose::published, row);
    update(state, prior, row, stream);
  }
}

}  // namespace coppice::nhcm
