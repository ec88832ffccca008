#include "coppice/cluster/randomized_merging.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coppice/base/aligned.hpp"
#include "coppice/base/math.hpp"
#include "coppice/cluster/greedy_merging.hpp"

namespace coppice {
namespace {

using Node = MergeTree::Node;

/// log S of the two halves of a small tree, for one row after the other.
class Filter {
 public:
  Filter(const Family& family, const MergeTree& tree, Node left, Node right) : family_(&family) {
    std::vector<Node> nodes;
    for (const Node half : {left, right}) {
      std::vector<std::pair<Node, double>> stack{{half, 0.0}};  // with log of (1 - r) above
      while (!stack.empty()) {
        const auto [node, log_above] = stack.back();
        stack.pop_back();
        const double log_odds = -tree.log_d(node);
        nodes.push_back(node);
        log_weights_.push_back(log_above + log_logistic(log_odds) +
                               std::log(static_cast<double>(tree.count(node))));
        if (tree.is_leaf(node)) continue;
        stack.emplace_back(tree.left(node), log_above + log_logistic(-log_odds));
        stack.emplace_back(tree.right(node), log_above + log_logistic(-log_odds));
      }
      if (half == left) in_left_ = nodes.size();
    }
    chunks_ = (nodes.size() + kLanes - 1) / kLanes;
    stride_ = family.cache_size() * kLanes;
    cache_.assign(chunks_ * stride_, 0.0);
    for (std::size_t slot = 0; slot < chunks_ * kLanes; ++slot)  // unused slots hold something finite
      family.fill_cache(tree.stats(nodes[std::min(slot, nodes.size() - 1)]),
                        cache_.data() + slot / kLanes * stride_ + slot % kLanes);
    log_terms_.resize(chunks_ * kLanes);
  }

  std::pair<double, double> operator()(const double* row) {
    std::fill(log_terms_.begin(), log_terms_.end(), 0.0);
    std::copy(log_weights_.begin(), log_weights_.end(), log_terms_.begin());
    family_->add_log_predictive(row, cache_.data(), stride_, chunks_, {}, log_terms_.data());
    const std::span<const double> terms(log_terms_.data(), log_weights_.size());
    return {log_sum_exp(terms.subspan(0, in_left_)), log_sum_exp(terms.subspan(in_left_))};
  }

 private:
  const Family* family_;
  std::vector<double> log_weights_;
  std::size_t in_left_ = 0, chunks_ = 0, stride_ = 0;
  AlignedVector cache_, log_terms_;
};

}  // namespace

RandomizedMerging::RandomizedMerging(const Family& family, const Rows& rows, const ProductPartition& prior,
                                     MergeTree& forest, RandomizedOptions options)
    : family_(&family), rows_(&rows), prior_(&prior), forest_(&forest), division_(std::move(options)) {}

Node RandomizedMerging::merge_all(std::span<const std::uint32_t> rows, const OnMade& on_made) {
  std::vector<Node> leaves;
  for (const std::uint32_t row : rows) leaves.push_back(forest_->leaf(row));
  Node top = leaves.front();
  GreedyMerging(*family_, *prior_, *forest_, leaves, true).run([&](Node made) {
    top = made;
    on_made(made);
  });
  return top;
}

Node RandomizedMerging::block(std::span<const std::uint32_t> rows, const OnMade& on_made) {
  const Node made = forest_->block(rows);
  on_made(made);
  return made;
}

Node RandomizedMerging::join(Node left, Node right, const OnMade& on_made) {
  const Node made = forest_->join(left, right);
  on_made(made);
  return made;
}

void RandomizedMerging::divide(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> chosen,
                               std::vector<char>& on_left) {
  MergeTree small(*family_, *rows_, *prior_);
  std::vector<Node> leaves;
  for (const std::uint32_t row : chosen) leaves.push_back(small.leaf(row));
  Node top = leaves.front();
  GreedyMerging(*family_, *prior_, small, leaves, true).run([&](Node made) { top = made; });
  Filter filter(*family_, small, small.left(top), small.right(top));
  std::vector<char> chosen_on_left(chosen.size(), 0);
  small.for_each_row(small.left(top), [&](std::uint32_t row) {
    chosen_on_left[static_cast<std::size_t>(std::lower_bound(chosen.begin(), chosen.end(), row) -
                                            chosen.begin())] = 1;
  });
  const auto& on_filter = division_.options().on_filter;
  std::size_t next_chosen = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (next_chosen < chosen.size() && chosen[next_chosen] == rows[i]) {
      on_left[i] = chosen_on_left[next_chosen++];
      continue;
    }
    const auto [log_left, log_right] = filter((*rows_)[rows[i]]);
    if (on_filter) on_filter(rows[i], log_left, log_right);
    on_left[i] = log_left > log_right ? 1 : 0;
  }
}

}  // namespace coppice
