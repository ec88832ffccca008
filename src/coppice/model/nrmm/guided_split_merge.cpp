#include "coppice/model/nrmm/guided_split_merge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace coppice::nrmm {

GuidedSplitMerge::GuidedSplitMerge(const Family& family, const Rows& rows, const ProductPartition& prior,
                                   std::size_t scans)
    : family_(&family),
      rows_(&rows),
      prior_(&prior),
      split_merge_(family, rows, prior, {scans, false}),
      groups_(2 * family.stats_size()),
      block_(family.stats_size()),
      merged_(family.stats_size()) {
  by_position_.reserve(rows.size());
  sides_.reserve(rows.size());
}

void GuidedSplitMerge::step(Clusters& clusters, const RowTree& guide, Stream& stream) {
  if (guide.rows() < 2) return;
  guide_ = &guide;
  const auto row = static_cast<std::uint32_t>(draw_index(stream, guide.rows()));
  const RowTree::Node below = guide.ancestor(row, draw_index(stream, guide.depth(row)));
  const std::span<const std::uint32_t> across = guide.rows_below(guide.sibling(below));
  const std::uint32_t other = across[draw_index(stream, across.size())];
  split_merge_.step(clusters, row, other, this, stream);
}

void GuidedSplitMerge::start(RestrictedPair& pair, std::uint32_t anchor_a, std::uint32_t anchor_b,
                             std::span<const std::uint32_t> items, Stream& stream) {
  const RowTree& guide = *guide_;
  const std::size_t stats_size = family_->stats_size();
  by_position_.resize(items.size());
  std::iota(by_position_.begin(), by_position_.end(), 0U);
  const auto position = [&](std::uint32_t item) { return guide.position(items[item]); };
  std::sort(by_position_.begin(), by_position_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return position(a) < position(b); });
  sides_.resize(items.size());
  double* stats[2] = {groups_.data(), groups_.data() + stats_size};
  std::size_t sizes[2] = {1, 1};
  for (std::size_t group = 0; group < 2; ++group) {
    family_->clear(stats[group]);
    family_->add(stats[group], (*rows_)[group == 0 ? anchor_a : anchor_b]);
  }
  // Items below a node are neighbors in by_position_.
  const auto items_below = [&](RowTree::Node node) {
    const std::size_t first = guide.position(guide.rows_below(node).front());
    const std::size_t end = first + guide.rows_below(node).size();
    const auto low =
        std::lower_bound(by_position_.begin(), by_position_.end(), first,
                         [&](std::uint32_t item, std::size_t at) { return position(item) < at; });
    const auto high = std::lower_bound(low, by_position_.end(), end, [&](std::uint32_t item, std::size_t at) {
      return position(item) < at;
    });
    return std::span<const std::uint32_t>(low, high);
  };
  const auto put = [&](std::span<const std::uint32_t> block, std::size_t group) {
    for (const std::uint32_t item : block) sides_[item] = static_cast<std::uint8_t>(group);
    sizes[group] += block.size();
  };

  RowTree::Node node = guide.common_ancestor(anchor_a, anchor_b);
  for (const RowTree::Node child : {guide.left(node), guide.right(node)}) {
    const std::size_t group = guide.is_below(anchor_a, child) ? 0 : 1;
    const std::span<const std::uint32_t> block = items_below(child);
    for (const std::uint32_t item : block) family_->add(stats[group], (*rows_)[items[item]]);
    put(block, group);
  }
  double log_marginal[2] = {family_->log_marginal(stats[0]), family_->log_marginal(stats[1])};
  for (; node != guide.root(); node = guide.parent(node)) {
    const std::span<const std::uint32_t> block = items_below(guide.sibling(node));
    if (block.empty()) continue;
    family_->clear(block_.data());
    for (const std::uint32_t item : block) family_->add(block_.data(), (*rows_)[items[item]]);
    work_ += 2 * kWorkOfUnion + block.size();
    double joined[2];
    double log_weight[2];
    for (std::size_t group = 0; group < 2; ++group) {
      std::copy_n(stats[group], stats_size, merged_.begin());
      family_->merge(merged_.data(), block_.data());
      joined[group] = family_->log_marginal(merged_.data());
      log_weight[group] = joined[group] - log_marginal[group] +
                          prior_->log_kappa(sizes[group] + block.size()) - prior_->log_kappa(sizes[group]);
    }
    const double first = 1.0 / (1.0 + std::exp(log_weight[1] - log_weight[0]));
    const std::size_t group = draw_uniform(stream) < first ? 0 : 1;
    family_->merge(stats[group], block_.data());
    log_marginal[group] = joined[group];
    put(block, group);
  }
  pair.launch_given(anchor_a, anchor_b, items, sides_);
}

}  // namespace coppice::nrmm
