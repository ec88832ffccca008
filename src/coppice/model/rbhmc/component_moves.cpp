#include "coppice/model/rbhmc/component_moves.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/prior/hdp.hpp"

namespace coppice::rbhmc {
namespace {

/// Scans between the launch and the proposal: without them a launch often divides the rows in another way
/// than the one that a merge must be able to undo.
constexpr std::size_t kLaunchScans = 2;

std::vector<double> logs_up_to(std::size_t rows) {
  std::vector<double> table(rows + 1, kMinusInfinity);
  for (std::size_t n = 1; n <= rows; ++n) table[n] = std::log(static_cast<double>(n));
  return table;
}

}  // namespace

void TreePairPrior::use(const State& state) {
  tree_ = &state.tree();
  gamma_ = state.gamma();
  clear();
}

void TreePairPrior::clear() { rows_.assign(2 * tree_->capacity(), 0.0); }

void TreePairPrior::change(std::uint32_t item, std::size_t group, double by) {
  NodeId node = tree_->leaf(item);
  for (std::size_t level = tree_->depth(); level >= 1; --level, node = tree_->parent(node))
    rows_[2 * node + group] += by;
  rows_[2 * LevelTree::kRoot + group] += by;
}

double TreePairPrior::log_odds(std::uint32_t item) const {
  // From the root down: the share of group 1, which at a node is drawn to that of its parent.
  const auto share_at = [&](auto&& self, NodeId node, std::size_t level) -> double {
    const double zero = rows_[2 * node];
    const double one = rows_[2 * node + 1];
    if (level == 0) return one / (zero + one);
    return (one + gamma_ * self(self, tree_->parent(node), level - 1)) / (zero + one + gamma_);
  };
  const double share = share_at(share_at, tree_->leaf(item), tree_->depth());
  return std::log(share) - std::log1p(-share);
}

ComponentMoves::ComponentMoves(const Problem& problem)
    : family_(problem.family),
      log_join_(logs_up_to(problem.rows->size())),
      pair_(*problem.family, *problem.rows, log_join_),
      merged_(problem.family->stats_size()) {}

void ComponentMoves::seat(const State& state, std::span<const std::uint32_t> members, Dish& dish) const {
  const LevelTree& tree = state.tree();
  dish.customers.assign(tree.capacity(), 0.0);
  dish.tables.assign(tree.capacity(), 0.0);
  dish.rows.assign(tree.capacity(), 0.0);
  dish.log_ratio = 0.0;
  for (const std::uint32_t row : members) dish.customers[tree.leaf(row)] += 1.0;
  for (const NodeId leaf : tree.at_level(tree.depth())) dish.rows[leaf] = dish.customers[leaf];
  for (std::size_t level = tree.depth(); level >= 1; --level)
    for (const NodeId node : tree.at_level(level)) dish.rows[tree.parent(node)] += dish.rows[node];
}

void ComponentMoves::set_tables(const State& state, Dish& dish, Label slot, Stream* stream) const {
  const LevelTree& tree = state.tree();
  for (std::size_t level = tree.depth(); level >= 1; --level)
    for (const NodeId node : tree.at_level(level)) {
      const double customers = dish.customers[node];
      if (customers == 0.0) continue;
      const NodeId parent = tree.parent(node);
      const double share = dish.rows[parent] / (static_cast<double>(tree.size(parent)) + 1.0);
      const double mass = state.gamma() * share;
      double& tables = dish.tables[node];
      tables =
          slot >= 0
              ? state.tables(node)[static_cast<std::size_t>(slot)]
              : static_cast<double>(draw_table_count(*stream, static_cast<std::uint64_t>(customers), mass));
      dish.log_ratio += log_rising(mass, customers) - tables * std::log(share);
      dish.customers[parent] += tables;
    }
}

void ComponentMoves::write(State& state, Label slot, const Dish& dish) const {
  const auto k = static_cast<std::size_t>(slot);
  for (std::size_t level = 0; level <= state.tree().depth(); ++level)
    for (const NodeId node : state.tree().at_level(level)) {
      state.counts(node)[k] = dish.customers[node];
      state.tables(node)[k] = dish.tables[node];
    }
}

double ComponentMoves::log_tables(const State& state, bool merged_is_present) const {
  constexpr NodeId kRoot = LevelTree::kRoot;
  double total = parts_[0].log_ratio + parts_[1].log_ratio - joint_.log_ratio + std::log(state.gamma0()) +
                 log_gamma(parts_[0].customers[kRoot]) + log_gamma(parts_[1].customers[kRoot]) -
                 log_gamma(joint_.customers[kRoot]);
  for (std::size_t level = 0; level < state.tree().depth(); ++level)
    for (const NodeId node : state.tree().at_level(level)) {
      const double together = joint_.customers[node];
      const double apart = parts_[0].customers[node] + parts_[1].customers[node];
      if (together == apart) continue;
      double present = 0.0;
      for (std::size_t k = 0; k < state.slots(); ++k) present += state.counts(node)[k];
      const double others = present - (merged_is_present ? together : apart);
      const double concentration = node == kRoot ? state.gamma0() : state.gamma();
      const double base = concentration + others;
      total += log_rising(base, together) - log_rising(base, apart);
    }
  return total;
}

void ComponentMoves::launch(std::uint32_t a, std::uint32_t b, Stream& stream) {
  pair_.launch_sequential(a, b, items_, stream);
  for (std::size_t scan = 0; scan < kLaunchScans; ++scan) pair_.scan(stream);
}

void ComponentMoves::step(State& state, Stream& stream) {
  const std::size_t rows = state.rows();
  if (rows < 2) return;
  const Clusters& components = state.components();
  family_ = &components.family();
  pair_.use(*family_, components.data());
  pair_prior_.use(state);
  pair_.set_prior(&pair_prior_);
  const auto a = static_cast<std::uint32_t>(draw_index(stream, rows));
  const Label first = components.label(a);
  // Half of the moves try to split and half to merge, however many components there are.
  const bool is_split = draw_uniform(stream) < 0.5;
  const std::size_t partners = is_split ? components.size(first) - 1 : rows - components.size(first);
  if (partners == 0) return;
  std::size_t place = draw_index(stream, partners);
  std::uint32_t b = 0;
  for (std::uint32_t row = 0; row < rows; ++row)
    if (row != a && (components.label(row) == first) == is_split && place-- == 0) {
      b = row;
      break;
    }
  const Label second = components.label(b);
  MoveCount& count = is_split ? splits_ : merges_;
  ++count.proposed;

  components.members(first, second, items_);
  all_ = items_;
  std::erase_if(items_, [&](std::uint32_t row) { return row == a || row == b; });
  shuffle(stream, items_);
  const double log_uniform = std::log(draw_uniform(stream));

  // The merged state and the split one, whichever is the present one; what is not there is drawn.
  double log_q = 0.0;
  double log_marginals = 0.0;  // of the split state against the merged one
  members_[0].assign(1, a);
  members_[1].assign(1, b);
  seat(state, all_, joint_);
  set_tables(state, joint_, is_split ? first : -1, &stream);
  if (is_split) {
    launch(a, b, stream);
    log_q = pair_.scan(stream);
    for (std::size_t i = 0; i < items_.size(); ++i) members_[pair_.sides()[i]].push_back(items_[i]);
    log_marginals = pair_.log_marginal(0) + pair_.log_marginal(1) - components.log_marginal(first);
  } else {
    target_.resize(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i) {
      target_[i] = components.label(items_[i]) == second ? 1 : 0;
      members_[target_[i]].push_back(items_[i]);
    }
    std::copy_n(components.stats(first), family_->stats_size(), merged_.begin());
    family_->merge(merged_.data(), components.stats(second));
    log_marginals = components.log_marginal(first) + components.log_marginal(second) -
                    family_->log_marginal(merged_.data());
  }
  for (std::size_t side = 0; side < 2; ++side) {
    seat(state, members_[side], parts_[side]);
    set_tables(state, parts_[side], is_split ? -1 : (side == 0 ? first : second), &stream);
  }
  double log_split = log_marginals + log_tables(state, is_split);
  // The partner is chosen among the others of the component, or among the rows of other components.
  log_split += std::log(static_cast<double>(all_.size() - 1)) -
               std::log(static_cast<double>(rows - members_[0].size()));
  if (!is_split) {
    // The probability of the division is at most one: most merges are refused without asking for it.
    if (!(log_uniform < -log_split)) return;
    launch(a, b, stream);
    log_q = pair_.scan_forced(target_);
  }
  log_split -= log_q;
  const double log_ratio = is_split ? log_split : -log_split;
  if (!(log_uniform < log_ratio)) return;
  ++count.accepted;
  if (is_split) {
    const Label fresh = state.split_component(first, members_[1]);
    write(state, first, parts_[0]);
    write(state, fresh, parts_[1]);
  } else {
    state.merge_components(first, second);
    write(state, first, joint_);
    seat(state, {}, parts_[1]);
    write(state, second, parts_[1]);
  }
}

}  // namespace coppice::rbhmc
