#include "coppice/model/rbhmc/state.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/prior/hdp.hpp"
#include "coppice/prior/nested_crp.hpp"

namespace coppice::rbhmc {
namespace {

std::vector<double> no_weight_of_joining(std::size_t rows) {
  std::vector<double> table(rows + 1, 0.0);
  table[0] = kMinusInfinity;
  return table;
}

}  // namespace

State::State(const Problem& problem, const Options& options)
    : options_(options),
      initial_family_(problem.family),
      own_family_(problem.family->hyper_size() != 0 ? problem.family->clone() : nullptr),
      family_(own_family_ ? own_family_.get() : problem.family),
      filled_(std::make_unique<FilledRows>(*family_, *problem.rows)),
      data_(&filled_->rows()),
      alpha_(options.alpha.start()),
      gamma_(options.gamma.start()),
      gamma0_(options.gamma0.start()),
      tree_(problem.rows->size(), options.levels),
      margins_(problem, options),
      no_prior_(no_weight_of_joining(problem.rows->size())),
      components_(*family_, *data_, no_prior_),
      log_alone_(problem.rows->size()),
      old_eta_(margins_.stride(), 0.0) {
  data_changed();
  clear();
}

void State::weigh_alone() {
  // Where parameters are drawn, all densities of a row are those of its filled cells.
  const Rows& weighed = options_.drawn_theta ? *data_ : filled_->observed();
  if (own_family_) return family_->log_marginals_alone(weighed.cells.data(), rows(), log_alone_.data());
  std::vector<double> empty(family_->stats_size());
  family_->clear(empty.data());
  for (std::size_t row = 0; row < rows(); ++row)
    log_alone_[row] = family_->log_predictive(empty.data(), weighed[row]);
}

void State::redraw_missing(const StreamName& name) {
  filled_->redraw(components_, name);
  if (options_.drawn_theta) weigh_alone();
}

void State::reset_learned() {
  filled_->reset();
  if (options_.drawn_theta && filled_->any()) weigh_alone();
  if (!own_family_) return;
  std::vector<double> values(family_->hyper_size());
  initial_family_->get_hyper(values.data());
  own_family_->set_hyper(values.data());
  weigh_alone();
}

void State::draw_hyper_prior(Stream& stream) {
  if (!own_family_) return;
  own_family_->draw_hyper_prior(stream);
  weigh_alone();
}

void State::update_hyper(Stream& stream) {
  occupied_.clear();
  for (std::size_t slot = 0; slot < slots(); ++slot)
    if (components_.sizes()[slot] != 0) occupied_.push_back(components_.stats(static_cast<Label>(slot)));
  before_.resize(family_->hyper_size());
  family_->get_hyper(before_.data());
  own_family_->update_hyper(occupied_, stream);
  components_.rebase(before_.data());
  weigh_alone();
}

void State::data_changed() {
  weigh_alone();
  margins_.data_changed();
  if (tree_.leaf(0) != LevelTree::kNone) {
    const Labels labels(components_.labels().begin(), components_.labels().end());
    components_.assign(labels);
    if (margins_.active()) margins_.refresh_all(tree_);
  }
}

void State::clear() {
  tree_.clear();
  components_.assign(Labels(rows(), Clusters::kUnassigned));
  fit_nodes();
  std::fill(weights_.begin(), weights_.end(), 0.0);
  std::fill(counts_.begin(), counts_.end(), 0.0);
  std::fill(tables_.begin(), tables_.end(), 0.0);
  rest_[LevelTree::kRoot] = 1.0;
  margins_.clear();
}

void State::fit_nodes() {
  const std::size_t nodes = tree_.capacity();
  if (rest_.size() < nodes) {
    rest_.resize(nodes, 0.0);
    on_path_.resize(nodes, 0);
  }
  if (weights_.size() < nodes * stride_) {
    weights_.resize(nodes * stride_, 0.0);
    counts_.resize(nodes * stride_, 0.0);
    tables_.resize(nodes * stride_, 0.0);
  }
  margins_.fit(tree_);
}

void State::clear_node(NodeId node) {
  std::fill_n(weights(node), stride_, 0.0);
  std::fill_n(counts(node), stride_, 0.0);
  std::fill_n(tables_.data() + node * stride_, stride_, 0.0);
  rest_[node] = 0.0;
}

void State::fit_slots() {
  const std::size_t needed = (slots() + kLanes - 1) / kLanes * kLanes;
  if (options_.drawn_theta && thetas_.size() < slots() * family_->theta_size())
    thetas_.resize(slots() * family_->theta_size());
  if (needed <= stride_) return;
  const std::size_t wider =
      std::max(needed, stride_ + std::max<std::size_t>(kLanes, stride_ / 4 / kLanes * kLanes));
  const std::size_t nodes = rest_.size();
  const auto widen = [&](AlignedVector& values) {
    AlignedVector fresh(nodes * wider, 0.0);
    for (std::size_t node = 0; node < nodes; ++node)
      std::copy_n(values.data() + node * stride_, stride_, fresh.data() + node * wider);
    values = std::move(fresh);
  };
  widen(weights_);
  widen(counts_);
  widen(tables_);
  stride_ = wider;
}

void State::drop_column(Label slot) {
  const auto k = static_cast<std::size_t>(slot);
  for (std::size_t level = 0; level <= tree_.depth(); ++level)
    for (const NodeId node : tree_.at_level(level)) {
      if (!has_weights(node)) continue;
      rest_[node] += weights(node)[k];
      weights(node)[k] = 0.0;
    }
}

void State::new_column(Label slot, NodeId deepest, Stream& stream) {
  const auto k = static_cast<std::size_t>(slot);
  for (NodeId node = deepest; node != LevelTree::kNone; node = tree_.parent(node)) on_path_[node] = 1;
  const auto divide = [&](NodeId node, const BetaDraw& parts) {
    weights(node)[k] = parts.first * rest_[node];
    rest_[node] *= parts.second;
  };
  divide(LevelTree::kRoot, draw_beta_parts(stream, 1.0, gamma0_));
  for (std::size_t level = 1; level <= tree_.depth(); ++level)
    for (const NodeId node : tree_.at_level(level)) {
      if (!has_weights(node)) continue;
      const NodeId parent = tree_.parent(node);
      const double customer = on_path_[node] != 0 ? 1.0 : 0.0;
      divide(node, draw_beta_parts(stream, gamma_ * weights(parent)[k] + customer, gamma_ * rest_[parent]));
    }
  for (NodeId node = deepest; node != LevelTree::kNone; node = tree_.parent(node)) on_path_[node] = 0;
}

void State::draw_row(const double* parent, double parent_rest, const double* counts, Label extra,
                     Stream& stream, double* row, double& rest) {
  const std::size_t used = slots();
  shapes_.resize(used + 1);
  drawn_.resize(used + 1);
  const std::span<const std::uint32_t> sizes = components_.sizes();
  for (std::size_t k = 0; k < used; ++k) {
    const double base = parent == nullptr ? 0.0 : gamma_ * parent[k];
    shapes_[k] = sizes[k] == 0 ? 0.0 : base + (counts != nullptr ? counts[k] : 0.0);
  }
  if (extra >= 0) shapes_[static_cast<std::size_t>(extra)] += 1.0;
  shapes_[used] = parent == nullptr ? gamma0_ : gamma_ * parent_rest;
  draw_dirichlet(stream, shapes_, drawn_);
  std::copy_n(drawn_.data(), used, row);
  rest = drawn_[used];
}

Position State::detach_from_tree(std::size_t row, Branch& branch) {
  const NodeId leaf = tree_.leaf(row);
  counts(leaf)[static_cast<std::size_t>(components_.label(row))] -= 1.0;
  const bool has_rewards = margins_.active() && margins_.rewards_splits();
  if (has_rewards) margins_.row_leaves(tree_, row);
  tree_.detach(row);
  NodeId top = LevelTree::kNone;
  std::size_t nodes = 0;
  for (NodeId node = leaf; node != LevelTree::kRoot && tree_.size(node) == 0; node = tree_.parent(node)) {
    top = node;
    ++nodes;
  }
  branch.nodes = nodes;
  if (top == LevelTree::kNone) return {leaf, false};
  branch.weights.resize(std::max(branch.weights.size(), nodes));
  branch.rest.resize(std::max(branch.rest.size(), nodes));
  branch.eta.resize(std::max(branch.eta.size(), nodes));
  NodeId node = leaf;
  for (std::size_t i = nodes; i-- > 0; node = tree_.parent(node)) {
    branch.weights[i].assign(weights(node), weights(node) + stride_);
    branch.rest[i] = rest_[node];
    branch.eta[i].assign(margins_.eta(node), margins_.eta(node) + margins_.stride());
  }
  const NodeId parent = tree_.parent(top);
  if (margins_.active() && !has_rewards) branch_hinge_ = margins_.child_removed(tree_, top);
  tree_.remove(top);
  return {parent, true};
}

void State::draw_branch(NodeId node, Label component, Stream& stream, Stream& discriminants, Branch& branch) {
  const std::size_t nodes = tree_.depth() - tree_.level(node);
  branch.nodes = nodes;
  branch.weights.resize(std::max(branch.weights.size(), nodes));
  branch.rest.resize(std::max(branch.rest.size(), nodes));
  branch.eta.resize(std::max(branch.eta.size(), nodes));
  const double* above = weights(node);
  double above_rest = rest_[node];
  for (std::size_t i = 0; i < nodes; ++i) {
    branch.weights[i].assign(stride_, 0.0);
    branch.rest[i] = 0.0;
    if (i + 1 < nodes || options_.drawn_leaf_weights)
      draw_row(above, above_rest, nullptr, component, stream, branch.weights[i].data(), branch.rest[i]);
    above = branch.weights[i].data();
    above_rest = branch.rest[i];
    branch.eta[i].resize(margins_.stride());
    margins_.draw_prior(discriminants, branch.eta[i].data());
  }
}

void State::attach_to_tree(std::size_t row, const Position& position, const Branch& branch) {
  NodeId leaf = position.node;
  const bool has_rewards = margins_.active() && margins_.rewards_splits();
  if (position.is_branch) {
    NodeId top = LevelTree::kNone;
    for (std::size_t i = 0; i < branch.nodes; ++i) {
      leaf = tree_.add_child(leaf);
      fit_nodes();
      clear_node(leaf);
      std::copy(branch.weights[i].begin(), branch.weights[i].end(), weights(leaf));
      rest_[leaf] = branch.rest[i];
      std::copy(branch.eta[i].begin(), branch.eta[i].end(), margins_.eta(leaf));
      if (has_rewards) margins_.set_node(leaf);
      if (top == LevelTree::kNone) top = leaf;
    }
    if (margins_.active() && !has_rewards) margins_.child_added(tree_, top);
  }
  counts(leaf)[static_cast<std::size_t>(components_.label(row))] += 1.0;
  tree_.attach(row, leaf);
  if (has_rewards)
    margins_.row_came(tree_, row);
  else if (margins_.active())
    margins_.refresh_row(row, tree_, 1, tree_.depth());
}

Detached State::detach(std::size_t row) {
  const Label slot = components_.label(row);
  Detached was;
  was.position = detach_from_tree(row, branch_);
  if (was.position.is_branch) {
    std::copy_n(branch_.eta[0].data(), margins_.stride(), old_eta_.data());
    was.hinge_of_others = branch_hinge_;
  }
  if (components_.size(slot) > 1)
    was.component = slot;
  else
    drop_column(slot);
  return was;
}

void State::set_component(std::size_t row, Label component, NodeId deepest, Stream& stream) {
  const bool is_new = component == kNewComponent;
  if (filled_->is_incomplete(row) && !options_.drawn_theta) {
    if (components_.label(row) != Clusters::kUnassigned) components_.take_out(row);
    filled_->draw(is_new ? components_.empty_stats() : components_.stats(component), row, stream);
    if (!is_new) return components_.add(row, component);
  } else if (!is_new) {
    return components_.move(row, component);
  }
  const Label slot = components_.move_to_new(row);
  fit_slots();
  new_column(slot, deepest, stream);
  if (options_.drawn_theta)
    family_->draw_theta(components_.stats(slot), stream,
                        thetas_.data() + static_cast<std::size_t>(slot) * family_->theta_size());
}

void State::attach(std::size_t row, const Position& position, Label component, const double* eta,
                   Stream& stream, Stream& discriminants) {
  set_component(row, component, position.node, stream);
  if (position.is_branch) {
    draw_branch(position.node, components_.label(row), stream, discriminants, branch_);
    std::copy_n(eta, margins_.stride(), branch_.eta[0].data());
  }
  attach_to_tree(row, position, branch_);
}

Label State::release_component(std::size_t row) {
  const Label slot = components_.label(row);
  counts(tree_.leaf(row))[static_cast<std::size_t>(slot)] -= 1.0;
  if (components_.size(slot) > 1) return slot;
  drop_column(slot);
  return kNewComponent;
}

void State::take_component(std::size_t row, Label component, Stream& stream) {
  set_component(row, component, tree_.leaf(row), stream);
  counts(tree_.leaf(row))[static_cast<std::size_t>(components_.label(row))] += 1.0;
}

void State::pass(Stream& stream, const std::function<void(std::size_t)>& at_level,
                 const std::function<void()>& after_tables, Stream* concentrations) {
  for (std::size_t level = 0; level < tree_.depth(); ++level)
    for (const NodeId node : tree_.at_level(level)) std::fill_n(counts(node), stride_, 0.0);
  const std::size_t used = slots();
  for (std::size_t level = tree_.depth(); level >= 1; --level) {
    if (at_level) at_level(level);
    for (const NodeId node : tree_.at_level(level)) {
      const NodeId parent = tree_.parent(node);
      double* tables = tables_.data() + node * stride_;
      const double* customers = counts(node);
      for (std::size_t k = 0; k < used; ++k) {
        tables[k] = customers[k] == 0.0
                        ? 0.0
                        : static_cast<double>(draw_table_count(
                              stream, static_cast<std::uint64_t>(customers[k]), gamma_ * weights(parent)[k]));
        counts(parent)[k] += tables[k];
      }
    }
  }
  if (after_tables) after_tables();
  if (concentrations != nullptr) draw_concentrations(*concentrations);
  for (std::size_t level = 0; level <= tree_.depth(); ++level)
    for (const NodeId node : tree_.at_level(level))
      if (has_weights(node)) {
        const NodeId parent = tree_.parent(node);
        const bool is_root = node == LevelTree::kRoot;
        draw_row(is_root ? nullptr : weights(parent), is_root ? 0.0 : rest_[parent], counts(node), -1, stream,
                 weights(node), rest_[node]);
      }
}

void State::draw_concentrations(Stream& stream) {
  const auto sum = [&](const double* values) {
    double total = 0.0;
    for (std::size_t k = 0; k < slots(); ++k) total += values[k];
    return total;
  };
  if (options_.gamma.is_learned()) {
    double rate = options_.gamma.prior().rate;
    double shape = options_.gamma.prior().shape;
    for (std::size_t level = 1; level <= tree_.depth(); ++level)
      for (const NodeId node : tree_.at_level(level)) {
        shape += sum(tables(node));
        rate -= draw_log_beta(stream, gamma_, sum(counts(node)));
      }
    gamma_ = std::max(kLeastConcentration, draw_gamma(stream, shape) / rate);
  }
  if (options_.gamma0.is_learned()) {
    const GammaPrior& prior = options_.gamma0.prior();
    const double dishes = sum(counts(LevelTree::kRoot));
    const double components = static_cast<double>(components_.clusters());
    gamma0_ = std::max(kLeastConcentration, draw_gamma(stream, prior.shape + components) /
                                                (prior.rate - draw_log_beta(stream, gamma0_, dishes)));
  }
  if (options_.alpha.is_learned()) alpha_ = update_nested_crp(stream, options_.alpha.prior(), alpha_, tree_);
}

Label State::split_component(Label slot, std::span<const std::uint32_t> members_of_new) {
  const Label fresh = components_.next_slot();
  components_.split(slot, members_of_new);
  fit_slots();
  return fresh;
}

void State::draw_thetas(Stream& stream) {
  thetas_.resize(slots() * family_->theta_size());
  for (std::size_t slot = 0; slot < slots(); ++slot)
    if (components_.size(static_cast<Label>(slot)) != 0)
      family_->draw_theta(components_.stats(static_cast<Label>(slot)), stream,
                          thetas_.data() + slot * family_->theta_size());
}

}  // namespace coppice::rbhmc
