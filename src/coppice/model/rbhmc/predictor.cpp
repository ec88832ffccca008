#include "coppice/model/rbhmc/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/model/rbhmc/draw_payload.hpp"
#include "coppice/model/rbhmc/inference.hpp"
#include "coppice/model/stats_predictor.hpp"
#include "coppice/model/trace_table.hpp"
#include "coppice/shape/level_tree.hpp"

namespace coppice::rbhmc {
namespace {

class NestedMixturePredictor final : public StatsPredictor {
 public:
  explicit NestedMixturePredictor(const Problem& problem)
      : StatsPredictor(problem),
        rows_(problem.rows),
        tree_(problem.rows->size(), problem.parameters.integer("levels")),
        empty_(problem.family->stats_size()) {
    const std::vector<TraceInfo> traces = rbhmc::traces(problem.parameters);
    alpha_trace_ = trace_place(traces, "alpha");
    gamma_trace_ = trace_place(traces, "gamma");
  }

  void set_draw(std::span<const Label> labels, std::span<const double> traces,
                std::string_view payload) override {
    alpha_ = traces[alpha_trace_];
    gamma_ = traces[gamma_trace_];
    tree_.assign(labels);
    draw_ = read_payload(payload, tree_, family().hyper_size());
    set_hyper(draw_.hyper);
    family().clear(empty_.data());
    const std::size_t size = family().stats_size();
    stats_.resize(draw_.components * size);
    for (std::size_t k = 0; k < draw_.components; ++k) family().clear(stats_.data() + k * size);
    counts_.assign(tree_.capacity() * draw_.components, 0.0);
    for (std::size_t row = 0; row < tree_.rows(); ++row) {
      const auto k = static_cast<std::size_t>(draw_.component_of[row]);
      family().add(stats_.data() + k * size, (*rows_)[row]);
      counts_[tree_.leaf(row) * draw_.components + k] += 1.0;
    }
  }

  std::size_t clusters(std::size_t level) const override { return tree_.at_level(level).size(); }

  void log_weights(const double* row, std::size_t level, std::span<double> out) const override {
    const std::size_t count = draw_.components;
    std::vector<double> density(count + 1);
    for (std::size_t k = 0; k < count; ++k) density[k] = family().log_predictive(stats(k), row);
    density[count] = family().log_predictive(empty_.data(), row);
    const double top = *std::max_element(density.begin(), density.end());
    std::fill(out.begin(), out.end(), kMinusInfinity);
    if (!(top > kMinusInfinity)) return;
    for (double& value : density) value = std::exp(value - top);

    // Masses of nodes: paths that end below them. Top-down for the mixtures, bottom-up for the sums.
    std::vector<double> mixture(tree_.capacity()), reach(tree_.capacity()), mass(tree_.capacity());
    double elsewhere = 0.0;  // new branches above the level
    reach[LevelTree::kRoot] = 1.0;
    for (std::size_t l = 0; l <= tree_.depth(); ++l)
      for (const NodeId node : tree_.at_level(l)) {
        const NodeId parent = tree_.parent(node);
        const auto size = static_cast<double>(tree_.size(node));
        if (l > 0) reach[node] = reach[parent] * size / (static_cast<double>(tree_.size(parent)) + alpha_);
        double total = 0.0;
        if (l == tree_.depth()) {
          for (std::size_t k = 0; k < count; ++k) total += counts_[node * count + k] * density[k];
          mixture[node] = (total + gamma_ * mixture[parent]) / (size + gamma_);
          mass[node] = reach[node] * mixture[node];
          continue;
        }
        const std::span<const double> weights = draw_.weights_of(node);
        for (std::size_t k = 0; k <= count; ++k) total += weights[k] * density[k];
        mixture[node] = total;
        mass[node] = reach[node] * alpha_ / (size + alpha_) * total;
        if (l < level) elsewhere += mass[node];
      }
    for (std::size_t l = tree_.depth(); l > level; --l)
      for (const NodeId node : tree_.at_level(l)) mass[tree_.parent(node)] += mass[node];
    const std::span<const NodeId> nodes = tree_.at_level(level);
    for (std::size_t c = 0; c < nodes.size(); ++c) out[c] = std::log(mass[nodes[c]]) + top;
    out[nodes.size()] = std::log(elsewhere) + top;
  }

  void cell_components(std::size_t row, std::size_t, std::vector<CellComponent>& out) const override {
    out.assign(1, {static_cast<std::size_t>(draw_.component_of[row]), 1.0});
  }
  std::size_t component_count() const override { return draw_.components; }
  const double* stats(std::size_t component) const override {
    return stats_.data() + component * family().stats_size();
  }

 private:
  const Rows* rows_;
  LevelTree tree_;
  DrawPayload draw_;
  std::vector<double> empty_, stats_, counts_;
  std::size_t alpha_trace_ = 0, gamma_trace_ = 0;  // places of their traces
  double alpha_ = 1.0, gamma_ = 1.0;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<NestedMixturePredictor>(problem);
}

}  // namespace coppice::rbhmc
