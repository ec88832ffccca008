// The posterior of a nested mixture of a few rows by brute force: every tree of the given depth, with the
// nested Chinese restaurant process applied row by row; every partition into components, with its probability
// given the tree as a sum over all table counts of the franchise,
//   prod_z gamma^m_z prod_k S(n_zk, m_zk) / (gamma)_n_z * gamma0^K prod_k (n_0k - 1)! / (gamma0)_n_0;
// every marginal from fresh statistics; and the regularizer R(tree) = E exp(-2 C Xi) over discriminants from
// their prior, by plain Monte Carlo with its error. Nothing here calls the code of the model or of its
// priors.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <unordered_map>
#include <vector>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/shape/partition.hpp"
#include "support/sampling_error.hpp"

namespace coppice::test {

struct RbhmcSettings {
  std::size_t levels = 2;
  double alpha = 1.0, gamma = 1.0, gamma0 = 1.0;
  double penalty = 0.0, margin = 0.5, sd = 1.0;
  bool centered = false;
  bool intercept = false;
  bool learn_sd = false;  // 1 / sd^2 from Gamma(1, 1)
  bool infomax = false;   // gates instead of hinges: Xi is minus half the sum of the log gates
  bool evidence = false;  // Gaussians of nodes: Xi is minus half the sum of the log Bayes factors of splits
  std::vector<double> level_powers = {};  // of both, from level 1; none: the defaults

  double power(std::size_t level) const {
    if (!level_powers.empty()) return level_powers.at(std::min(level, level_powers.size()) - 1);
    return evidence ? std::pow(0.5, static_cast<double>(level) - 1.0) : 1.0;
  }
};

/// What the discriminants see of a row: its cells in the units of the data, the mean of the present ones
/// where a cell is missing, 1 for the intercept.
inline std::vector<std::vector<double>> margin_features(const Family& family, const Rows& rows,
                                                        bool intercept) {
  std::vector<std::vector<double>> features(rows.size());
  for (std::size_t cell = 0; cell < rows.width; ++cell) {
    double sum = 0.0;
    double present = 0.0;
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (!std::isnan(rows[row][cell])) {
        sum += rows[row][cell] + family.origin(cell);
        present += 1.0;
      }
    const double mean = present > 0.0 ? sum / present : 0.0;
    for (std::size_t row = 0; row < rows.size(); ++row)
      features[row].push_back(std::isnan(rows[row][cell]) ? mean : rows[row][cell] + family.origin(cell));
  }
  for (std::vector<double>& feature : features)
    if (intercept) feature.push_back(1.0);
  return features;
}

/// What gates see of a row: cells standardized as `first` has them, over the root of their number, nothing
/// where a cell is missing, and 1.
inline std::vector<std::vector<double>> gate_features(const Rows& rows, const Rows& first) {
  std::vector<std::vector<double>> features(rows.size(), std::vector<double>(rows.width + 1, 1.0));
  for (std::size_t cell = 0; cell < rows.width; ++cell) {
    double n = 0.0, sum = 0.0, squares = 0.0;
    for (std::size_t row = 0; row < first.size(); ++row)
      if (!std::isnan(first[row][cell])) {
        n += 1.0;
        sum += first[row][cell];
        squares += first[row][cell] * first[row][cell];
      }
    const double variance = squares / n - sum / n * (sum / n);
    const double scale = variance > 1e-12 ? std::sqrt(variance * static_cast<double>(rows.width)) : 0.0;
    for (std::size_t row = 0; row < rows.size(); ++row)
      features[row][cell] =
          std::isnan(rows[row][cell]) || scale == 0.0 ? 0.0 : (rows[row][cell] - sum / n) / scale;
  }
  return features;
}

/// What evidence sees of it: the same without the constant.
inline std::vector<std::vector<double>> evidence_features(const Rows& rows, const Rows& first) {
  std::vector<std::vector<double>> features = gate_features(rows, first);
  for (std::vector<double>& feature : features) feature.pop_back();
  return features;
}

/// A nested partition; nodes are numbered by level and first row, the root first.
struct RbhmcTree {
  struct Node {
    std::size_t parent = 0, level = 0, size = 0;
  };

  RbhmcTree(Labels canonical, std::size_t rows)
      : labels(std::move(canonical)), rows(rows), depth(labels.size() / rows) {
    nodes.push_back({0, 0, rows});
    for (std::size_t level = 1; level <= depth; ++level) {
      first_at_level.push_back(nodes.size());
      for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t node =
            first_at_level.back() + static_cast<std::size_t>(labels[(level - 1) * rows + row]);
        if (node == nodes.size()) nodes.push_back({node_of(level - 1, row), level, 0});
        ++nodes[node].size;
      }
    }
    leaves = nodes.size() - first_at_level.back();
    for (const Node& node : nodes) siblings_exist = siblings_exist || node.size < rows;
  }

  std::size_t node_of(std::size_t level, std::size_t row) const {
    return level == 0
               ? 0
               : first_at_level[level - 1] + static_cast<std::size_t>(labels[(level - 1) * rows + row]);
  }
  bool together(std::size_t level, std::size_t a, std::size_t b) const {
    return node_of(level, a) == node_of(level, b);
  }

  Labels labels;  // level by level
  std::size_t rows, depth;
  std::vector<Node> nodes;
  std::vector<std::size_t> first_at_level;  // from level 1
  std::size_t leaves = 0;
  bool siblings_exist = false;
};

/// The sum of all hinges; eta has one vector for each node (the root's is not looked at).
inline double total_hinge(const RbhmcTree& tree, const std::vector<std::vector<double>>& eta,
                          const std::vector<std::vector<double>>& features, double margin, bool centered) {
  double total = 0.0;
  for (std::size_t row = 0; row < tree.rows; ++row) {
    double worst = 0.0;
    double sum = 0.0;
    for (std::size_t level = 1; level <= tree.depth; ++level) {
      const std::size_t own = tree.node_of(level, row);
      double rho = -std::numeric_limits<double>::infinity();
      for (std::size_t z = 1; z < tree.nodes.size(); ++z) {
        if (z == own || tree.nodes[z].level != level || tree.nodes[z].parent != tree.nodes[own].parent)
          continue;
        double value = margin;
        for (std::size_t i = 0; i < features[row].size(); ++i)
          value -= (eta[own][i] - eta[z][i]) * features[row][i];
        rho = std::max(rho, value);
      }
      worst = std::max(worst, rho);
      if (!std::isinf(rho)) sum += std::max(0.0, rho) - margin;
    }
    total += centered ? sum : worst;
  }
  return total;
}

/// The sum of the log gates of all rows and levels, each level times its power.
inline double total_log_gates(const RbhmcTree& tree, const std::vector<std::vector<double>>& eta,
                              const std::vector<std::vector<double>>& features,
                              const RbhmcSettings& settings = {}) {
  double total = 0.0;
  for (std::size_t row = 0; row < tree.rows; ++row)
    for (std::size_t level = 1; level <= tree.depth; ++level) {
      const std::size_t own = tree.node_of(level, row);
      const std::size_t parent = tree.nodes[own].parent;
      const auto score = [&](std::size_t z) {
        double value = 0.0;
        for (std::size_t i = 0; i < features[row].size(); ++i) value += eta[z][i] * features[row][i];
        return std::clamp(value, -300.0, 300.0);  // as the target has it
      };
      double sum = 0.0;
      for (std::size_t z = 1; z < tree.nodes.size(); ++z)
        if (tree.nodes[z].level == level && tree.nodes[z].parent == parent)
          sum += static_cast<double>(tree.nodes[z].size) / static_cast<double>(tree.nodes[parent].size) *
                 std::exp(score(z) - score(own));
      total -= settings.power(level) * std::log(sum);
    }
  return total;
}

/// log density of the features of these rows under a Gaussian of unknown mean and variance, over the number
/// of their cells. Row by row: each given the ones before it is a Student variable in all directions alike.
inline double log_node_density(const std::vector<std::vector<double>>& features,
                               const std::vector<std::size_t>& rows) {
  const std::size_t width = features.front().size();
  const double d = static_cast<double>(width);
  double mean_rows = 0.25, shape = 0.5 * d, rate = 0.25;
  std::vector<double> mean(width, 0.0);
  double total = 0.0;
  for (const std::size_t row : rows) {
    double distance = 0.0;
    for (std::size_t i = 0; i < width; ++i)
      distance += (features[row][i] - mean[i]) * (features[row][i] - mean[i]);
    const double freedom = 2.0 * shape;
    const double scale = rate / shape * (1.0 + 1.0 / mean_rows);
    total += std::lgamma(0.5 * (freedom + d)) - std::lgamma(0.5 * freedom) -
             0.5 * d * std::log(freedom * std::numbers::pi * scale) -
             0.5 * (freedom + d) * std::log1p(distance / (freedom * scale));
    for (std::size_t i = 0; i < width; ++i) mean[i] += (features[row][i] - mean[i]) / (mean_rows + 1.0);
    rate += 0.5 * distance * mean_rows / (mean_rows + 1.0);
    shape += 0.5 * d;
    mean_rows += 1.0;
  }
  return total / d;
}

/// The sum of the log Bayes factors of all splits, each times the power of its level.
inline double total_log_bayes_factors(const RbhmcTree& tree, const std::vector<std::vector<double>>& features,
                                      const RbhmcSettings& settings) {
  const auto density_of = [&](std::size_t z) {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < tree.rows; ++row)
      if (tree.node_of(tree.nodes[z].level, row) == z) rows.push_back(row);
    return log_node_density(features, rows);
  };
  double total = 0.0;
  for (std::size_t z = 0; z < tree.nodes.size(); ++z) {
    if (z > 0) total += settings.power(tree.nodes[z].level) * density_of(z);
    if (tree.nodes[z].level < tree.depth) total -= settings.power(tree.nodes[z].level + 1) * density_of(z);
  }
  return total;
}

/// One state of the model, for chains that start in the posterior.
struct RbhmcState {
  std::size_t tree = 0;
  std::size_t partition = 0;
  std::vector<std::vector<double>> eta;      // by node
  std::vector<std::vector<double>> weights;  // by node: components, then the remainder
  double hinge = 0.0;
};

class RbhmcPosterior {
 public:
  /// log p(these rows, in one component).
  using LogMarginal = std::function<double(std::span<const std::size_t> rows)>;

  /// Without `log_marginal` it is that of the family's statistics.
  RbhmcPosterior(const Family& family, const Rows& rows, const RbhmcSettings& settings,
                 double hinge_draws = 1e6, std::uint64_t seed = 1, const LogMarginal& log_marginal = {})
      : family_(&family),
        data_(&rows),
        settings_(settings),
        rows_(rows.size()),
        features_(settings.evidence  ? evidence_features(rows, rows)
                  : settings.infomax ? gate_features(rows, rows)
                                     : margin_features(family, rows, settings.intercept)) {
    for (double n = 0.0, gamma = 1.0, gamma0 = 1.0; n <= static_cast<double>(rows_ * rows_); n += 1.0) {
      rising_gamma_.push_back(gamma);
      rising_gamma0_.push_back(gamma0);
      gamma *= settings.gamma + n;
      gamma0 *= settings.gamma0 + n;
    }
    stirling_.assign(rows_ + 1, std::vector<double>(rows_ + 2, 0.0));
    stirling_[0][0] = 1.0;
    for (std::size_t n = 0; n < rows_; ++n)
      for (std::size_t m = 1; m <= n + 1; ++m)
        stirling_[n + 1][m] = stirling_[n][m - 1] + static_cast<double>(n) * stirling_[n][m];
    for_each_partition(rows_, [&](std::span<const Label> labels, std::size_t clusters) {
      partitions_.emplace_back(labels.begin(), labels.end());
      components_.push_back(clusters);
    });
    list_trees();
    weigh_trees(log_marginal);
    weigh_hinges(hinge_draws, seed);
    sum_up();
  }

  const RbhmcSettings& settings() const { return settings_; }
  const Family& family() const { return *family_; }
  const Rows& data() const { return *data_; }
  std::size_t rows() const { return rows_; }
  std::size_t size() const { return trees_.size(); }
  const RbhmcTree& tree(std::size_t i) const { return trees_[i]; }
  const Labels& partition(std::size_t i) const { return partitions_[i]; }
  std::size_t partitions() const { return partitions_.size(); }
  std::size_t components(std::size_t i) const { return components_[i]; }
  std::size_t index(std::span<const Label> labels) const { return index_.at(key(labels)); }
  double log_evidence() const { return log_evidence_; }
  /// Probability of a tree given the data, with the regularizer and without it.
  double probability(std::size_t i) const { return probability_[i]; }
  double plain_probability(std::size_t i) const { return plain_[i]; }
  double partition_given_tree(std::size_t tree, std::size_t partition) const {
    return given_tree_[tree][partition];
  }
  double hinge_of(const RbhmcTree& tree, const std::vector<std::vector<double>>& eta) const {
    if (settings_.evidence) return -0.5 * total_log_bayes_factors(tree, features_, settings_);
    return settings_.infomax ? -0.5 * total_log_gates(tree, eta, features_, settings_)
                             : total_hinge(tree, eta, features_, settings_.margin, settings_.centered);
  }
  std::size_t feature_size() const { return features_.front().size(); }

  // What chains are compared by: functionals of tree, components, root remainder and hinge.
  std::size_t functionals() const { return names_.size(); }
  const std::string& name(std::size_t j) const { return names_[j]; }
  bool is_event(std::size_t j) const { return is_event_[j]; }
  /// The expectation and its Monte Carlo error (zero without a penalty).
  const Estimate& expectation(std::size_t j) const { return expectation_[j]; }
  const Estimate& expectation(const std::string& name) const {
    for (std::size_t j = 0; j < names_.size(); ++j)
      if (names_[j] == name) return expectation_[j];
    throw std::out_of_range(name);
  }
  void evaluate(std::size_t tree, std::span<const Label> components, double remainder, double hinge,
                std::span<double> out) const {
    std::copy(of_tree_[tree].begin(), of_tree_[tree].end(), out.begin());
    std::size_t j = of_tree_[tree].size();
    Label most = 0;
    for (std::size_t a = 0; a < rows_; ++a) {
      most = std::max(most, components[a]);
      for (std::size_t b = 0; b < a; ++b) out[j++] = components[a] == components[b] ? 1.0 : 0.0;
    }
    out[j++] = static_cast<double>(most) + 1.0;
    out[j++] = remainder;
    out[j++] = hinge;
  }

  /// An independent draw from the target.
  RbhmcState draw(Stream& stream) const {
    RbhmcState state;
    do {
      // Evidence does not depend on discriminants.
      state.tree = draw_categorical(stream, settings_.evidence ? probability_ : plain_);
      draw_eta(stream, trees_[state.tree], state.eta);
      state.hinge = hinge_of(trees_[state.tree], state.eta);
    } while (!settings_.evidence &&
             !(std::log(draw_uniform(stream)) <= -2.0 * settings_.penalty * (state.hinge - least_hinge())));
    state.partition = draw_categorical(stream, given_tree_[state.tree]);
    const RbhmcTree& tree = trees_[state.tree];
    const std::size_t components = components_[state.partition];
    std::vector<double> table_weights;
    for_each_table_count(tree, partitions_[state.partition], components,
                         [&](const Counts&, double weight) { table_weights.push_back(weight); });
    std::size_t left = draw_categorical(stream, table_weights);
    Counts chosen;
    for_each_table_count(tree, partitions_[state.partition], components, [&](const Counts& counts, double) {
      if (left-- == 0) chosen = counts;
    });
    state.weights.assign(tree.nodes.size(), std::vector<double>(components + 1));
    std::vector<double> shapes(components + 1);
    for (std::size_t z = 0; z < tree.nodes.size(); ++z) {
      for (std::size_t k = 0; k <= components; ++k) {
        const double above = z == 0 ? (k == components ? settings_.gamma0 : 0.0)
                                    : settings_.gamma * state.weights[tree.nodes[z].parent][k];
        shapes[k] = above + (k < components ? static_cast<double>(chosen[z][k]) : 0.0);
      }
      draw_dirichlet(stream, shapes, state.weights[z]);
    }
    return state;
  }

  /// The state as a checkpoint of the model holds it.
  std::string checkpoint(const RbhmcState& state, bool leaf_weights, bool theta, Stream& stream) const {
    const RbhmcTree& tree = trees_[state.tree];
    ByteWriter bytes;
    bytes.put(settings_.alpha);
    bytes.put(settings_.gamma);
    bytes.put(settings_.gamma0);
    for (std::size_t z = 0; z < tree.nodes.size(); ++z) {
      if (z > 0) bytes.put(state.eta[z].data(), state.eta[z].size());
      if (tree.nodes[z].level < tree.depth || leaf_weights)
        bytes.put(state.weights[z].data(), state.weights[z].size());
    }
    const Labels& partition = partitions_[state.partition];
    std::vector<double> stats(family_->stats_size());
    std::vector<double> parameters(family_->theta_size());
    for (std::size_t k = 0; theta && k < components_[state.partition]; ++k) {
      family_->clear(stats.data());
      for (std::size_t row = 0; row < rows_; ++row)
        if (partition[row] == static_cast<Label>(k)) family_->add(stats.data(), (*data_)[row]);
      family_->draw_theta(stats.data(), stream, parameters.data());
      bytes.put(parameters.data(), parameters.size());
    }
    bytes.put(partition.data(), partition.size());
    bytes.put(tree.labels.data(), tree.labels.size());
    return bytes.take();
  }

 private:
  using Counts = std::vector<std::vector<std::size_t>>;  // node x component

  static std::uint64_t key(std::span<const Label> labels) {
    std::uint64_t key = 0;
    for (const Label label : labels) key = key * 8 + static_cast<std::uint64_t>(label);
    return key;
  }

  double least_hinge() const {
    // A row's gate is at most the size of the parent over that of the child.
    if (settings_.infomax) {
      double most = 0.0;
      for (std::size_t level = 1; level <= settings_.levels; ++level) most += settings_.power(level);
      return -0.5 * most * static_cast<double>(rows_) * std::log(static_cast<double>(rows_));
    }
    return settings_.centered ? -settings_.margin * static_cast<double>(settings_.levels * rows_) : 0.0;
  }

  void draw_eta(Stream& stream, const RbhmcTree& tree, std::vector<std::vector<double>>& eta) const {
    eta.resize(tree.nodes.size());
    const double sd = settings_.learn_sd ? std::sqrt(1.0 / draw_gamma(stream, 1.0)) : settings_.sd;
    for (std::vector<double>& vector : eta) {
      vector.resize(feature_size());
      for (double& value : vector) value = sd * draw_normal(stream);
    }
  }

  /// Row by row, each along every path there is or into a new branch at any level.
  void list_trees() {
    std::vector<Labels> paths(rows_, Labels(settings_.levels));
    const std::function<void(std::size_t, double)> place = [&](std::size_t row, double probability) {
      if (row == rows_) {
        Labels labels;
        for (std::size_t level = 0; level < settings_.levels; ++level) {
          Labels at_level;
          for (const Labels& path : paths) at_level.push_back(path[level]);
          labels.insert(labels.end(), at_level.begin(), at_level.end());
        }
        index_.emplace(key(labels), trees_.size());
        trees_.emplace_back(std::move(labels), rows_);
        prior_.push_back(probability);
        return;
      }
      const std::function<void(std::size_t, std::vector<std::size_t>, double)> descend =
          [&](std::size_t level, const std::vector<std::size_t>& with, double reached) {
            if (level == settings_.levels) {
              place(row + 1, reached);
              return;
            }
            const double total = static_cast<double>(with.size()) + settings_.alpha;
            std::vector<Label> seen;
            for (const std::size_t other : with) {
              const Label child = paths[other][level];
              if (std::find(seen.begin(), seen.end(), child) != seen.end()) continue;
              seen.push_back(child);
              std::vector<std::size_t> there;
              for (const std::size_t each : with)
                if (paths[each][level] == child) there.push_back(each);
              paths[row][level] = child;
              descend(level + 1, there, reached * static_cast<double>(there.size()) / total);
            }
            Label next = 0;  // labels are numbered over the whole level
            for (std::size_t other = 0; other < row; ++other) next = std::max(next, paths[other][level] + 1);
            paths[row][level] = next;
            descend(level + 1, {}, reached * settings_.alpha / total);
          };
      std::vector<std::size_t> all(row);
      for (std::size_t i = 0; i < row; ++i) all[i] = i;
      descend(0, all, probability);
    };
    place(0, 1.0);
  }

  /// visit(customers of every node, weight) for all table counts; the weight is p(components, tables | tree).
  template <typename Visit>
  void for_each_table_count(const RbhmcTree& tree, const Labels& partition, std::size_t components,
                            Visit&& visit) const {
    Counts counts(tree.nodes.size(), std::vector<std::size_t>(components, 0));
    for (std::size_t row = 0; row < rows_; ++row)
      ++counts[tree.node_of(tree.depth, row)][static_cast<std::size_t>(partition[row])];
    count_tables(tree, components, tree.nodes.size() - 1, 0, 1.0, counts, visit);
  }

  template <typename Visit>
  void count_tables(const RbhmcTree& tree, std::size_t components, std::size_t z, std::size_t k,
                    double weight, Counts& counts, Visit&& visit) const {
    if (z == 0) {
      std::size_t total = 0;
      for (const std::size_t n : counts[0]) {
        total += n;
        weight *= settings_.gamma0 * std::tgamma(static_cast<double>(n));
      }
      visit(counts, weight / rising_gamma0_[total]);
      return;
    }
    if (k == 0) {
      std::size_t total = 0;
      for (const std::size_t n : counts[z]) total += n;
      weight /= rising_gamma_[total];
    }
    if (k == components) {
      count_tables(tree, components, z - 1, 0, weight, counts, visit);
      return;
    }
    const std::size_t n = counts[z][k];
    if (n == 0) {
      count_tables(tree, components, z, k + 1, weight, counts, visit);
      return;
    }
    std::size_t& above = counts[tree.nodes[z].parent][k];
    double power = 1.0;
    for (std::size_t m = 1; m <= n; ++m) {
      power *= settings_.gamma;
      ++above;
      count_tables(tree, components, z, k + 1, weight * power * stirling_[n][m], counts, visit);
    }
    above -= n;
  }

  double log_marginal_of(std::span<const std::size_t> members) const {
    std::vector<double> stats(family_->stats_size());
    family_->clear(stats.data());
    for (const std::size_t row : members) family_->add(stats.data(), (*data_)[row]);
    return family_->log_marginal(stats.data());
  }

  void weigh_trees(const LogMarginal& log_marginal) {
    std::vector<double> log_marginals;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      double total = 0.0;
      for (std::size_t k = 0; k < components_[i]; ++k) {
        std::vector<std::size_t> members;
        for (std::size_t row = 0; row < rows_; ++row)
          if (partitions_[i][row] == static_cast<Label>(k)) members.push_back(row);
        total += log_marginal ? log_marginal(members) : log_marginal_of(members);
      }
      log_marginals.push_back(total);
      largest = std::max(largest, total);
    }
    double all = 0.0;
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
      double total = 0.0;
      double remainder = 0.0;
      std::vector<double> weights;
      for (std::size_t i = 0; i < partitions_.size(); ++i) {
        double of_partition = 0.0;
        const double likelihood = std::exp(log_marginals[i] - largest);
        for_each_table_count(trees_[tree], partitions_[i], components_[i],
                             [&](const Counts& counts, double weight) {
                               double dishes = settings_.gamma0;
                               for (const std::size_t n : counts[0]) dishes += static_cast<double>(n);
                               of_partition += weight * likelihood;
                               remainder += weight * likelihood * settings_.gamma0 / dishes;
                             });
        weights.push_back(of_partition);
        total += of_partition;
      }
      for (double& weight : weights) weight /= total;
      given_tree_.push_back(std::move(weights));
      remainder_.push_back(remainder / total);
      plain_.push_back(prior_[tree] * total);
      all += plain_.back();
    }
    for (double& weight : plain_) weight /= all;
    log_evidence_ = std::log(all) + largest;
  }

  /// Of e = exp(-2 C Xi) and h = Xi e: means, and covariances of the means.
  struct HingeMoments {
    double e = 1.0, h = 0.0, ee = 0.0, eh = 0.0, hh = 0.0;
  };

  void weigh_hinges(double draws, std::uint64_t seed) {
    moments_.resize(trees_.size());
    Stream stream({seed, 0, 0}, Purpose::test, 17);
    std::vector<std::vector<double>> eta;
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      if (!trees_[i].siblings_exist) continue;
      if (settings_.evidence) {  // no discriminants, no error
        const double hinge = hinge_of(trees_[i], {});
        const double factor = std::exp(-2.0 * settings_.penalty * hinge);
        moments_[i] = {factor, factor * hinge, 0.0, 0.0, 0.0};
        continue;
      }
      const double count = std::max(1000.0, std::floor(draws * plain_[i]));
      double e = 0.0, h = 0.0, ee = 0.0, eh = 0.0, hh = 0.0;
      for (double n = 0.0; n < count; n += 1.0) {
        draw_eta(stream, trees_[i], eta);
        const double hinge = hinge_of(trees_[i], eta);
        const double factor = std::exp(-2.0 * settings_.penalty * hinge);
        e += factor;
        h += factor * hinge;
        ee += factor * factor;
        eh += factor * factor * hinge;
        hh += factor * hinge * factor * hinge;
      }
      e /= count;
      h /= count;
      moments_[i] = {e, h, (ee / count - e * e) / count, (eh / count - e * h) / count,
                     (hh / count - h * h) / count};
    }
  }

  void sum_up() {
    const auto add_name = [&](const std::string& name, bool event) {
      names_.push_back(name);
      is_event_.push_back(event);
    };
    const auto pair = [](std::size_t a, std::size_t b) { return fmt::format("({},{})", a + 1, b + 1); };
    for (std::size_t level = 1; level <= settings_.levels; ++level)
      for (std::size_t a = 0; a < rows_; ++a)
        for (std::size_t b = 0; b < a; ++b) add_name(fmt::format("P{}{}", level, pair(a, b)), true);
    add_name("leaves", false);
    add_name("nodes", false);
    add_name("single path", true);
    for (std::size_t level = 1; level <= settings_.levels; ++level)
      add_name(fmt::format("pairs at level {}", level), false);
    for (std::size_t a = 0; a < rows_; ++a)
      for (std::size_t b = 0; b < a; ++b) add_name("Pc" + pair(a, b), true);
    add_name("K", false);
    add_name("remainder", false);
    add_name("hinge", false);
    for (const RbhmcTree& tree : trees_) {
      std::vector<double> values;
      for (std::size_t level = 1; level <= settings_.levels; ++level)
        for (std::size_t a = 0; a < rows_; ++a)
          for (std::size_t b = 0; b < a; ++b) values.push_back(tree.together(level, a, b) ? 1.0 : 0.0);
      values.push_back(static_cast<double>(tree.leaves));
      values.push_back(static_cast<double>(tree.nodes.size() - 1));
      values.push_back(tree.siblings_exist ? 0.0 : 1.0);
      for (std::size_t level = 1; level <= settings_.levels; ++level) {
        double pairs = 0.0;
        for (const RbhmcTree::Node& node : tree.nodes)
          if (node.level == level) pairs += 0.5 * static_cast<double>(node.size * (node.size - 1));
        values.push_back(pairs);
      }
      of_tree_.push_back(std::move(values));
    }
    double all = 0.0;
    for (std::size_t i = 0; i < trees_.size(); ++i) all += plain_[i] * moments_[i].e;
    for (std::size_t i = 0; i < trees_.size(); ++i) probability_.push_back(plain_[i] * moments_[i].e / all);
    std::vector<double> given(names_.size());
    std::vector<std::vector<double>> of_tree(trees_.size(), std::vector<double>(names_.size() - 1, 0.0));
    for (std::size_t i = 0; i < trees_.size(); ++i)
      for (std::size_t c = 0; c < partitions_.size(); ++c) {
        evaluate(i, partitions_[c], remainder_[i], 0.0, given);
        for (std::size_t j = 0; j + 1 < names_.size(); ++j) of_tree[i][j] += given_tree_[i][c] * given[j];
      }
    for (std::size_t j = 0; j + 1 < names_.size(); ++j) {
      Estimate estimate;
      for (std::size_t i = 0; i < trees_.size(); ++i) estimate.mean += probability_[i] * of_tree[i][j];
      for (std::size_t i = 0; i < trees_.size(); ++i) {
        const double pull = plain_[i] * (of_tree[i][j] - estimate.mean) / all;
        estimate.error += pull * pull * moments_[i].ee;
      }
      estimate.error = std::sqrt(std::max(0.0, estimate.error));
      expectation_.push_back(estimate);
    }
    Estimate hinge;
    for (std::size_t i = 0; i < trees_.size(); ++i) hinge.mean += plain_[i] * moments_[i].h / all;
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      const HingeMoments& m = moments_[i];
      hinge.error += plain_[i] * plain_[i] / all / all *
                     (m.hh - 2.0 * hinge.mean * m.eh + hinge.mean * hinge.mean * m.ee);
    }
    hinge.error = std::sqrt(std::max(0.0, hinge.error));
    expectation_.push_back(hinge);
  }

  const Family* family_;
  const Rows* data_;
  RbhmcSettings settings_;
  std::size_t rows_;
  std::vector<std::vector<double>> features_;
  std::vector<double> rising_gamma_, rising_gamma0_;
  std::vector<std::vector<double>> stirling_;
  std::vector<Labels> partitions_;
  std::vector<std::size_t> components_;
  std::vector<RbhmcTree> trees_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::vector<double> prior_, plain_, probability_, remainder_;
  std::vector<std::vector<double>> given_tree_;
  std::vector<HingeMoments> moments_;
  double log_evidence_ = 0.0;
  std::vector<std::string> names_;
  std::vector<bool> is_event_;
  std::vector<std::vector<double>> of_tree_;
  std::vector<Estimate> expectation_;
};

}  // namespace coppice::test
