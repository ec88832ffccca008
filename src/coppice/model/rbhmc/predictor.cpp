#include "coppice/model/rbhmc/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/cluster/filled_rows.hpp"
#include "coppice/cluster/predictive_cache.hpp"
#include "coppice/model/left_out.hpp"
#include "coppice/model/rbhmc/draw_payload.hpp"
#include "coppice/model/rbhmc/inference.hpp"
#include "coppice/model/stats_predictor.hpp"
#include "coppice/model/trace_table.hpp"
#include "coppice/shape/level_tree.hpp"

namespace coppice::rbhmc {
namespace {

class NestedMixturePredictor final : public StatsPredictor, public LeaveOneOut {
 public:
  explicit NestedMixturePredictor(const Problem& problem)
      : StatsPredictor(problem),
        filled_(family(), *problem.rows),
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
    draw_ = read_payload(payload, tree_, family().hyper_size(), filled_.cells_size());
    set_hyper(draw_.hyper);
    filled_.set_cells(draw_.cells);
    family().clear(empty_.data());
    const std::size_t size = family().stats_size();
    stats_.resize(draw_.components * size);
    for (std::size_t k = 0; k < draw_.components; ++k) family().clear(stats_.data() + k * size);
    counts_.assign(tree_.capacity() * draw_.components, 0.0);
    for (std::size_t row = 0; row < tree_.rows(); ++row) {
      const auto k = static_cast<std::size_t>(draw_.component_of[row]);
      family().add(stats_.data() + k * size, filled_.rows()[row]);
      counts_[tree_.leaf(row) * draw_.components + k] += 1.0;
    }
    cache_.fill(family(), draw_.components + 1,
                [this](std::size_t k) { return k == draw_.components ? empty_.data() : stats(k); });
  }

  std::size_t clusters(std::size_t level) const override { return tree_.at_level(level).size(); }

  void log_weights(const double* row, std::size_t level, std::span<double> out) const override {
    AlignedVector density;
    cache_.log_predictives(row, density);
    density.resize(draw_.components + 1);
    weigh(density, level, nullptr, out);
  }

  void log_densities_without(std::size_t row, std::span<const double> variants,
                             std::span<double> out) const override {
    const auto own = static_cast<std::size_t>(draw_.component_of[row]);
    std::vector<double> others;
    filled_.stats_without(row, draw_.component_of, stats(own), others);
    PredictiveCache own_cache;
    own_cache.fill(family(), 1, [&](std::size_t) { return others.data(); });
    AlignedVector density, own_density;
    std::vector<double> weights(clusters(1) + 1);
    for (std::size_t k = 0; k < out.size(); ++k) {
      const double* variant = variants.data() + k * family().width();
      cache_.log_predictives(variant, density);
      density.resize(draw_.components + 1);
      own_cache.log_predictives(variant, own_density);
      density[own] = own_density[0];
      weigh(density, 1, &row, weights);
      out[k] = log_sum_exp(weights);
    }
  }

  /// Behind the components are the filled cells of the rows, which depend on the other cells of their row.
  void cell_components(std::size_t row, std::size_t cell, std::vector<CellComponent>& out) const override {
    const std::size_t place = filled_.place_of(row, cell);
    const bool is_filled = place < filled_.cells_size();
    out.assign(
        1, {is_filled ? draw_.components + place : static_cast<std::size_t>(draw_.component_of[row]), 1.0});
  }
  std::size_t component_count() const override { return draw_.components + filled_.cells_size(); }
  CellPredictive predict_cell(std::size_t component, std::size_t cell) const override {
    if (component < draw_.components) return StatsPredictor::predict_cell(component, cell);
    std::vector<double> others;
    const std::size_t row = others_of(component, others);
    return family().predict_cell_given(others.data(), filled_.observed()[row], cell);
  }
  double log_cell(std::size_t component, std::size_t cell, double value) const override {
    if (component < draw_.components) return StatsPredictor::log_cell(component, cell, value);
    std::vector<double> others;
    const std::size_t row = others_of(component, others);
    return family().cell_log_predictive_given(others.data(), filled_.observed()[row], cell, value);
  }
  const double* stats(std::size_t component) const override {
    return stats_.data() + component * family().stats_size();
  }

 private:
  /// From the log densities of the components, which become void, to the log weights of the nodes of a level
  /// and of a new one. `left_out`: a row that is not in the tree; null: all are.
  void weigh(AlignedVector& density, std::size_t level, const std::size_t* left_out,
             std::span<double> out) const {
    const std::size_t count = draw_.components;
    // Nodes above the row that is left out.
    const NodeId leaf = left_out == nullptr ? LevelTree::kNone : tree_.leaf(*left_out);
    const auto rows_of = [&](NodeId node) {
      const bool is_above = leaf != LevelTree::kNone && tree_.ancestor(leaf, tree_.level(node)) == node;
      return static_cast<double>(tree_.size(node)) - (is_above ? 1.0 : 0.0);
    };
    const auto count_in = [&](NodeId node, std::size_t k) {
      const bool is_own = node == leaf && static_cast<std::size_t>(draw_.component_of[*left_out]) == k;
      return counts_[node * count + k] - (is_own ? 1.0 : 0.0);
    };
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
        const double size = rows_of(node);
        if (l > 0) reach[node] = reach[parent] * size / (rows_of(parent) + alpha_);
        double total = 0.0;
        if (l == tree_.depth()) {
          for (std::size_t k = 0; k < count; ++k) total += count_in(node, k) * density[k];
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

  /// The row of a filled cell, and the statistics of its component without it.
  std::size_t others_of(std::size_t component, std::vector<double>& others) const {
    const std::size_t row = filled_.cells()[component - draw_.components].row;
    const auto own = static_cast<std::size_t>(draw_.component_of[row]);
    filled_.stats_without(row, draw_.component_of, stats(own), others);
    return row;
  }

  FilledRows filled_;
  LevelTree tree_;
  DrawPayload draw_;
  std::vector<double> empty_, stats_, counts_;
  PredictiveCache cache_;
  std::size_t alpha_trace_ = 0, gamma_trace_ = 0;  // places of their traces
  double alpha_ = 1.0, gamma_ = 1.0;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<NestedMixturePredictor>(problem);
}

}  // namespace coppice::rbhmc
