#include "coppice/model/bhcc/column_filter.hpp"

#include <cmath>
#include <utility>

#include "coppice/base/math.hpp"

namespace coppice::bhcc {

ColumnFilter::ColumnFilter(const ViewTrees& trees, const ColumnForest& small, Node left, Node right)
    : trees_(&trees) {
  add_views(small, left);
  on_left_ = views_.size();
  add_views(small, right);
  if (!trees.options().filters_as_published) return;
  log_left_ = log_prior_of_one(small, left);
  log_right_ = log_prior_of_one(small, right);
}

void ColumnFilter::add_views(const ColumnForest& small, Node half) {
  const Dendrogram& tree = small.dendrogram();
  std::vector<std::pair<Node, double>> stack{{half, 0.0}};  // with log of (1 - r) above
  while (!stack.empty()) {
    const auto [node, log_above] = stack.back();
    stack.pop_back();
    const double log_whole = tree.is_leaf(node) ? 0.0 : log_logistic(tree.log_odds(node));
    const double log_size =
        trees_->options().filters_as_published ? 0.0 : std::log(static_cast<double>(tree.size(node)));
    const Dendrogram& shape = *small.view(node).rows;
    View view{&shape, shape.roots(), log_above + log_whole + log_size, {}, {}};
    for (auto made = static_cast<Node>(shape.items()); made < shape.nodes(); ++made) {
      view.log_whole.push_back(shape.is_block(made) ? 0.0 : log_logistic(shape.log_odds(made)));
      view.log_apart.push_back(shape.is_block(made) ? 0.0 : log_logistic(-shape.log_odds(made)));
    }
    views_.push_back(std::move(view));
    if (tree.is_leaf(node)) continue;
    const double log_below = log_above + log_logistic(-tree.log_odds(node));
    stack.emplace_back(tree.left(node), log_below);
    stack.emplace_back(tree.right(node), log_below);
  }
}

/// log pi: the share of "one view" in the prior of all partitions that the half can give.
double ColumnFilter::log_prior_of_one(const ColumnForest& small, Node half) const {
  const Dendrogram& tree = small.dendrogram();
  std::vector<double> log_all(tree.nodes(), 0.0);
  for (Node node = 0; node <= half; ++node) {
    const double log_one = small.prior().log_kappa(tree.size(node));
    log_all[node] = tree.is_leaf(node)
                        ? log_one
                        : log_add_exp(log_one, log_all[tree.left(node)] + log_all[tree.right(node)]);
  }
  return small.prior().log_kappa(tree.size(half)) - log_all[half];
}

/// Q(c) = r exp M(c) + (1 - r) Q(left) Q(right) over the rows.
Lanes ColumnFilter::log_probability(const View& view, std::span<const std::uint32_t> columns,
                                    TableColumns::Workspace& work, AlignedVector& profiles,
                                    AlignedVector& log_q) const {
  const Dendrogram& shape = *view.shape;
  const std::size_t rows = shape.items();
  const std::size_t made = view.log_whole.size();
  profiles.assign(made * kLanes, 0.0);
  log_q.assign(shape.nodes() * kLanes, 0.0);
  std::vector<double> one(made);
  TableColumns::take_tree(shape, work);
  for (std::size_t lane = 0; lane < columns.size(); ++lane) {
    const std::span<const double> alone = trees_->table().alone(columns[lane]);
    for (std::size_t row = 0; row < rows; ++row) log_q[row * kLanes + lane] = alone[row];
    trees_->table().log_marginals(columns[lane], work, one.data());
    for (std::size_t i = 0; i < made; ++i) profiles[i * kLanes + lane] = one[i];
  }
  for (std::size_t i = 0; i < made; ++i) {
    const auto node = static_cast<Node>(rows + i);
    Lanes value = view.log_whole[i] + load_lanes(profiles.data() + i * kLanes);
    if (!shape.is_block(node))
      value = log_add_exp(value, view.log_apart[i] + (load_lanes(log_q.data() + shape.left(node) * kLanes) +
                                                      load_lanes(log_q.data() + shape.right(node) * kLanes)));
    store_lanes(log_q.data() + node * kLanes, value);
  }
  Lanes total{};
  for (const Node root : view.roots) total += load_lanes(log_q.data() + root * kLanes);
  return total;
}

void ColumnFilter::operator()(std::span<const std::uint32_t> columns, Sides* out) const {
  TableColumns::Workspace work;
  AlignedVector profiles, log_q;
  std::vector<double> terms[kLanes];
  for (const View& view : views_) {
    const Lanes log_terms = view.log_weight + log_probability(view, columns, work, profiles, log_q);
    for (std::size_t lane = 0; lane < columns.size(); ++lane) terms[lane].push_back(log_terms[lane]);
  }
  for (std::size_t lane = 0; lane < columns.size(); ++lane) {
    const std::span<const double> all = terms[lane];
    out[lane] = {log_left_ + log_sum_exp(all.first(on_left_)),
                 log_right_ + log_sum_exp(all.subspan(on_left_))};
  }
}

}  // namespace coppice::bhcc
