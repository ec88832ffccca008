#include "coppice/model/rbhmc/paths.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/model/rbhmc/informed.hpp"

namespace coppice::rbhmc {
namespace {

constexpr std::size_t kInformedDimensions = 16;

/// Where a sum of products of weights and densities is too small to be trusted: below it, densities that were
/// taken for zero (less than e^-100 of the largest) could matter.
constexpr double kTiny = 1e-20;

}  // namespace

PathMoves::PathMoves(const State& state)
    : order_(state.rows()), eta_(state.margins().stride(), 0.0), scores_(state.options().levels) {
  std::iota(order_.begin(), order_.end(), 0U);
}

std::span<const std::uint32_t> PathMoves::shuffled(Stream& stream) {
  std::iota(order_.begin(), order_.end(), 0U);
  shuffle(stream, order_);
  return order_;
}

/// log of the node's mixture, for when the plain sum underflows.
double PathMoves::log_mixture(const State& state, NodeId node) const {
  const LevelTree& tree = state.tree();
  const double* logs = state.log_density();
  double total = kMinusInfinity;
  const bool collapsed_leaf = !state.has_weights(node);
  const double* values = collapsed_leaf ? state.counts(node) : state.weights(node);
  for (std::size_t k = 0; k < state.slots(); ++k)
    if (values[k] > 0.0) total = log_add_exp(total, std::log(values[k]) + logs[k]);
  if (!collapsed_leaf) {
    if (state.rest(node) > 0.0)
      total = log_add_exp(total, std::log(state.rest(node)) + state.log_density_new());
    return total;
  }
  total = log_add_exp(total, std::log(state.gamma()) + log_mixture(state, tree.parent(node)));
  return total - std::log(static_cast<double>(tree.size(node)) + state.gamma());
}

void PathMoves::prepare(const State& state) {
  const LevelTree& tree = state.tree();
  if (mixture_.size() < tree.capacity()) {
    mixture_.resize(2 * tree.capacity());
    prefix_.resize(2 * tree.capacity());
    candidates_.resize(2 * tree.capacity());
    weights_.resize(2 * tree.capacity());
  }
  if (alpha_ == state.alpha() && gamma_ == state.gamma()) return;
  alpha_ = state.alpha();
  gamma_ = state.gamma();
  per_alpha_.resize(state.rows() + 1);
  per_gamma_.resize(state.rows() + 1);
  for (std::size_t n = 0; n <= state.rows(); ++n) {
    per_alpha_[n] = 1.0 / (static_cast<double>(n) + alpha_);
    per_gamma_[n] = 1.0 / (static_cast<double>(n) + gamma_);
  }
}

void PathMoves::list_candidates(State& state, bool mixtures) {
  prepare(state);
  const LevelTree& tree = state.tree();
  const std::size_t padded = (state.slots() + kLanes - 1) / kLanes * kLanes;
  const double* density = state.density();
  const std::span<const std::uint32_t> few = state.dense_slots();
  // Where few components explain the row at all, their cells alone are read.
  const bool is_sparse = few.size() <= 6;
  const auto mix = [&](const double* weights) {
    if (!is_sparse) return dot(weights, density, padded);
    double total = 0.0;
    for (const std::uint32_t slot : few) total += weights[slot] * density[slot];
    return total;
  };
  count_ = 0;
  total_ = 0.0;
  for (std::size_t level = 0; level <= tree.depth(); ++level) {
    const bool is_leaf = level == tree.depth();
    const bool is_collapsed = is_leaf && !state.options().drawn_leaf_weights;
    for (const NodeId node : tree.at_level(level)) {
      const std::size_t size = tree.size(node);
      double reach = 1.0;
      double mixture = 1.0;
      const NodeId parent = tree.parent(node);
      if (level > 0) reach = prefix_[parent] * static_cast<double>(size) * per_alpha_[tree.size(parent)];
      prefix_[node] = reach;
      if (mixtures) {
        mixture = is_collapsed ? (mix(state.counts(node)) + gamma_ * mixture_[parent]) * per_gamma_[size]
                               : mix(state.weights(node)) + state.rest(node) * state.density_new();
        mixture_[node] = mixture;
      }
      const double share = is_leaf ? 1.0 : alpha_ * per_alpha_[size];
      weights_[count_] = reach * share * mixture;
      candidates_[count_] = {node, !is_leaf};
      total_ += weights_[count_++];
    }
  }
  if (total_ > kTiny) return;
  // The products have underflowed: the same weights from logs.
  double largest = kMinusInfinity;
  for (std::size_t i = 0; i < count_; ++i) {
    const NodeId node = candidates_[i].node;
    const double share = candidates_[i].is_branch ? alpha_ * per_alpha_[tree.size(node)] : 1.0;
    weights_[i] = std::log(prefix_[node]) + std::log(share) + log_mixture(state, node);
    largest = std::max(largest, weights_[i]);
  }
  if (largest == kMinusInfinity) fail(ErrorCode::bug, "rbhmc: a row has no place anywhere");
  total_ = 0.0;
  for (std::size_t i = 0; i < count_; ++i) total_ += weights_[i] = std::exp(weights_[i] - largest);
}

std::size_t PathMoves::draw_candidate(Stream& stream) const {
  double left = draw_uniform(stream) * total_;
  std::size_t last = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (weights_[i] <= 0.0) continue;
    last = i;
    left -= weights_[i];
    if (left < 0.0) break;
  }
  return last;
}

Label PathMoves::draw_component(const State& state, const Position& position, Stream& stream) {
  const std::size_t used = state.slots();
  terms_.resize(used + 1);
  const bool leaf = !state.has_weights(position.node);
  const NodeId above = leaf ? state.tree().parent(position.node) : position.node;
  const double* weights = state.weights(above);
  const double scale = leaf ? state.gamma() : 1.0;
  const double* counts = state.counts(position.node);
  const auto weight = [&](std::size_t k) { return (leaf ? counts[k] : 0.0) + scale * weights[k]; };
  double total = 0.0;
  for (std::size_t k = 0; k < used; ++k) total += terms_[k] = weight(k) * state.density()[k];
  total += terms_[used] = scale * state.rest(above) * state.density_new();
  if (!(total > kTiny)) {
    double largest = kMinusInfinity;
    for (std::size_t k = 0; k <= used; ++k) {
      const double w = k < used ? weight(k) : scale * state.rest(above);
      const double log_density = k < used ? state.log_density()[k] : state.log_density_new();
      terms_[k] = w > 0.0 ? std::log(w) + log_density : kMinusInfinity;
      largest = std::max(largest, terms_[k]);
    }
    for (double& term : terms_) term = std::exp(term - largest);
  }
  const std::size_t chosen = draw_categorical(stream, terms_);
  return chosen == used ? kNewComponent : static_cast<Label>(chosen);
}

double PathMoves::cost_at(const State& state, std::size_t row, const Position& position, const double* eta,
                          std::size_t above) {
  return state.margins().cost_at(row, state.tree(), position.node, position.is_branch ? eta : nullptr,
                                 state.options().counts_others(), above, scores_);
}

void PathMoves::update(State& state, std::size_t row, PathStreams& streams) {
  Margins& margins = state.margins();
  const Options& options = state.options();
  state.load_densities(row);
  const double hinge_before = margins.active() && !margins.rewards_splits() ? margins.hinge(row) : 0.0;
  const Detached was = state.detach(row);
  const bool by_prior = options.path_update == PathUpdate::prior;
  list_candidates(state, !by_prior);
  const Position chosen = candidates_[draw_candidate(streams.choice)];
  Label component = by_prior ? kNewComponent : draw_component(state, chosen, streams.choice);
  // A Gaussian of many dimensions costs more than the few branches it wins; splits still use it.
  const bool informed = options.informed && margins.active() && margins.dimension() <= kInformedDimensions;
  const std::uint32_t alone[] = {static_cast<std::uint32_t>(row)};
  double log_proposal = 0.0;  // log of prior over proposal density of the discriminants that come and go
  if (chosen.is_branch) {
    ++branches_.proposed;
    if (informed) {
      const InformedProposal proposal(margins, state.tree(), chosen.node, alone, LevelTree::kNone);
      proposal.draw(streams.discriminants, eta_.data());
      log_proposal -= proposal.log_ratio_to_prior(eta_.data());
    } else {
      margins.draw_prior(streams.discriminants, eta_.data());
    }
  }
  if (informed && was.position.is_branch) {
    const InformedProposal proposal(margins, state.tree(), was.position.node, alone, LevelTree::kNone);
    log_proposal += proposal.log_ratio_to_prior(state.old_eta());
  }
  ++paths_.proposed;
  bool accepted = true;
  const bool same_leaf = !chosen.is_branch && chosen == was.position;
  if ((margins.active() && !same_leaf) || by_prior) {
    double log_ratio = log_proposal;
    if (margins.active() && !same_leaf) {
      const std::size_t above =
          state.tree().level(state.tree().common_ancestor(was.position.node, chosen.node));
      const double after = cost_at(state, row, chosen, eta_.data(), above);
      const double before = margins.rewards_splits()
                                ? cost_at(state, row, was.position, state.old_eta(), above)
                                : hinge_before + (options.counts_others() ? was.hinge_of_others : 0.0);
      log_ratio -= 2.0 * margins.penalty() * (after - before);
    }
    if (by_prior) log_ratio += log_mixture(state, chosen.node) - log_mixture(state, was.position.node);
    accepted = std::log(draw_uniform(streams.choice)) < log_ratio;
  }
  const Position position = accepted ? chosen : was.position;
  // Where the path stays, or the kernel does not draw it, the component is drawn given the path.
  if (!accepted || by_prior) component = draw_component(state, position, streams.choice);
  paths_.accepted += accepted;
  branches_.accepted += accepted && chosen.is_branch;
  state.attach(row, position, component, accepted ? eta_.data() : state.old_eta(), streams.choice,
               streams.discriminants);
}

void PathMoves::update_by_gibbs(State& state, std::size_t row, PathStreams& streams) {
  Margins& margins = state.margins();
  const Options& options = state.options();
  state.load_densities(row);
  const Detached was = state.detach(row);
  list_candidates(state, true);
  const std::size_t copies = std::max<std::size_t>(1, options.auxiliary_branches);
  const std::size_t plain = count_;
  const std::size_t stride = margins.stride();
  auxiliary_.clear();
  eta_of_.assign(plain, 0);
  candidates_.resize(std::max(candidates_.size(), plain * copies));
  weights_.resize(candidates_.size());
  // Branches become `copies` candidates each, with discriminants of their own; the row's old branch keeps
  // its.
  for (std::size_t i = 0; i < plain; ++i) {
    if (!candidates_[i].is_branch) continue;
    weights_[i] /= static_cast<double>(copies);
    for (std::size_t copy = 0; copy < copies; ++copy) {
      const std::size_t place = auxiliary_.size();
      auxiliary_.resize(place + stride);
      if (copy == 0 && was.position == candidates_[i])
        std::copy_n(state.old_eta(), stride, auxiliary_.data() + place);
      else
        margins.draw_prior(streams.discriminants, auxiliary_.data() + place);
      if (copy == 0) {
        eta_of_[i] = place;
      } else {
        candidates_[count_] = candidates_[i];
        weights_[count_++] = weights_[i];
        eta_of_.push_back(place);
      }
    }
  }
  if (margins.active()) {
    double least = std::numeric_limits<double>::infinity();
    hinges_.resize(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      const Position& position = candidates_[i];
      const double* eta = position.is_branch ? auxiliary_.data() + eta_of_[i] : nullptr;
      hinges_[i] = cost_at(state, row, position, eta, 0);
      if (weights_[i] > 0.0) least = std::min(least, hinges_[i]);
    }
    total_ = 0.0;
    for (std::size_t i = 0; i < count_; ++i)
      if (weights_[i] > 0.0)  // or else it could be zero times infinity
        total_ += weights_[i] *= std::exp(-2.0 * margins.penalty() * (hinges_[i] - least));
  }
  const std::size_t drawn = draw_candidate(streams.choice);
  const Position position = candidates_[drawn];
  const Label component = draw_component(state, position, streams.choice);
  ++paths_.proposed;
  paths_.accepted += position != was.position;
  branches_.proposed += position.is_branch;
  branches_.accepted += position.is_branch;
  state.attach(row, position, component, position.is_branch ? auxiliary_.data() + eta_of_[drawn] : nullptr,
               streams.choice, streams.discriminants);
}

void PathMoves::scan(State& state, const StreamName& name, std::uint64_t site) {
  PathStreams streams(name, site);
  for (const std::uint32_t row : shuffled(streams.choice)) {
    throw_if_stopped(stop_);
    if (state.options().path_update == PathUpdate::gibbs)
      update_by_gibbs(state, row, streams);
    else
      update(state, row, streams);
  }
}

void PathMoves::scan_components(State& state, const StreamName& name, std::uint64_t site) {
  PathStreams streams(name, site);
  for (std::size_t row = 0; row < state.rows(); ++row) {
    throw_if_stopped(stop_);
    state.load_densities(row);
    state.release_component(row);
    // A collapsed leaf's mixture leaves the row out, which is still counted in its size; only the terms
    // matter for the draw.
    const Label component = draw_component(state, {state.tree().leaf(row), false}, streams.choice);
    state.take_component(row, component, streams.choice);
  }
}

void PathMoves::allocate(State& state, const StreamName& name, bool by_prior) {
  PathStreams streams(name, static_cast<std::uint64_t>(-1));
  state.clear();
  for (const std::uint32_t row : shuffled(streams.choice)) {
    if (by_prior)
      state.load_flat_densities();
    else
      state.load_densities(row);
    list_candidates(state, true);
    const Position position = candidates_[draw_candidate(streams.choice)];
    const Label component = draw_component(state, position, streams.choice);
    state.margins().draw_prior(streams.discriminants, eta_.data());
    state.attach(row, position, component, eta_.data(), streams.choice, streams.discriminants);
  }
}

void PathMoves::allocate_along(State& state, const StreamName& name, bool alone) {
  PathStreams streams(name, static_cast<std::uint64_t>(-1));
  state.clear();
  for (std::size_t row = 0; row < state.rows(); ++row) {
    state.load_densities(row);
    Position position{LevelTree::kRoot, true};
    if (row > 0 && !alone) position = {state.tree().at_level(state.tree().depth()).front(), false};
    const Label component = draw_component(state, position, streams.choice);
    state.margins().draw_prior(streams.discriminants, eta_.data());
    state.attach(row, position, component, eta_.data(), streams.choice, streams.discriminants);
  }
}

void PathMoves::scan_published(State& state, const StreamName& name, std::uint64_t site) {
  PathStreams streams(name, site);
  Margins& margins = state.margins();
  const std::size_t padded = state.stride();
  const auto mixture = [&](const double* weights, double rest) {
    return dot(weights, state.density(), padded) + rest * state.density_new();
  };
  for (const std::uint32_t row : shuffled(streams.choice)) {
    throw_if_stopped(stop_);
    state.load_densities_as_published(row);
    const NodeId leaf = state.tree().leaf(row);
    double log_before = std::log(mixture(state.weights(leaf), state.rest(leaf)));
    if (margins.active()) log_before -= 2.0 * margins.penalty() * margins.hinge(row);
    const Position was = state.detach_from_tree(row, old_branch_);
    list_candidates(state, false);
    const Position chosen = candidates_[draw_candidate(streams.choice)];
    if (chosen.is_branch)
      state.draw_branch(chosen.node, -1, streams.choice, streams.discriminants, new_branch_);
    const std::size_t last = chosen.is_branch ? new_branch_.nodes - 1 : 0;
    double log_after =
        std::log(chosen.is_branch ? mixture(new_branch_.weights[last].data(), new_branch_.rest[last])
                                  : mixture(state.weights(chosen.node), state.rest(chosen.node)));
    if (margins.active())
      log_after -= 2.0 * margins.penalty() *
                   cost_at(state, row, chosen, chosen.is_branch ? new_branch_.eta[0].data() : nullptr, 0);
    const bool accepted = std::log(draw_uniform(streams.choice)) < log_after - log_before;
    ++paths_.proposed;
    paths_.accepted += accepted;
    branches_.proposed += chosen.is_branch;
    branches_.accepted += accepted && chosen.is_branch;
    state.attach_to_tree(row, accepted ? chosen : was, accepted ? new_branch_ : old_branch_);
  }
}

}  // namespace coppice::rbhmc
