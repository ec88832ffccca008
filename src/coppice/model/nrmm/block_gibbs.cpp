#include "coppice/model/nrmm/block_gibbs.hpp"

#include <algorithm>

#include "coppice/base/math.hpp"
#include "coppice/cluster/draw_weights.hpp"

namespace coppice::nrmm {

BlockGibbs::BlockGibbs(const Family& family, const Rows& rows, const ProductPartition& prior)
    : family_(&family),
      rows_(&rows),
      prior_(&prior),
      in_block_(rows.size(), 0),
      block_stats_(family.stats_size()),
      rest_(family.stats_size()),
      merged_(family.stats_size()) {
  block_.reserve(rows.size());
}

void BlockGibbs::step(Clusters& clusters, const RowTree& guide, Stream& stream) {
  const auto row = static_cast<std::uint32_t>(draw_index(stream, guide.rows()));
  const std::uint64_t steps = draw_index(stream, guide.depth(row) + 1);
  step(clusters, row, guide.rows_below(guide.ancestor(row, steps)), stream);
}

void BlockGibbs::step(Clusters& clusters, std::uint32_t row, std::span<const std::uint32_t> below,
                      Stream& stream) {
  ++count_.proposed;
  const Label own = clusters.label(row);
  const std::size_t slots = clusters.sizes().size();
  if (seen_.size() < slots) seen_.resize(std::max(slots, 2 * seen_.size()), 0);
  if (++move_ == 0) {
    std::fill(seen_.begin(), seen_.end(), 0U);
    move_ = 1;
  }
  block_.clear();
  for (const std::uint32_t other : below) {
    const Label label = clusters.label(other);
    seen_[static_cast<std::size_t>(label)] = move_;
    if (label == own) block_.push_back(other);
  }
  const std::size_t block = block_.size();
  const std::size_t rest = clusters.size(own) - block;
  take_apart(clusters, own);
  work_ += kWorkOfUnion * clusters.clusters() + 2 * block;

  // Weights by slot; behind them the one of a new cluster, in a chunk of lanes of its own.
  const std::size_t padded = clusters.weights_size();
  const std::size_t count = slots < padded ? padded : padded + kLanes;
  if (weights_.size() < count) weights_.resize(2 * count);
  std::fill_n(weights_.data(), count, kMinusInfinity);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const auto label = static_cast<Label>(slot);
    const std::size_t size = clusters.sizes()[slot];
    if (size == 0 || seen_[slot] == move_) continue;
    std::copy_n(clusters.stats(label), merged_.size(), merged_.begin());
    family_->merge(merged_.data(), block_stats_.data());
    weights_[slot] = family_->log_marginal(merged_.data()) - clusters.log_marginal(label) +
                     prior_->log_kappa(size + block) - prior_->log_kappa(size);
  }
  if (rest != 0)
    weights_[static_cast<std::size_t>(own)] = clusters.log_marginal(own) -
                                              family_->log_marginal(rest_.data()) +
                                              prior_->log_kappa(rest + block) - prior_->log_kappa(rest);
  weights_[slots] = prior_->log_kappa(block) + family_->log_marginal(block_stats_.data());

  const std::size_t chosen = draw_from_log_weights(weights_.data(), count, draw_uniform(stream));
  if (chosen == static_cast<std::size_t>(own) || (chosen == slots && rest == 0)) return;
  clusters.move_block(block_, block_stats_.data(), rest_.data(),
                      chosen == slots ? Clusters::kUnassigned : static_cast<Label>(chosen));
  ++count_.accepted;
}

void BlockGibbs::take_apart(const Clusters& clusters, Label own) {
  if (clusters.size(own) == block_.size()) {
    std::copy_n(clusters.stats(own), block_stats_.size(), block_stats_.begin());
    return;
  }
  family_->clear(block_stats_.data());
  for (const std::uint32_t row : block_) family_->add(block_stats_.data(), (*rows_)[row]);
  // Statistics of the rows that stay: remove the block if it is small or the smaller part. Otherwise, or if
  // rounding spoils the removal, recompute them from every row.
  constexpr std::size_t kSmall = 1000;
  bool sound = block_.size() <= kSmall || 2 * block_.size() <= clusters.size(own);
  if (sound) std::copy_n(clusters.stats(own), rest_.size(), rest_.begin());
  for (std::size_t i = 0; sound && i < block_.size(); ++i)
    sound = family_->remove(rest_.data(), (*rows_)[block_[i]]);
  if (sound) return;
  family_->clear(rest_.data());
  for (const std::uint32_t row : block_) in_block_[row] = 1;
  for (std::size_t row = 0; row < clusters.rows(); ++row)
    if (clusters.label(row) == own && in_block_[row] == 0) family_->add(rest_.data(), (*rows_)[row]);
  for (const std::uint32_t row : block_) in_block_[row] = 0;
}

}  // namespace coppice::nrmm
