#include "coppice/model/rbhmc/block_moves.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/prior/hdp.hpp"

namespace coppice::rbhmc {
namespace {

/// Beta-binomial masses of a share: most of the rows of a dish end up on one side, as its tables want it.
constexpr double kShareMass = 0.3;

/// The part of the nested Chinese restaurant process and of the leaves' totals that belongs to one node: its
/// table at its parent, and the denominator of its own.
double log_of_node(double size, bool is_leaf, double alpha, double gamma) {
  if (size == 0.0) return 0.0;
  return std::log(alpha) + log_gamma(size) - log_rising(is_leaf ? gamma : alpha, size);
}

/// The same, when `joining` rows come to it: what they multiply it by.
double log_of_joining(double size, double joining, bool is_leaf, double alpha, double gamma) {
  if (size == 0.0) return log_of_node(joining, is_leaf, alpha, gamma);
  return log_rising(size, joining) - log_rising((is_leaf ? gamma : alpha) + size, joining);
}

double log_beta(double a, double b) { return log_gamma(a) + log_gamma(b) - log_gamma(a + b); }

}  // namespace

void BlockMoves::step(State& state, Stream& stream) {
  if (state.margins().active() && !state.margins().rewards_splits()) return;
  if (draw_uniform(stream) < 0.5)
    move_block(state, stream);
  else
    move_share(state, stream);
}

void BlockMoves::choose_source(const State& state, Stream& stream) {
  const std::size_t row = draw_index(stream, state.rows());
  source_ = state.tree().leaf(row);
  dish_ = static_cast<std::size_t>(state.components().label(row));
  count_ = state.counts(source_)[dish_];
  const LevelTree& tree = state.tree();
  rows_below_.assign(tree.capacity(), 0.0);
  for (const NodeId leaf : tree.at_level(tree.depth())) {
    const double rows = state.counts(leaf)[dish_];
    if (rows == 0.0) continue;
    for (NodeId node = leaf; node != LevelTree::kNone; node = tree.parent(node)) rows_below_[node] += rows;
  }
}

void BlockMoves::list_places(const State& state) {
  const LevelTree& tree = state.tree();
  const double alpha = state.alpha();
  const double gamma = state.gamma();
  // The lowest node above the source that others keep alive, or the source itself.
  NodeId present = source_;
  while (present != LevelTree::kRoot && static_cast<double>(tree.size(present)) == count_)
    present = tree.parent(present);
  places_.assign(1, present);
  log_weights_.assign(1, 0.0);
  prefix_.assign(tree.capacity(), 0.0);
  serves_.assign(tree.capacity(), 1.0);
  const auto components = static_cast<double>(state.components().clusters());
  const Margins& margins = state.margins();
  const SplitEvidence& evidence = margins.evidence();
  const bool has_evidence = margins.active() && margins.by_evidence();
  if (has_evidence) {
    evidence.clear(group_);
    for (const std::uint32_t row : tree.members(source_))
      if (static_cast<std::size_t>(state.components().label(row)) == dish_)
        evidence.add_row(group_, row, margins.feature_rows());
  }
  // A new branch below a node of this level: everything under it is alone.
  const auto branch_below = [&](std::size_t level) {
    double total = 0.0;
    for (std::size_t below = level + 1; below <= tree.depth(); ++below)
      total += log_of_node(count_, below == tree.depth(), alpha, gamma);
    if (has_evidence) total += margins.penalty() * evidence.power(level + 1) * evidence.log_density(group_);
    return total;
  };
  for (std::size_t level = 0; level <= tree.depth(); ++level) {
    const bool is_leaf = level == tree.depth();
    const double branch = is_leaf ? 0.0 : branch_below(level);
    for (const NodeId node : tree.at_level(level)) {
      const bool holds = tree.ancestor(source_, level) == node;
      const double size = static_cast<double>(tree.size(node)) - (holds ? count_ : 0.0);
      if (level > 0) {
        if (size == 0.0) continue;  // it is the block's own
        prefix_[node] = prefix_[tree.parent(node)] + log_of_joining(size, count_, is_leaf, alpha, gamma);
        if (has_evidence)
          prefix_[node] += margins.penalty() * evidence.weight(level) * evidence.growth(node, group_, holds);
        // A guess at the probability that a new table below the node gets the dish: as if every component
        // had one table there.
        const bool is_served = rows_below_[node] > (holds ? count_ : 0.0);
        serves_[node] = ((is_served ? 1.0 : 0.0) + gamma * serves_[tree.parent(node)]) /
                        (std::min(size, components) + gamma);
      }
      if (is_leaf && node != source_ && state.counts(node)[dish_] > 0.0) continue;
      const double weight = prefix_[node] + branch + std::log(serves_[is_leaf ? tree.parent(node) : node]);
      if (node == present) {
        log_weights_[0] = weight;
        continue;
      }
      places_.push_back(node);
      log_weights_.push_back(weight);
    }
  }
}

void BlockMoves::set_paths(const State& state, NodeId to) {
  const LevelTree& tree = state.tree();
  for (std::vector<Site>& path : paths_) path.assign(tree.depth() + 1, Site());
  const NodeId ends[] = {source_, to};
  for (std::size_t side = 0; side < 2; ++side)
    for (NodeId node = ends[side]; node != LevelTree::kNone; node = tree.parent(node)) {
      Site& site = paths_[side][tree.level(node)];
      site.node = node;
      site.size = static_cast<double>(tree.size(node));
      site.rows = rows_below_[node];
      site.customers = state.counts(node)[dish_];
      site.tables = node == LevelTree::kRoot ? 0.0 : state.tables(node)[dish_];
    }
  shared_ = tree.level(tree.common_ancestor(source_, to));
}

template <typename Visit>
void BlockMoves::for_each_site(Visit&& visit) {
  for (std::size_t level = paths_[0].size(); level-- > 0;)
    for (std::size_t side = 0; side < (is_shared(level) ? 1U : 2U); ++side) visit(level, side);
}

double BlockMoves::reseat(const State& state, double moved, Stream& stream) {
  const std::size_t depth = state.tree().depth();
  const double alpha = state.alpha();
  const double gamma = state.gamma();
  for_each_site([&](std::size_t level, std::size_t side) {
    Site& site = paths_[side][level];
    const double change = is_shared(level) ? 0.0 : side == 0 ? -moved : moved;
    site.size_after = site.size + change;
    site.rows_after = site.rows + change;
  });
  double log_ratio = 0.0;
  for_each_site([&](std::size_t level, std::size_t side) {
    Site& site = paths_[side][level];
    if (level == depth) {
      site.customers_after = site.rows_after;
    } else {
      site.customers_after = site.customers;
      for (std::size_t below = 0; below < 2; ++below) {
        // A node that both paths share has the children of both, or one that they share too.
        if (is_shared(level) ? (is_shared(level + 1) && below == 1) : below != side) continue;
        const Site& child = paths_[below][level + 1];
        site.customers_after += child.tables_after - child.tables;
      }
      double total = 0.0;
      if (site.node != LevelTree::kNone)
        for (std::size_t k = 0; k < state.slots(); ++k) total += state.counts(site.node)[k];
      const double after = total + site.customers_after - site.customers;
      const double concentration = level == 0 ? state.gamma0() : gamma;
      log_ratio += log_rising(concentration, total) - log_rising(concentration, after);
    }
    if (level == 0) {
      log_ratio += log_gamma(site.customers_after) - log_gamma(site.customers);
      return;
    }
    log_ratio += log_of_node(site.size_after, level == depth, alpha, gamma) -
                 log_of_node(site.size, level == depth, alpha, gamma);
    const Site& parent = paths_[is_shared(level - 1) ? 0 : side][level - 1];
    if (site.customers > 0.0) {
      const double share = parent.rows / (parent.size + 1.0);
      log_ratio -= log_rising(gamma * share, site.customers) - site.tables * std::log(share);
    }
    site.tables_after = 0.0;
    if (site.customers_after > 0.0) {
      const double share = parent.rows_after / (parent.size_after + 1.0);
      site.tables_after = static_cast<double>(
          draw_table_count(stream, static_cast<std::uint64_t>(site.customers_after), gamma * share));
      log_ratio += log_rising(gamma * share, site.customers_after) - site.tables_after * std::log(share);
    }
  });
  return log_ratio;
}

void BlockMoves::write_seats(State& state, bool after) {
  for_each_site([&](std::size_t level, std::size_t side) {
    const Site& site = paths_[side][level];
    if (site.node == LevelTree::kNone) return;
    state.counts(site.node)[dish_] = after ? site.customers_after : site.customers;
    if (level > 0) state.tables(site.node)[dish_] = after ? site.tables_after : site.tables;
  });
}

void BlockMoves::list_split_parents(const State& state) {
  parents_.clear();
  for_each_site([&](std::size_t level, std::size_t side) {
    const NodeId node = paths_[side][level].node;
    if (level < state.tree().depth() && level >= shared_ && node != LevelTree::kNone)
      parents_.push_back(node);
  });
}

/// Of the rows of the dish in both leaves, as many as are kept, at random, are or come in the source.
void BlockMoves::list_rows(const State& state, Stream& stream) {
  const LevelTree& tree = state.tree();
  const NodeId target = paths_[1][tree.depth()].node;
  pool_.clear();
  for (const NodeId leaf : {source_, target})
    for (const std::uint32_t row : tree.members(leaf))
      if (static_cast<std::size_t>(state.components().label(row)) == dish_) pool_.push_back(row);
  if (kept_ > 0.0) shuffle(stream, pool_);
  outgoing_.clear();
  incoming_.clear();
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    const bool is_kept = static_cast<double>(i) < kept_;
    const NodeId leaf = tree.leaf(pool_[i]);
    if (is_kept && leaf == target) incoming_.push_back(pool_[i]);
    if (!is_kept && leaf == source_) outgoing_.push_back(pool_[i]);
  }
}

/// Makes the branch, if there is to be one, and moves the rows. Nodes left empty stay.
void BlockMoves::apply(State& state, Stream& stream) {
  LevelTree& tree = state.tree();
  branch_ = LevelTree::kNone;
  for (std::size_t level = 1; level <= tree.depth(); ++level) {
    Site& site = paths_[is_shared(level) ? 0 : 1][level];
    if (site.node != LevelTree::kNone) continue;
    site.node = tree.add_child(paths_[is_shared(level - 1) ? 0 : 1][level - 1].node);
    state.fit_nodes();
    state.clear_node(site.node);
    state.margins().draw_prior(stream, state.margins().eta(site.node));
    if (state.margins().active()) state.margins().set_node(site.node);
    if (branch_ == LevelTree::kNone) branch_ = site.node;
  }
  list_rows(state, stream);
  const NodeId target = paths_[1][tree.depth()].node;
  for (const std::uint32_t row : outgoing_) tree.move_row(row, target);
  for (const std::uint32_t row : incoming_) tree.move_row(row, source_);
  write_seats(state, true);
}

bool BlockMoves::decide(State& state, double log_ratio, Stream& stream) {
  LevelTree& tree = state.tree();
  Margins& margins = state.margins();
  const double log_uniform = std::log(draw_uniform(stream));
  if (!margins.active()) {
    if (!(log_uniform < log_ratio)) return false;
    apply(state, stream);
  } else {
    const auto rewards = [&] {
      double total = 0.0;
      for (const NodeId parent : parents_) total += margins.log_reward(tree, parent);
      return total;
    };
    const auto refresh = [&] {
      for (const NodeId parent : parents_) margins.refresh_split(tree, parent);
    };
    list_split_parents(state);
    const double before = rewards();
    apply(state, stream);
    list_split_parents(state);
    refresh();
    log_ratio += margins.penalty() * (rewards() - before);
    if (!(log_uniform < log_ratio)) {
      const NodeId target = paths_[1][tree.depth()].node;
      for (const std::uint32_t row : outgoing_) tree.move_row(row, source_);
      for (const std::uint32_t row : incoming_) tree.move_row(row, target);
      write_seats(state, false);
      refresh();
      if (branch_ != LevelTree::kNone) tree.remove(branch_);
      return false;
    }
  }
  NodeId empty = LevelTree::kNone;
  for (NodeId node = source_; node != LevelTree::kRoot && tree.size(node) == 0; node = tree.parent(node))
    empty = node;
  if (empty != LevelTree::kNone) tree.remove(empty);
  return true;
}

void BlockMoves::move_block(State& state, Stream& stream) {
  choose_source(state, stream);
  list_places(state);
  ++blocks_.proposed;
  weights_ = log_weights_;
  const std::size_t chosen = draw_from_logs(stream, weights_);
  if (chosen == 0) return;
  set_paths(state, places_[chosen]);
  kept_ = 0.0;
  const double log_ratio = reseat(state, count_, stream) + log_weights_[0] - log_weights_[chosen];
  blocks_.accepted += decide(state, log_ratio, stream);
}

void BlockMoves::move_share(State& state, Stream& stream) {
  const LevelTree& tree = state.tree();
  const std::span<const NodeId> leaves = tree.at_level(tree.depth());
  if (leaves.size() < 2) return;
  choose_source(state, stream);
  std::size_t place = draw_index(stream, leaves.size() - 1);
  if (leaves[place] == source_) place = leaves.size() - 1;
  const NodeId target = leaves[place];
  ++shares_.proposed;
  const double there = state.counts(target)[dish_];
  const double all = count_ + there;
  // How many the source keeps, from a beta-binomial law; which ones, at random.
  const double share = draw_beta_parts(stream, kShareMass, kShareMass).first;
  kept_ = static_cast<double>(draw_binomial(stream, static_cast<std::uint64_t>(all), share));
  // Leaves do not end here: that is for blocks.
  const bool is_left_empty = static_cast<double>(tree.size(source_)) - count_ + kept_ == 0.0;
  if (is_left_empty || static_cast<double>(tree.size(target)) + count_ - kept_ == 0.0) return;
  set_paths(state, target);
  const double log_ratio = reseat(state, count_ - kept_, stream) +
                           log_beta(kShareMass + count_, kShareMass + there) -
                           log_beta(kShareMass + kept_, kShareMass + all - kept_);
  shares_.accepted += decide(state, log_ratio, stream);
}

}  // namespace coppice::rbhmc
