#include "coppice/prior/nested_crp.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/prior/hdp.hpp"

namespace coppice {

double log_nested_crp(const LevelTree& tree, double alpha) {
  double total = 0.0;
  for (std::size_t level = 0; level < tree.depth(); ++level)
    for (const NodeId node : tree.at_level(level)) {
      total += static_cast<double>(tree.children(node).size()) * std::log(alpha) -
               log_rising(alpha, static_cast<double>(tree.size(node)));
      for (const NodeId child : tree.children(node))
        total += log_gamma(static_cast<double>(tree.size(child)));
    }
  return total;
}

void draw_nested_crp(Stream& stream, double alpha, LevelTree& tree) {
  tree.clear();
  std::vector<double> weights;
  for (std::size_t row = 0; row < tree.rows(); ++row) {
    NodeId node = LevelTree::kRoot;
    for (std::size_t level = 0; level < tree.depth(); ++level) {
      weights.clear();
      for (const NodeId child : tree.children(node)) weights.push_back(static_cast<double>(tree.size(child)));
      weights.push_back(alpha);
      const std::size_t drawn = draw_categorical(stream, weights);
      node = drawn + 1 == weights.size() ? tree.add_child(node) : tree.children(node)[drawn];
    }
    tree.attach(row, node);
  }
}

double update_nested_crp(Stream& stream, const GammaPrior& prior, double alpha, const LevelTree& tree) {
  double shape = prior.shape;
  double rate = prior.rate;
  for (std::size_t level = 0; level < tree.depth(); ++level)
    for (const NodeId node : tree.at_level(level)) {
      shape += static_cast<double>(tree.children(node).size());
      rate -= draw_log_beta(stream, alpha, static_cast<double>(tree.size(node)));
    }
  return std::max(draw_gamma(stream, shape) / rate, 1e-300);
}

}  // namespace coppice
