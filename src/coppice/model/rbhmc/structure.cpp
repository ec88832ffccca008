#include "coppice/model/rbhmc/structure.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/model/rbhmc/informed.hpp"
#include "coppice/prior/hdp.hpp"

namespace coppice::rbhmc {
namespace {

constexpr std::size_t kMostByRows = 10;
/// Beyond, a Gaussian proposal costs more than the splits it wins.
constexpr std::size_t kInformedDimensionsOfANode = 64;

}  // namespace

void StructureMoves::at_level(State& state, std::size_t level, Stream& stream, Stream& discriminants) {
  const Options& options = state.options();
  // A tenth of the rows, but never so many that a sweep would cost more than in proportion to the rows.
  const std::size_t pairs = options.split_merge_moves == Options::kByRows
                                ? std::clamp<std::size_t>(state.rows() / 10, 1, kMostByRows)
                                : options.split_merge_moves;
  for (std::size_t move = 0; move < pairs; ++move) split_or_merge(state, level, stream, discriminants);
  if (level < 2) return;
  const std::size_t grafts =
      options.regraft_moves == Options::kByRows
          ? std::clamp<std::size_t>(state.tree().at_level(level).size() / 5, 1, kMostByRows)
          : options.regraft_moves;
  for (std::size_t move = 0; move < grafts; ++move) regraft(state, level, stream);
}

NodeId StructureMoves::node_of_unit(const State& state, std::size_t level, std::uint32_t unit) const {
  return level == state.tree().depth() ? state.tree().leaf(unit) : state.tree().parent(unit);
}

/// An ordered pair of distinct units with the same grandparent, uniformly among all such pairs.
bool StructureMoves::choose_pair(const State& state, std::size_t level, Stream& stream) {
  const LevelTree& tree = state.tree();
  const bool rows_are_units = level == tree.depth();
  const auto units_below = [&](NodeId node) {
    if (rows_are_units) return tree.size(node);
    std::size_t count = 0;
    for (const NodeId child : tree.children(node)) count += tree.children(child).size();
    return count;
  };
  weights_.clear();
  double total = 0.0;
  for (const NodeId node : tree.at_level(level - 1)) {
    const auto count = static_cast<double>(units_below(node));
    weights_.push_back(count * (count - 1.0));
    total += weights_.back();
  }
  if (total <= 0.0) return false;
  parent_ = tree.at_level(level - 1)[draw_categorical(stream, weights_)];
  const std::size_t count = units_below(parent_);
  std::size_t places[2] = {draw_index(stream, count), draw_index(stream, count - 1)};
  if (places[1] >= places[0]) ++places[1];
  for (std::size_t i = 0; i < 2; ++i) {
    std::size_t place = places[i];
    for (const NodeId child : tree.children(parent_)) {
      const std::size_t here = rows_are_units ? tree.size(child) : tree.children(child).size();
      if (place < here) {
        units_[i] = rows_are_units ? tree.members(child)[place] : tree.children(child)[place];
        break;
      }
      place -= here;
    }
  }
  return true;
}

void StructureMoves::units_of(const State& state, std::size_t level, NodeId node,
                              std::vector<std::uint32_t>& units) const {
  const LevelTree& tree = state.tree();
  if (level == tree.depth())
    units.insert(units.end(), tree.members(node).begin(), tree.members(node).end());
  else
    units.insert(units.end(), tree.children(node).begin(), tree.children(node).end());
}

void StructureMoves::rows_of(const State& state, std::size_t level, std::span<const std::uint32_t> units,
                             std::vector<std::uint32_t>& rows) const {
  rows.clear();
  for (const std::uint32_t unit : units) {
    if (level == state.tree().depth())
      rows.push_back(unit);
    else
      state.tree().rows_below(unit, rows);
  }
}

void StructureMoves::clear(Side& side, std::size_t slots) const {
  side.customers.assign(slots, 0.0);
  side.total = 0.0;
  side.rows = 0.0;
}

void StructureMoves::add(const State& state, std::size_t level, std::uint32_t unit, Side& side) const {
  if (level == state.tree().depth()) {
    side.customers[static_cast<std::size_t>(state.components().label(unit))] += 1.0;
    side.total += 1.0;
    side.rows += 1.0;
    return;
  }
  const double* tables = state.tables(unit);
  for (std::size_t k = 0; k < side.customers.size(); ++k) {
    side.customers[k] += tables[k];
    side.total += tables[k];
  }
  side.rows += static_cast<double>(state.tree().size(unit));
}

double StructureMoves::log_gain(const State& state, std::size_t level, std::uint32_t unit,
                                const Side& side) const {
  const double gamma = state.gamma();
  const double* weights = state.weights(parent_);
  if (level == state.tree().depth()) {
    const auto k = static_cast<std::size_t>(state.components().label(unit));
    return std::log((side.customers[k] + gamma * weights[k]) / (side.total + gamma));
  }
  const double* tables = state.tables(unit);
  double total = 0.0;
  double customers = 0.0;
  for (std::size_t k = 0; k < side.customers.size(); ++k) {
    if (tables[k] == 0.0) continue;
    total += log_rising(gamma * weights[k] + side.customers[k], tables[k]);
    customers += tables[k];
  }
  return total - log_rising(gamma + side.total, customers);
}

double StructureMoves::log_probability(const State& state, const Side& side) const {
  return log_dirichlet_multinomial(side.customers, {state.weights(parent_), side.customers.size()},
                                   state.gamma(), state.gamma());
}

void StructureMoves::move_unit(State& state, std::size_t level, std::uint32_t unit, NodeId to) const {
  if (level == state.tree().depth())
    state.tree().move_row(unit, to);
  else
    state.tree().move_subtree(unit, to);
}

void StructureMoves::begin_changes() {
  touched_.clear();
  kept_own_.clear();
  kept_best_.clear();
  kept_rival_.clear();
  change_ = 0.0;
}

template <typename Change>
void StructureMoves::change_row(State& state, std::uint32_t row, Change&& change) {
  const std::size_t depth = state.tree().depth();
  Margins& margins = state.margins();
  touched_.push_back(row);
  kept_own_.insert(kept_own_.end(), margins.own(row), margins.own(row) + depth);
  kept_best_.insert(kept_best_.end(), margins.best(row), margins.best(row) + depth);
  kept_rival_.insert(kept_rival_.end(), margins.rival(row), margins.rival(row) + depth);
  change_ -= margins.hinge(row);
  change();
  change_ += margins.hinge(row);
}

void StructureMoves::undo_changes(State& state) const {
  const std::size_t depth = state.tree().depth();
  Margins& margins = state.margins();
  for (std::size_t i = touched_.size(); i-- > 0;) {
    std::copy_n(kept_own_.data() + i * depth, depth, margins.own(touched_[i]));
    std::copy_n(kept_best_.data() + i * depth, depth, margins.best(touched_[i]));
    std::copy_n(kept_rival_.data() + i * depth, depth, margins.rival(touched_[i]));
  }
}

double StructureMoves::gates_between_children(const State& state, std::span<const NodeId> parents) const {
  double total = 0.0;
  for (const NodeId parent : parents)
    if (!state.tree().is_leaf(parent)) total += state.margins().gates().total(state.tree(), parent);
  return total;
}

void StructureMoves::refresh_gates(State& state, std::span<const NodeId> parents) const {
  for (const NodeId parent : parents)
    if (!state.tree().is_leaf(parent)) state.margins().gates().refresh(state.tree(), parent);
}

void StructureMoves::refresh_below(State& state, NodeId node, std::size_t first, std::size_t last) {
  state.tree().for_each_row_below(node, [&](std::uint32_t row) {
    change_row(state, row, [&] { state.margins().refresh_row(row, state.tree(), first, last); });
  });
}

void StructureMoves::sibling_came(State& state, NodeId node, NodeId fresh) {
  Margins& margins = state.margins();
  const std::size_t level = state.tree().level(fresh);
  state.tree().for_each_row_below(node, [&](std::uint32_t row) {
    const double score = margins.score(margins.eta(fresh), row);
    if (score <= margins.best(row)[level - 1]) return;
    change_row(state, row, [&] {
      margins.best(row)[level - 1] = score;
      margins.rival(row)[level - 1] = fresh;
    });
  });
}

void StructureMoves::sibling_went(State& state, NodeId node, NodeId gone) {
  Margins& margins = state.margins();
  const std::size_t level = state.tree().level(node);
  state.tree().for_each_row_below(node, [&](std::uint32_t row) {
    if (margins.rival(row)[level - 1] != gone) return;
    change_row(state, row, [&] { margins.refresh_row(row, state.tree(), level, level); });
  });
}

void StructureMoves::split_or_merge(State& state, std::size_t level, Stream& stream, Stream& discriminants) {
  LevelTree& tree = state.tree();
  Margins& margins = state.margins();
  if (!choose_pair(state, level, stream)) return;
  const NodeId first = node_of_unit(state, level, units_[0]);
  const NodeId second = node_of_unit(state, level, units_[1]);
  const bool is_split = first == second;
  const std::size_t slots = state.slots();

  others_.clear();
  units_of(state, level, first, others_);
  if (!is_split) units_of(state, level, second, others_);
  std::erase_if(others_, [&](std::uint32_t unit) { return unit == units_[0] || unit == units_[1]; });
  shuffle(stream, others_);
  for (std::size_t side = 0; side < 2; ++side) {
    clear(sides_[side], slots);
    add(state, level, units_[side], sides_[side]);
  }
  side_of_.resize(others_.size());
  double log_q = 0.0;
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const std::uint32_t unit = others_[i];
    const double zero = std::log(sides_[0].rows) + log_gain(state, level, unit, sides_[0]);
    const double one = std::log(sides_[1].rows) + log_gain(state, level, unit, sides_[1]);
    const double log_zero = log_logistic(zero - one);
    const double log_one = log_logistic(one - zero);
    const bool to_one =
        is_split ? std::log(draw_uniform(stream)) < log_one : node_of_unit(state, level, unit) == second;
    side_of_[i] = to_one ? 1 : 0;
    log_q += to_one ? log_one : log_zero;
    add(state, level, unit, sides_[to_one ? 1 : 0]);
  }

  const double rows_a = sides_[0].rows;
  const double rows_b = sides_[1].rows;
  const double alpha = state.alpha();
  Side& joint = joint_;
  clear(joint, slots);
  for (const Side& side : sides_) {
    for (std::size_t k = 0; k < slots; ++k) joint.customers[k] += side.customers[k];
    joint.total += side.total;
    joint.rows += side.rows;
  }
  double log_ratio = std::log(alpha) + log_gamma(rows_a) + log_gamma(rows_b) - log_gamma(rows_a + rows_b) +
                     log_probability(state, sides_[0]) + log_probability(state, sides_[1]) -
                     log_probability(state, joint) - log_q;
  if (level < tree.depth()) log_ratio += log_rising(alpha + rows_b, rows_a) - log_rising(alpha, rows_a);
  MoveCount& count = is_split ? splits_ : merges_;
  ++count.proposed;

  // The units of the second side, which form a node of their own in the split state.
  sides_of_one_.assign(1, units_[1]);
  for (std::size_t i = 0; i < others_.size(); ++i)
    if (side_of_[i] == 1) sides_of_one_.push_back(others_[i]);
  const std::size_t last_level = std::min(level + 1, tree.depth());
  const bool informed =
      margins.active() && state.options().informed && margins.dimension() <= kInformedDimensionsOfANode;
  eta_.resize(margins.stride());
  if (informed) rows_of(state, level, sides_of_one_, members_);

  if (is_split) {
    if (informed) {
      const InformedProposal proposal(margins, tree, parent_, members_, LevelTree::kNone);
      proposal.draw(discriminants, eta_.data());
      log_ratio -= proposal.log_ratio_to_prior(eta_.data());
    } else {
      margins.draw_prior(discriminants, eta_.data());
    }
    const double log_uniform = std::log(draw_uniform(stream));
    if (!margins.active() && !(log_uniform < log_ratio)) return;
    const bool has_gates = margins.active() && margins.gated();
    const NodeId joined[] = {parent_, first};
    const double gates_before = has_gates ? gates_between_children(state, joined) : 0.0;
    const NodeId fresh = tree.add_child(parent_);
    state.fit_nodes();
    state.clear_node(fresh);
    std::copy(eta_.begin(), eta_.end(), margins.eta(fresh));
    for (const std::uint32_t unit : sides_of_one_) move_unit(state, level, unit, fresh);
    if (margins.active()) {
      begin_changes();
      if (has_gates) {
        const NodeId apart[] = {parent_, first, fresh};
        margins.set_gate(fresh);
        refresh_gates(state, apart);
        change_ = -0.5 * (gates_between_children(state, apart) - gates_before);
      } else {
        refresh_below(state, fresh, level, last_level);
        for (const NodeId sibling : tree.children(parent_))
          if (sibling != fresh) sibling_came(state, sibling, fresh);
        if (level < last_level) refresh_below(state, first, last_level, last_level);
      }
      log_ratio -= 2.0 * margins.penalty() * change_;
      if (!(log_uniform < log_ratio)) {
        for (const std::uint32_t unit : sides_of_one_) move_unit(state, level, unit, first);
        tree.remove(fresh);
        undo_changes(state);
        if (has_gates) refresh_gates(state, joined);
        return;
      }
    }
    std::copy_n(sides_[0].customers.data(), slots, state.counts(first));
    std::copy_n(sides_[1].customers.data(), slots, state.counts(fresh));
    ++count.accepted;
    return;
  }

  double log_merge = -log_ratio;
  if (informed) {
    const InformedProposal proposal(margins, tree, parent_, members_, second);
    log_merge += proposal.log_ratio_to_prior(margins.eta(second));
  }
  const double log_uniform = std::log(draw_uniform(stream));
  if (!margins.active() && !(log_uniform < log_merge)) return;
  const bool has_gates = margins.active() && margins.gated();
  const NodeId apart[] = {parent_, first, second};
  const double gates_before = has_gates ? gates_between_children(state, apart) : 0.0;
  if (margins.active()) std::copy_n(margins.eta(second), margins.stride(), eta_.data());
  for (const std::uint32_t unit : sides_of_one_) move_unit(state, level, unit, first);
  tree.remove(second);
  if (margins.active()) {
    begin_changes();
    if (has_gates) {
      const NodeId joined[] = {parent_, first};
      refresh_gates(state, joined);
      change_ = -0.5 * (gates_between_children(state, joined) - gates_before);
    } else {
      refresh_below(state, first, level, last_level);
      for (const NodeId sibling : tree.children(parent_))
        if (sibling != first) sibling_went(state, sibling, second);
    }
    log_merge -= 2.0 * margins.penalty() * change_;
    if (!(log_uniform < log_merge)) {
      // Scores that are restored name the node by its id, and the pool gives the last one freed.
      const NodeId again = tree.add_child(parent_);
      if (again != second) fail(ErrorCode::bug, "rbhmc: a node came back as {} instead of {}", again, second);
      state.fit_nodes();
      std::copy(eta_.begin(), eta_.end(), margins.eta(again));
      for (const std::uint32_t unit : sides_of_one_) move_unit(state, level, unit, again);
      undo_changes(state);
      if (has_gates) {
        margins.set_gate(again);
        refresh_gates(state, apart);
      }
      return;
    }
  }
  std::copy_n(joint.customers.data(), slots, state.counts(first));
  ++count.accepted;
}

void StructureMoves::regraft(State& state, std::size_t level, Stream& stream) {
  LevelTree& tree = state.tree();
  Margins& margins = state.margins();
  const std::span<const NodeId> nodes = tree.at_level(level);
  const NodeId node = nodes[draw_index(stream, nodes.size())];
  const NodeId parent = tree.parent(node);
  if (tree.children(parent).size() < 2) return;
  const std::span<const NodeId> targets = tree.at_level(level - 1);
  const auto size = static_cast<double>(tree.size(node));
  const double alpha = state.alpha();
  const std::size_t slots = state.slots();
  ++regrafts_.proposed;
  std::vector<double>& log_weights = weights_;
  log_weights.assign(targets.size(), 0.0);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    double total = log_dirichlet_multinomial({state.counts(node), slots}, {state.weights(targets[i]), slots},
                                             state.gamma(), state.gamma());
    for (NodeId above = targets[i]; above != LevelTree::kNone; above = tree.parent(above)) {
      // Sizes without the node's rows.
      const bool holds = tree.ancestor(node, tree.level(above)) == above;
      const double others = static_cast<double>(tree.size(above)) - (holds ? size : 0.0);
      total -= log_rising(alpha + others, size);
      if (above != LevelTree::kRoot) total += log_rising(others, size);
    }
    log_weights[i] = total;
  }
  const NodeId target = targets[draw_from_logs(stream, log_weights)];
  if (target == parent) {
    ++regrafts_.accepted;
    return;
  }
  const NodeId common = tree.common_ancestor(parent, target);
  const bool has_gates = margins.active() && margins.gated();
  double gates_before = 0.0;
  if (has_gates) {
    changed_.assign(1, common);
    for (const NodeId below : {parent, target})
      for (NodeId above = below; above != common; above = tree.parent(above)) changed_.push_back(above);
    gates_before = gates_between_children(state, changed_);
  }
  tree.move_subtree(node, target);
  if (margins.active()) {
    begin_changes();
    if (has_gates) {
      refresh_gates(state, changed_);
      change_ = -0.5 * (gates_between_children(state, changed_) - gates_before);
    } else {
      refresh_below(state, node, tree.level(common) + 1, level);
      for (const NodeId sibling : tree.children(parent)) sibling_went(state, sibling, node);
      for (const NodeId sibling : tree.children(target))
        if (sibling != node) sibling_came(state, sibling, node);
    }
    if (!(std::log(draw_uniform(stream)) < -2.0 * margins.penalty() * change_)) {
      tree.move_subtree(node, parent);
      undo_changes(state);
      if (has_gates) refresh_gates(state, changed_);
      return;
    }
  }
  ++regrafts_.accepted;
}

}  // namespace coppice::rbhmc
