#include "coppice/model/rbhmc/gates.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"

namespace coppice::rbhmc {
namespace {

/// Sums logarithms of factors, taking them of products: a factor is at most exp(600).
class LogProduct {
 public:
  void multiply(double factor) {
    product_ *= factor;
    if (product_ > 1e40 || product_ < 1e-40) flush();
  }
  double take() {
    flush();
    return total_;
  }

 private:
  void flush() {
    total_ += std::log(product_);
    product_ = 1.0;
  }
  double product_ = 1.0, total_ = 0.0;
};

}  // namespace

double bounded_score(const double* eta, const double* feature, std::size_t stride) {
  return std::clamp(dot(eta, feature, stride), -Gates::kLargestScore, Gates::kLargestScore);
}

Gates::Gates(std::size_t rows, const std::vector<double>& powers)
    : stride_((rows + kLanes - 1) / kLanes * kLanes), powers_(powers), sums_(stride_ * powers.size(), 1.0) {}

void Gates::fit(std::size_t nodes) {
  if (scores_.size() >= nodes * stride_) return;
  scores_.resize(nodes * stride_, 0.0);
  weights_.resize(nodes * stride_, 1.0);
}

void Gates::set_node(NodeId node, const double* eta, const FeatureRows& features) {
  double* scores = scores_.data() + node * stride_;
  double* weights = weights_.data() + node * stride_;
  for (std::size_t row = 0; row < features.count; ++row)
    scores[row] = bounded_score(eta, features[row], features.stride);
  for (std::size_t i = 0; i < stride_; i += kLanes) store_lanes(weights + i, exp(load_lanes(scores + i)));
}

void Gates::refresh(const LevelTree& tree, NodeId parent) {
  const std::size_t level = tree.level(parent) + 1;
  const std::span<const NodeId> children = tree.children(parent);
  tree.for_each_row_below(parent, [&](std::uint32_t row) {
    double sum = 0.0;
    for (const NodeId child : children) sum += static_cast<double>(tree.size(child)) * weight(child, row);
    sum_at(level, row) = sum;
  });
}

double Gates::total(const LevelTree& tree, NodeId parent) const {
  const std::size_t level = tree.level(parent) + 1;
  if (tree.children(parent).size() < 2) return 0.0;
  double scores = 0.0;
  LogProduct sums;
  for (const NodeId child : tree.children(parent))
    tree.for_each_row_below(child, [&](std::uint32_t row) {
      scores += score(child, row);
      sums.multiply(sum(level, row));
    });
  const auto size = static_cast<double>(tree.size(parent));
  return power(level) * (scores - sums.take() + size * std::log(size));
}

double Gates::total(const LevelTree& tree) const {
  double total_of_all = 0.0;
  for (std::size_t level = 0; level < tree.depth(); ++level)
    for (const NodeId parent : tree.at_level(level)) total_of_all += total(tree, parent);
  return total_of_all;
}

void Gates::row_leaves(const LevelTree& tree, std::size_t row) {
  for (NodeId node = tree.leaf(row); node != LevelTree::kRoot; node = tree.parent(node)) {
    const NodeId parent = tree.parent(node);
    const std::size_t level = tree.level(node);
    // What goes with the row is left out of the sums, not taken off: nothing may cancel.
    const bool is_last = tree.size(node) == 1;
    if (is_last && tree.size(parent) == 1) continue;
    tree.for_each_row_below(parent, [&](std::uint32_t other) {
      if (!is_last) {
        sum_at(level, other) -= weight(node, other);
        return;
      }
      double sum = 0.0;
      for (const NodeId child : tree.children(parent))
        if (child != node) sum += static_cast<double>(tree.size(child)) * weight(child, other);
      sum_at(level, other) = sum;
    });
  }
}

void Gates::row_came(const LevelTree& tree, std::size_t row) {
  for (NodeId node = tree.leaf(row); node != LevelTree::kRoot; node = tree.parent(node)) {
    const NodeId parent = tree.parent(node);
    const std::size_t level = tree.level(node);
    tree.for_each_row_below(parent,
                            [&](std::uint32_t other) { sum_at(level, other) += weight(node, other); });
    double sum = 0.0;
    for (const NodeId child : tree.children(parent))
      sum += static_cast<double>(tree.size(child)) * weight(child, row);
    sum_at(level, row) = sum;
  }
}

template <typename Weight>
double Gates::gain_at(const LevelTree& tree, NodeId parent, std::size_t row, double score,
                      const Weight& weight_of) const {
  const std::size_t level = tree.level(parent) + 1;
  const auto before = static_cast<double>(tree.size(parent));
  double own_sum = std::exp(score);
  for (const NodeId child : tree.children(parent))
    own_sum += static_cast<double>(tree.size(child)) * weight(child, row);
  LogProduct growth;
  tree.for_each_row_below(
      parent, [&](std::uint32_t other) { growth.multiply(1.0 + weight_of(other) / sum(level, other)); });
  double gain = score - std::log(own_sum) + std::log(before + 1.0) - growth.take();
  if (before > 0.0) gain += before * std::log((before + 1.0) / before);
  return power(level) * gain;
}

double Gates::gain(const LevelTree& tree, std::size_t row, NodeId node, const double* eta_new,
                   const FeatureRows& features, std::size_t above) const {
  double total_gain = 0.0;
  // Below a new child the row is alone, and its gates are one.
  if (eta_new != nullptr)
    total_gain += gain_at(tree, node, row, bounded_score(eta_new, features[row], features.stride),
                          [&](std::size_t other) {
                            return std::exp(bounded_score(eta_new, features[other], features.stride));
                          });
  for (; tree.level(node) > above; node = tree.parent(node)) {
    const double* weights = weights_.data() + node * stride_;
    total_gain += gain_at(tree, tree.parent(node), row, score(node, row),
                          [&](std::size_t other) { return weights[other]; });
  }
  return total_gain;
}

}  // namespace coppice::rbhmc
