#include "coppice/model/rbhmc/evidence.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"

namespace coppice::rbhmc {
namespace {

/// The prior of a node's Gaussian, where all rows have a mean squared length of one: its mean is as uncertain
/// as that of a quarter of a row, and its variance is that of one row at half that squared length.
constexpr double kRowsOfMean = 0.25;
constexpr double kRate = 0.25;

}  // namespace

SplitEvidence::SplitEvidence(std::size_t rows, std::size_t cells, std::size_t stride,
                             const std::vector<double>& powers)
    : stride_(stride), powers_(powers), weights_(powers), by_count_(rows + 1) {
  for (std::size_t level = 0; level + 1 < weights_.size(); ++level) weights_[level] -= powers[level + 1];
  const auto width = static_cast<double>(cells);
  for (std::size_t n = 0; n <= rows; ++n) {
    const auto count = static_cast<double>(n);
    by_count_[n] = (log_gamma(0.5 * width * (1.0 + count)) - log_gamma(0.5 * width)) / width +
                   0.5 * (std::log(kRate) + std::log(kRowsOfMean / (kRowsOfMean + count)));
  }
}

void SplitEvidence::fit(std::size_t nodes) {
  if (counts_.size() >= nodes) return;
  for (std::vector<double>* values : {&counts_, &squares_, &lengths_, &values_}) values->resize(nodes, 0.0);
  sums_.resize(nodes * stride_, 0.0);
}

double SplitEvidence::log_density(double count, double squares, double length) const {
  const double spread = std::max(0.0, squares - length / (kRowsOfMean + count));
  return by_count_[static_cast<std::size_t>(count)] - 0.5 * (1.0 + count) * std::log(kRate + 0.5 * spread);
}

double SplitEvidence::growth(double count, double squares, const double* sum, double by_count,
                             double by_squares, const double* by_sum) const {
  const double length = dot(sum, sum, stride_);
  const double joint = length + 2.0 * dot(sum, by_sum, stride_) + dot(by_sum, by_sum, stride_);
  return log_density(count + by_count, squares + by_squares, joint) - log_density(count, squares, length);
}

double SplitEvidence::growth(NodeId node, const double* row, double squares) const {
  const double joint = lengths_[node] + 2.0 * dot(sum(node), row, stride_) + squares;
  return log_density(counts_[node] + 1.0, squares_[node] + squares, joint) - values_[node];
}

double SplitEvidence::growth(NodeId node, const Group& joining, bool holds) const {
  if (!holds)
    return growth(counts_[node], squares_[node], sum(node), joining.count, joining.squares,
                  joining.sum.data());
  if (joining.count == counts_[node]) return values_[node];
  const double without = lengths_[node] - 2.0 * dot(sum(node), joining.sum.data(), stride_) +
                         dot(joining.sum.data(), joining.sum.data(), stride_);
  return values_[node] -
         log_density(counts_[node] - joining.count, squares_[node] - joining.squares, without);
}

double SplitEvidence::growth_by_node(const Group& group, NodeId joining) const {
  return growth(group.count, group.squares, group.sum.data(), counts_[joining], squares_[joining],
                sum(joining));
}

double SplitEvidence::growth_by_row(const Group& group, std::size_t row, const FeatureRows& features) const {
  const double* y = features[row];
  return growth(group.count, group.squares, group.sum.data(), 1.0, dot(y, y, stride_), y);
}

double SplitEvidence::log_density(const Group& group) const {
  return log_density(group.count, group.squares, dot(group.sum.data(), group.sum.data(), stride_));
}

void SplitEvidence::clear(Group& group) const {
  group.count = 0.0;
  group.squares = 0.0;
  group.sum.assign(stride_, 0.0);
}

void SplitEvidence::add_row(Group& group, std::size_t row, const FeatureRows& features) const {
  const double* y = features[row];
  group.count += 1.0;
  group.squares += dot(y, y, stride_);
  for (std::size_t i = 0; i < stride_; ++i) group.sum[i] += y[i];
}

void SplitEvidence::add_node(Group& group, NodeId node) const {
  group.count += counts_[node];
  group.squares += squares_[node];
  for (std::size_t i = 0; i < stride_; ++i) group.sum[i] += sum(node)[i];
}

void SplitEvidence::set_value(NodeId node) {
  lengths_[node] = dot(sum(node), sum(node), stride_);
  values_[node] = log_density(counts_[node], squares_[node], lengths_[node]);
}

void SplitEvidence::clear_node(NodeId node) {
  counts_[node] = 0.0;
  squares_[node] = 0.0;
  std::fill_n(sum(node), stride_, 0.0);
  set_value(node);
}

void SplitEvidence::change(NodeId node, const double* row, double sign) {
  counts_[node] += sign;
  squares_[node] += sign * dot(row, row, stride_);
  for (std::size_t i = 0; i < stride_; ++i) sum(node)[i] += sign * row[i];
  set_value(node);
}

void SplitEvidence::refresh(const LevelTree& tree, NodeId parent, const FeatureRows& features) {
  for (const NodeId child : tree.children(parent)) {
    counts_[child] = static_cast<double>(tree.size(child));
    squares_[child] = 0.0;
    std::fill_n(sum(child), stride_, 0.0);
    const auto add = [&](const double* from, double squares) {
      squares_[child] += squares;
      for (std::size_t i = 0; i < stride_; ++i) sum(child)[i] += from[i];
    };
    for (const std::uint32_t row : tree.members(child))
      add(features[row], dot(features[row], features[row], stride_));
    for (const NodeId below : tree.children(child)) add(sum(below), squares_[below]);
    set_value(child);
  }
}

void SplitEvidence::refresh_all(const LevelTree& tree, const FeatureRows& features) {
  fit(tree.capacity());
  for (std::size_t level = tree.depth(); level-- > 0;)
    for (const NodeId parent : tree.at_level(level)) refresh(tree, parent, features);
  clear_node(LevelTree::kRoot);
  Group all;
  clear(all);
  for (const NodeId child : tree.children(LevelTree::kRoot)) add_node(all, child);
  counts_[LevelTree::kRoot] = all.count;
  squares_[LevelTree::kRoot] = all.squares;
  std::copy(all.sum.begin(), all.sum.end(), sum(LevelTree::kRoot));
  set_value(LevelTree::kRoot);
}

double SplitEvidence::total(const LevelTree& tree, NodeId parent) const {
  const std::span<const NodeId> children = tree.children(parent);
  if (children.size() < 2) return 0.0;
  double sum_of_children = 0.0;
  for (const NodeId child : children) sum_of_children += values_[child];
  return powers_[tree.level(parent)] * (sum_of_children - values_[parent]);
}

double SplitEvidence::total(const LevelTree& tree) const {
  double total_of_all = 0.0;
  for (std::size_t level = 0; level < tree.depth(); ++level)
    for (const NodeId parent : tree.at_level(level)) total_of_all += total(tree, parent);
  return total_of_all;
}

void SplitEvidence::row_leaves(const LevelTree& tree, std::size_t row, const FeatureRows& features) {
  for (NodeId node = tree.leaf(row); node != LevelTree::kNone; node = tree.parent(node)) {
    // What goes with the row leaves nothing behind.
    if (tree.size(node) == 1)
      clear_node(node);
    else
      change(node, features[row], -1.0);
  }
}

void SplitEvidence::row_came(const LevelTree& tree, std::size_t row, const FeatureRows& features) {
  for (NodeId node = tree.leaf(row); node != LevelTree::kNone; node = tree.parent(node))
    change(node, features[row], 1.0);
}

double SplitEvidence::gain(const LevelTree& tree, std::size_t row, NodeId node, bool is_branch,
                           const FeatureRows& features, std::size_t above) const {
  const double* y = features[row];
  const double squares = dot(y, y, stride_);
  double total_gain = 0.0;
  double grown = growth(node, y, squares);
  // Below a new child the row is alone, and there is nothing to gain.
  if (is_branch) total_gain += powers_[tree.level(node)] * (log_density(1.0, squares, squares) - grown);
  while (tree.level(node) > above) {
    const double power = powers_[tree.level(node) - 1];
    node = tree.parent(node);
    const double grown_above = growth(node, y, squares);
    total_gain += power * (grown - grown_above);
    grown = grown_above;
  }
  return total_gain;
}

bool SplitEvidence::is_near(NodeId node, const Group& group) const {
  const double scale = 1e-8 * (1.0 + group.squares);
  if (counts_[node] != group.count || std::abs(squares_[node] - group.squares) > scale) return false;
  for (std::size_t i = 0; i < stride_; ++i)
    if (std::abs(sum(node)[i] - group.sum[i]) > scale) return false;
  return std::abs(values_[node] - log_density(group)) <= 1e-8 * (1.0 + std::abs(values_[node]));
}

}  // namespace coppice::rbhmc
