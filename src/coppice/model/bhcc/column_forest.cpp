#include "coppice/model/bhcc/column_forest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/cluster/tree_recursion.hpp"

namespace coppice::bhcc {
namespace {

/// Views that are one with less than this log probability have none in double precision.
constexpr double kNever = -700.0;

}  // namespace

ColumnForest::ColumnForest(const ViewTrees& trees) : ColumnForest(trees, trees.of_one_cluster()) {}

ColumnForest::ColumnForest(const ViewTrees& trees, std::vector<ViewTree> leaves)
    : trees_(&trees),
      prior_(trees.options().alpha_columns, leaves.size()),
      dendrogram_(leaves.size()),
      views_(std::move(leaves)) {
  for (Node column = 0; column < views_.size(); ++column) log_phi_.push_back(log_weight(column));
}

ColumnForest ColumnForest::of_leaves(const ColumnForest& other) {
  const auto count = static_cast<std::ptrdiff_t>(other.dendrogram_.items());
  return {*other.trees_, std::vector<ViewTree>(other.views_.begin(), other.views_.begin() + count)};
}

void ColumnForest::set_leaf(std::size_t column, ViewTree view) {
  views_[column] = std::move(view);
  log_phi_[column] = log_weight(static_cast<Node>(column));
}

double ColumnForest::log_phi_from(Node node, double log_weight, std::span<const double> log_phi) const {
  if (dendrogram_.is_leaf(node)) return log_weight;
  return log_phi_above(log_weight, log_phi[dendrogram_.left(node)] + log_phi[dendrogram_.right(node)]);
}

ColumnForest::Node ColumnForest::join(Node a, Node b, ViewTree view) {
  const double log_weight = prior_.log_kappa(dendrogram_.size(a) + dendrogram_.size(b)) + view.log_bound;
  const Node made = dendrogram_.join(a, b, log_odds_above(log_weight, log_phi_[a] + log_phi_[b]));
  views_.push_back(std::move(view));
  log_phi_.push_back(log_phi_from(made, log_weight, log_phi_));
  return made;
}

ColumnForest::Node ColumnForest::block(std::span<const std::uint32_t> columns, ViewTree view) {
  if (columns.size() == 1) {
    set_leaf(columns.front(), std::move(view));
    return columns.front();
  }
  const Node made = dendrogram_.block(columns);
  views_.push_back(std::move(view));
  log_phi_.push_back(log_weight(made));
  for (const std::uint32_t column : columns) views_[column].rows.reset();  // they have no say any more
  return made;
}

std::vector<std::size_t> ColumnForest::columns_of(Node node) const {
  std::vector<std::size_t> columns;
  dendrogram_.for_each_item(node, [&](std::uint32_t column) { columns.push_back(column); });
  std::sort(columns.begin(), columns.end());
  return columns;
}

std::vector<std::size_t> ColumnForest::columns_of(Node a, Node b) const {
  const std::vector<std::size_t> one = columns_of(a);
  const std::vector<std::size_t> other = columns_of(b);
  std::vector<std::size_t> both(one.size() + other.size());
  std::merge(one.begin(), one.end(), other.begin(), other.end(), both.begin());
  return both;
}

double ColumnForest::log_bound() const {
  double total =
      log_gamma(prior_.alpha()) - log_gamma(prior_.alpha() + static_cast<double>(dendrogram_.items()));
  for (const Node root : dendrogram_.roots()) total += log_phi_[root];
  return total;
}

double ColumnForest::log_bound_from_scratch() const {
  ColumnForest fresh = *this;
  for (Node node = 0; node < dendrogram_.nodes(); ++node) {
    if (views_[node].rows) fresh.views_[node] = trees_->reshape(columns_of(node), *views_[node].rows);
    fresh.log_phi_[node] = log_phi_from(node, fresh.log_weight(node), fresh.log_phi_);
  }
  return fresh.log_bound();
}

CrossTree ColumnForest::cross_tree() const {
  const TreePosterior posterior(dendrogram_);
  CrossTree tree{dendrogram_, std::vector<std::shared_ptr<const Dendrogram>>(dendrogram_.nodes())};
  for (Node node = 0; node < dendrogram_.nodes(); ++node)
    if (posterior.log_cluster(node) > kNever) tree.rows[node] = views_[node].rows;
  for (const Node node : nodes_of_views(dendrogram_, trees_->options().clusters_of(posterior)))
    tree.rows[node] = views_[node].rows;
  for (const Node root : dendrogram_.roots()) tree.rows[root] = views_[root].rows;
  return tree;
}

void ColumnForest::save(ByteWriter& writer) const {
  cross_tree().save(writer);
  for (const ViewTree& view : views_) writer.put(view.log_bound);
}

void ColumnForest::load(ByteReader& reader) {
  CrossTree tree = CrossTree::load(reader, trees_->table().count(), trees_->table().rows());
  dendrogram_ = std::move(tree.columns);
  views_.clear();
  log_phi_.clear();
  for (Node node = 0; node < dendrogram_.nodes(); ++node) {
    views_.push_back({std::move(tree.rows[node]), reader.get<double>()});
    if (!std::isfinite(views_.back().log_bound))
      fail(ErrorCode::bad_data, "the run file is damaged: a view without a bound");
    log_phi_.push_back(log_phi_from(node, log_weight(node), log_phi_));
  }
}

void ColumnForest::convert_to(const Views& views) {
  *this = ColumnForest(*trees_);
  std::vector<std::vector<std::uint32_t>> columns(views.count());
  for (std::uint32_t column = 0; column < views.columns.size(); ++column)
    columns[static_cast<std::size_t>(views.columns[column])].push_back(column);
  for (std::size_t v = 0; v < views.count(); ++v) {
    std::vector<std::vector<std::uint32_t>> rows(cluster_sizes(views.rows[v]).size());
    for (std::uint32_t row = 0; row < views.rows[v].size(); ++row)
      rows[static_cast<std::size_t>(views.rows[v][row])].push_back(row);
    Dendrogram tree(views.rows[v].size());
    for (const std::vector<std::uint32_t>& members : rows)
      if (members.size() > 1) tree.block(members);
    const std::vector<std::size_t> cells(columns[v].begin(), columns[v].end());
    block(columns[v], trees_->reshape(cells, tree));
  }
}

}  // namespace coppice::bhcc
