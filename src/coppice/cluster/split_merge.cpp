#include "coppice/cluster/split_merge.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"

namespace coppice {

RestrictedPair::RestrictedPair(const Family& family, const Rows& rows, std::span<const double> log_join,
                               double power)
    : family_(&family),
      data_(&rows),
      log_join_(log_join),
      power_(power),
      stats_size_(family.stats_size()),
      stats_(2 * stats_size_),
      cache_(family.cache_size() * kLanes),
      kept_stats_(stats_.size()) {
  // The six lanes that are not used hold an empty cluster, so that the arithmetic stays finite.
  family_->clear(stats(0));
  for (std::size_t lane = 0; lane < kLanes; ++lane) family_->fill_cache(stats(0), cache_.data() + lane);
  items_.reserve(rows.size());
  sides_.reserve(rows.size());
  kept_sides_.reserve(rows.size());
}

std::size_t RestrictedPair::bytes(const Family& family) {
  return (2 * family.stats_size() + family.cache_size() * kLanes) * sizeof(double);
}

void RestrictedPair::set_anchors(std::uint32_t anchor_a, std::uint32_t anchor_b) {
  anchors_[0] = anchor_a;
  anchors_[1] = anchor_b;
  items_.clear();
  sides_.clear();
}

void RestrictedPair::launch_random(std::uint32_t anchor_a, std::uint32_t anchor_b,
                                   std::span<const std::uint32_t> items, Stream& stream) {
  set_anchors(anchor_a, anchor_b);
  items_.assign(items.begin(), items.end());
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (i % 64 == 0) bits = stream();
    sides_.push_back(static_cast<std::uint8_t>(bits & 1));
    bits >>= 1;
  }
  rebuild();
}

void RestrictedPair::launch_sequential(std::uint32_t anchor_a, std::uint32_t anchor_b,
                                       std::span<const std::uint32_t> items, Stream& stream) {
  set_anchors(anchor_a, anchor_b);
  rebuild();
  for (const std::uint32_t item : items) {
    const std::size_t group = draw_uniform(stream) < std::exp(probabilities(item, 2).log_one) ? 1 : 0;
    items_.push_back(item);
    sides_.push_back(static_cast<std::uint8_t>(group));
    count_in(item, group);
    refresh(group);
    work_ += 1 + kWorkOfChange;
  }
}

void RestrictedPair::count_in(std::uint32_t item, std::size_t group) {
  family_->add(stats(group), (*data_)[item]);
  ++sizes_[group];
  if (prior_ != nullptr) prior_->add(item, group);
}

void RestrictedPair::launch_given(std::uint32_t anchor_a, std::uint32_t anchor_b,
                                  std::span<const std::uint32_t> items, std::span<const std::uint8_t> sides) {
  set_anchors(anchor_a, anchor_b);
  items_.assign(items.begin(), items.end());
  sides_.assign(sides.begin(), sides.end());
  rebuild();
}

void RestrictedPair::keep_launch() {
  kept_sides_.assign(sides_.begin(), sides_.end());
  std::copy_n(sizes_, 2, kept_sizes_);
  std::copy(stats_.begin(), stats_.end(), kept_stats_.begin());
}

void RestrictedPair::return_to_launch() {
  sides_.assign(kept_sides_.begin(), kept_sides_.end());
  std::copy_n(kept_sizes_, 2, sizes_);
  std::copy(kept_stats_.begin(), kept_stats_.end(), stats_.begin());
  if (prior_ != nullptr) {
    prior_->clear();
    for (std::size_t group = 0; group < 2; ++group) prior_->add(anchors_[group], group);
    for (std::size_t i = 0; i < items_.size(); ++i) prior_->add(items_[i], sides_[i]);
  }
  work_ += items_.size();
  refresh(0);
  refresh(1);
}

void RestrictedPair::rebuild() {
  if (prior_ != nullptr) prior_->clear();
  for (std::size_t group = 0; group < 2; ++group) {
    family_->clear(stats(group));
    sizes_[group] = 0;
    count_in(anchors_[group], group);
  }
  for (std::size_t i = 0; i < items_.size(); ++i) count_in(items_[i], sides_[i]);
  work_ += items_.size();
  refresh(0);
  refresh(1);
}

RestrictedPair::SideProbabilities RestrictedPair::probabilities(std::uint32_t item, std::size_t own) const {
  alignas(64) double weights[kLanes] = {};
  OwnCluster own_cluster;
  if (prior_ == nullptr) {
    for (std::size_t group = 0; group < 2; ++group)
      weights[group] = log_join_[sizes_[group] - (group == own ? 1 : 0)];
  } else {
    if (own < 2) prior_->remove(item, own);
    weights[1] = prior_->log_odds(item);
    if (own < 2) prior_->add(item, own);
  }
  if (own < 2) own_cluster = {own, stats(own)};
  family_->add_log_predictive((*data_)[item], cache_.data(), cache_.size(), 1, own_cluster, weights);
  const double difference = power_ * (weights[1] - weights[0]);
  const double log_one = log_logistic(difference);
  return {log_one - difference, log_one};
}

double RestrictedPair::log_weight_of_joining(std::uint32_t item, std::size_t group) const {
  alignas(64) double weights[kLanes] = {};
  family_->add_log_predictive((*data_)[item], cache_.data(), cache_.size(), 1, {}, weights);
  return log_join_[sizes_[group]] + weights[group];
}

template <typename Choose>
double RestrictedPair::scan_with(Choose&& choose) {
  double log_q = 0.0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const std::size_t own = sides_[i];
    const SideProbabilities side = probabilities(items_[i], own);
    const std::size_t chosen = choose(i, side.log_one);
    log_q += chosen == 1 ? side.log_one : side.log_zero;
    ++work_;
    if (chosen != own) change_side(i);
  }
  return log_q;
}

void RestrictedPair::change_side(std::size_t i) {
  const std::size_t own = sides_[i];
  const std::size_t other = 1 - own;
  const double* row = (*data_)[items_[i]];
  work_ += 2 * kWorkOfChange;
  sides_[i] = static_cast<std::uint8_t>(other);
  --sizes_[own];
  ++sizes_[other];
  if (prior_ != nullptr) {
    prior_->remove(items_[i], own);
    prior_->add(items_[i], other);
  }
  if (family_->remove(stats(own), row)) {
    family_->add(stats(other), row);
    refresh(0);
    refresh(1);
  } else {
    rebuild();
  }
}

double RestrictedPair::scan(Stream& stream) {
  return scan_with([&](std::size_t, double log_one) {
    return draw_uniform(stream) < std::exp(log_one) ? std::size_t{1} : std::size_t{0};
  });
}

double RestrictedPair::scan_forced(std::span<const std::uint8_t> sides) {
  return scan_with([&](std::size_t i, double) { return static_cast<std::size_t>(sides[i]); });
}

bool RestrictedPair::accepts_forced(std::span<const std::uint8_t> sides, double log_bound,
                                    double log_uniform) {
  double log_q = 0.0;
  bool accepted = log_uniform < log_bound;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const bool changes = sides[i] != sides_[i];
    ++work_;
    if (!accepted) {
      if (changes) work_ += 2 * kWorkOfChange;
      continue;
    }
    const SideProbabilities side = probabilities(items_[i], sides_[i]);
    log_q += sides[i] == 1 ? side.log_one : side.log_zero;
    accepted = log_uniform < log_bound + log_q;
    if (changes) change_side(i);
  }
  return accepted;
}

SplitMerge::SplitMerge(const Family& family, const Rows& rows, const ProductPartition& prior,
                       const SplitMergeOptions& options)
    : family_(&family),
      prior_(&prior),
      options_(options),
      pair_(family, rows, prior.log_join_table(), options.power),
      merged_(family.stats_size()) {
  items_.reserve(rows.size());
  target_.reserve(rows.size());
}

double SplitMerge::log_weight(const Clusters& clusters, Label slot) const {
  return prior_->log_kappa(clusters.size(slot)) + clusters.log_marginal(slot);
}

double SplitMerge::log_weight_of_group(std::size_t group) const {
  return prior_->log_kappa(pair_.size(group)) + pair_.log_marginal(group);
}

void SplitMerge::step(Clusters& clusters, std::size_t rows, Stream& stream) {
  if (rows < 2) return;
  const auto anchor_a = static_cast<std::uint32_t>(draw_index(stream, rows));
  auto anchor_b = static_cast<std::uint32_t>(draw_index(stream, rows - 1));
  if (anchor_b >= anchor_a) ++anchor_b;
  step(clusters, anchor_a, anchor_b, nullptr, stream);
}

void SplitMerge::step(Clusters& clusters, std::uint32_t anchor_a, std::uint32_t anchor_b, Launch* launch,
                      Stream& stream) {
  anchor_a_ = anchor_a;
  anchor_b_ = anchor_b;
  launch_ = launch;
  const double log_uniform = std::log(draw_uniform(stream));
  const Label first = clusters.label(anchor_a_);
  const Label second = clusters.label(anchor_b_);
  MoveCount& count = first == second ? splits_ : merges_;
  ++count.proposed;
  count.accepted += first == second ? split(clusters, stream, first, log_uniform)
                                    : merge(clusters, stream, first, second, log_uniform);
}

void SplitMerge::launch(const Clusters& clusters, Stream& stream, Label first, Label second) {
  clusters.members(first, second, items_);
  std::erase_if(items_, [&](std::uint32_t row) { return row == anchor_a_ || row == anchor_b_; });
  if (launch_ != nullptr)
    launch_->start(pair_, anchor_a_, anchor_b_, items_, stream);
  else if (options_.random_launch)
    pair_.launch_random(anchor_a_, anchor_b_, items_, stream);
  else
    pair_.launch_sequential(anchor_a_, anchor_b_, items_, stream);
  for (std::size_t scan = 0; scan < options_.scans; ++scan) pair_.scan(stream);
}

bool SplitMerge::split(Clusters& clusters, Stream& stream, Label cluster, double log_uniform) {
  launch(clusters, stream, cluster, cluster);
  const double log_q = pair_.scan(stream);
  const double gain = log_weight_of_group(0) + log_weight_of_group(1) - log_weight(clusters, cluster);
  const double log_ratio = options_.power * gain - log_q;
  if (!(log_uniform < log_ratio)) return false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (pair_.sides()[i] == 1) items_[kept++] = items_[i];
  items_.resize(kept);
  items_.push_back(anchor_b_);
  clusters.split(cluster, items_);
  return true;
}

bool SplitMerge::merge(Clusters& clusters, Stream& stream, Label first, Label second, double log_uniform) {
  std::copy_n(clusters.stats(first), merged_.size(), merged_.begin());
  family_->merge(merged_.data(), clusters.stats(second));
  const double log_whole =
      prior_->log_kappa(clusters.size(first) + clusters.size(second)) + family_->log_marginal(merged_.data());
  const double log_bound =
      options_.power * (log_whole - log_weight(clusters, first) - log_weight(clusters, second));
  if (!(log_uniform < log_bound)) return false;
  launch(clusters, stream, first, second);
  target_.clear();
  for (const std::uint32_t row : items_) target_.push_back(clusters.label(row) == first ? 0 : 1);
  if (!pair_.accepts_forced(target_, log_bound, log_uniform)) return false;
  clusters.merge(first, second);
  return true;
}

}  // namespace coppice
