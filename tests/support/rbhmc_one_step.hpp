// One kernel of rbhmc applied to exact draws from its target: how much every functional changes.
#pragma once

#include "coppice/model/rbhmc/replica.hpp"
#include "support/monte_carlo.hpp"
#include "support/rbhmc_chain.hpp"

namespace coppice::test {

/// Functionals of the enumeration and a few of weights and discriminants.
class RbhmcObserver {
 public:
  explicit RbhmcObserver(const RbhmcPosterior& exact)
      : exact_(&exact), labels_(exact.rows() * exact.settings().levels) {}

  std::size_t size() const { return exact_->functionals() + 8; }

  void observe(const rbhmc::State& state, std::span<double> out) {
    const LevelTree& tree = state.tree();
    tree.labels(labels_);
    Labels components(state.components().labels().begin(), state.components().labels().end());
    canonicalize(components);
    const double hinge = state.margins().total_from_scratch(tree);
    exact_->evaluate(exact_->index(labels_), components, state.rest(LevelTree::kRoot), hinge, out);
    double* next = out.data() + exact_->functionals();
    double squares = 0.0;
    for (std::size_t level = 1; level <= tree.depth(); ++level)
      for (const NodeId node : tree.at_level(level))
        for (std::size_t i = 0; i < state.margins().dimension(); ++i)
          squares += state.margins().eta(node)[i] * state.margins().eta(node)[i];
    const NodeId leaf = tree.leaf(0);
    const NodeId top = tree.ancestor(leaf, 1);
    const NodeId above = tree.parent(leaf);
    const auto slot = static_cast<std::size_t>(state.components().label(0));
    double root_squares = 0.0;
    for (std::size_t k = 0; k < state.slots(); ++k)
      root_squares += state.weights(LevelTree::kRoot)[k] * state.weights(LevelTree::kRoot)[k];
    *next++ = squares;
    *next++ = state.margins().eta(top)[0];
    *next++ = std::tanh(state.margins().score(state.margins().eta(leaf), 0));
    *next++ = state.rest(above);
    *next++ = state.weights(LevelTree::kRoot)[slot];
    *next++ = state.weights(above)[slot];
    *next++ = root_squares;
    *next++ = hinge * hinge / (1.0 + std::abs(hinge));
  }

 private:
  const RbhmcPosterior* exact_;
  Labels labels_;
};

/// The changes by two sweeps with these settings from each of the states.
inline std::vector<RunningMean> rbhmc_changes(const RbhmcPosterior& exact, const RbhmcData& data,
                                              const std::vector<RbhmcState>& states,
                                              const std::vector<std::string>& settings,
                                              const StreamName& name, Stream& stream) {
  const Problem problem = rbhmc_problem(data, exact.settings(), settings);
  const rbhmc::Options options(problem.parameters);
  rbhmc::Replica replica(problem, options);
  RbhmcObserver observer(exact);
  std::vector<double> before(observer.size()), after(observer.size());
  std::vector<RunningMean> changes(observer.size());
  std::uint64_t sweep = name.sweep;
  for (const RbhmcState& state : states) {
    replica.state().load(exact.checkpoint(state, options.drawn_leaf_weights, options.drawn_theta, stream));
    observer.observe(replica.state(), before);
    for (int i = 0; i < 2; ++i) replica.step({name.seed, name.chain, ++sweep});
    observer.observe(replica.state(), after);
    for (std::size_t j = 0; j < changes.size(); ++j) changes[j].add(after[j] - before[j]);
  }
  return changes;
}

}  // namespace coppice::test
