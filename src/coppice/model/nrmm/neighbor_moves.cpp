#include "coppice/model/nrmm/neighbor_moves.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/base/rng.hpp"

namespace coppice::nrmm {
namespace {

/// The share of neighbors that is drawn by their sizes alone, so that no merge is out of reach because its
/// row would not go there.
constexpr double kUniformShare = 0.2;

}  // namespace

NeighborMoves::NeighborMoves(const Family& family, const Rows& rows, const ProductPartition& prior,
                             std::size_t scans)
    : family_(&family),
      prior_(&prior),
      scans_(scans),
      rows_(rows.size()),
      pair_(family, rows, prior.log_join_table()),
      merged_(family.stats_size()) {
  items_.reserve(rows_);
  sides_.reserve(rows_);
  proposed_.reserve(rows_);
}

void NeighborMoves::step(Clusters& clusters, Stream& stream) {
  row_ = static_cast<std::uint32_t>(draw_index(stream, rows_));
  own_ = clusters.label(row_);
  const std::uint64_t kind = draw_index(stream, 3);
  log_uniform_ = std::log(draw_uniform(stream));
  MoveCount& count = kind == 0 ? splits_ : kind == 1 ? merges_ : divisions_;
  ++count.proposed;
  count.accepted += kind == 0   ? split(clusters, stream)
                    : kind == 1 ? merge(clusters, stream)
                                : divide(clusters, stream);
}

bool NeighborMoves::split(Clusters& clusters, Stream& stream) {
  const std::size_t size = clusters.size(own_);
  if (size < 2) return false;
  launch(clusters, own_, draw_member(clusters, own_, stream), stream);
  const double log_q = pair_.scan(stream);
  weigh_neighbors(clusters);
  // The second group has no slot yet; that of the own cluster, which is not a neighbor, is free.
  const auto place = static_cast<std::size_t>(own_);
  weights_[place] = pair_.log_weight_of_joining(row_, 1);
  const double log_back =
      log_probability_of(place, pair_.size(1), pair_.size(0)) - std::log(static_cast<double>(pair_.size(1)));
  const double log_forth = log_q - std::log(static_cast<double>(size - 1));
  const double gain = log_weight_of_group(0) + log_weight_of_group(1) - log_weight(clusters, own_);
  if (!(log_uniform_ < gain + log_back - log_forth)) return false;
  keep_second(pair_.sides());
  clusters.split(own_, items_);
  return true;
}

bool NeighborMoves::merge(Clusters& clusters, Stream& stream) {
  const std::optional<Neighbor> neighbor = draw_neighbor(clusters, stream);
  if (!neighbor) return false;
  const std::size_t own_size = clusters.size(own_);
  const std::size_t size = clusters.size(neighbor->label);
  std::copy_n(clusters.stats(own_), merged_.size(), merged_.begin());
  family_->merge(merged_.data(), clusters.stats(neighbor->label));
  const double gain = prior_->log_kappa(own_size + size) + family_->log_marginal(merged_.data()) -
                      log_weight(clusters, own_) - log_weight(clusters, neighbor->label);
  const double log_forth = neighbor->log_probability - std::log(static_cast<double>(size));
  const double log_bound = gain - log_forth - std::log(static_cast<double>(own_size + size - 1));
  // A scan has a probability of one at most: most merges are rejected before it.
  if (!(log_uniform_ < log_bound)) return false;
  launch(clusters, neighbor->label, draw_member(clusters, neighbor->label, stream), stream);
  remember_sides(clusters);
  if (!pair_.accepts_forced(sides_, log_bound, log_uniform_)) return false;
  clusters.merge(own_, neighbor->label);
  return true;
}

bool NeighborMoves::divide(Clusters& clusters, Stream& stream) {
  const std::optional<Neighbor> neighbor = draw_neighbor(clusters, stream);
  if (!neighbor) return false;
  const std::size_t size = clusters.size(neighbor->label);
  if (size + clusters.size(own_) < 3) return false;
  const double log_choice = neighbor->log_probability - std::log(static_cast<double>(size));
  const double before = log_weight(clusters, own_) + log_weight(clusters, neighbor->label);
  launch(clusters, neighbor->label, draw_member(clusters, neighbor->label, stream), stream);
  remember_sides(clusters);
  // Both scans begin at the same launch, which neither division has decided.
  pair_.keep_launch();
  const double log_q = pair_.scan(stream);
  const double after = log_weight_of_group(0) + log_weight_of_group(1);
  const auto place = static_cast<std::size_t>(neighbor->label);
  weigh_neighbors(clusters);
  weights_[place] = pair_.log_weight_of_joining(row_, 1);
  const double log_choice_back =
      log_probability_of(place, pair_.size(1), pair_.size(0)) - std::log(static_cast<double>(pair_.size(1)));
  const double log_bound = after - before + log_choice_back - log_choice - log_q;
  if (!(log_uniform_ < log_bound)) return false;
  proposed_.assign(pair_.sides().begin(), pair_.sides().end());
  if (proposed_ == sides_) return false;
  pair_.return_to_launch();
  if (!pair_.accepts_forced(sides_, log_bound, log_uniform_)) return false;
  keep_second(proposed_);
  clusters.merge(own_, neighbor->label);
  clusters.split(own_, items_);
  return true;
}

void NeighborMoves::weigh_neighbors(const Clusters& clusters) {
  slots_ = clusters.weights_size();
  if (weights_.size() < slots_) weights_.resize(2 * slots_);
  clusters.log_conditional(row_, weights_.data());
  work_ += slots_ / kLanes + kWorkOfUnion;
  weights_[static_cast<std::size_t>(own_)] = kMinusInfinity;
}

std::optional<NeighborMoves::Neighbor> NeighborMoves::draw_neighbor(const Clusters& clusters,
                                                                    Stream& stream) {
  if (clusters.clusters() < 2) return std::nullopt;
  weigh_neighbors(clusters);
  const std::size_t others = rows_ - clusters.size(own_);
  const std::span<const std::uint32_t> sizes = clusters.sizes();
  std::size_t chosen = sizes.size();
  if (draw_uniform(stream) < kUniformShare) {
    std::uint64_t left = draw_index(stream, others);
    for (std::size_t slot = 0; slot < sizes.size() && chosen == sizes.size(); ++slot) {
      if (slot == static_cast<std::size_t>(own_)) continue;
      if (left < sizes[slot]) chosen = slot;
      left -= std::min<std::uint64_t>(left, sizes[slot]);
    }
  } else {
    const double log_total = log_sum_exp({weights_.data(), slots_});
    double left = draw_uniform(stream);
    for (std::size_t slot = 0; slot < sizes.size(); ++slot) {
      const double probability = std::exp(weights_[slot] - log_total);
      if (probability == 0.0) continue;
      chosen = slot;  // rounding may leave a little over: it goes to the last one
      if (left < probability) break;
      left -= probability;
    }
  }
  return Neighbor{static_cast<Label>(chosen), log_probability_of(chosen, sizes[chosen], clusters.size(own_))};
}

double NeighborMoves::log_probability_of(std::size_t slot, std::size_t size, std::size_t own_size) const {
  const double by_weight = std::exp(weights_[slot] - log_sum_exp({weights_.data(), slots_}));
  const double by_size = static_cast<double>(size) / static_cast<double>(rows_ - own_size);
  return std::log((1.0 - kUniformShare) * by_weight + kUniformShare * by_size);
}

std::uint32_t NeighborMoves::draw_member(const Clusters& clusters, Label label, Stream& stream) const {
  std::uint64_t left = draw_index(stream, clusters.size(label) - (label == own_ ? 1U : 0U));
  std::uint32_t row = 0;
  while (row == row_ || clusters.label(row) != label || left-- != 0) ++row;
  return row;
}

void NeighborMoves::launch(const Clusters& clusters, Label neighbor, std::uint32_t other, Stream& stream) {
  other_ = other;
  clusters.members(own_, neighbor, items_);
  std::erase_if(items_, [&](std::uint32_t row) { return row == row_ || row == other_; });
  pair_.launch_sequential(row_, other_, items_, stream);
  for (std::size_t scan = 0; scan < scans_; ++scan) pair_.scan(stream);
}

void NeighborMoves::remember_sides(const Clusters& clusters) {
  sides_.clear();
  for (const std::uint32_t row : items_) sides_.push_back(clusters.label(row) == own_ ? 0 : 1);
}

void NeighborMoves::keep_second(std::span<const std::uint8_t> sides) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (sides[i] == 1) items_[kept++] = items_[i];
  items_.resize(kept);
  items_.push_back(other_);
}

double NeighborMoves::log_weight(const Clusters& clusters, Label label) const {
  return prior_->log_kappa(clusters.size(label)) + clusters.log_marginal(label);
}

double NeighborMoves::log_weight_of_group(std::size_t group) const {
  return prior_->log_kappa(pair_.size(group)) + pair_.log_marginal(group);
}

}  // namespace coppice::nrmm
