// The forest over the columns while it grows. Every node is a view of its columns, with the tree over the
// rows that they see and the lower bound of their evidence; its potentials follow the same recursion as those
// of rows (tree_recursion.hpp), with that bound as the log probability of the node's columns being one view.
// The forest's own lower bound is
//   LB = sum over roots of log phi + log Gamma(alpha_c) - log Gamma(J + alpha_c).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/base/byte_stream.hpp"
#include "coppice/model/bhcc/view_trees.hpp"
#include "coppice/prior/crp.hpp"
#include "coppice/shape/cross_tree.hpp"

namespace coppice::bhcc {

class ColumnForest {
 public:
  using Node = Dendrogram::Node;

  /// Every column by itself, with a view of one cluster; set_leaf gives it a better one. The trees must
  /// outlive it.
  explicit ColumnForest(const ViewTrees& trees);
  /// Every column by itself, with the views that the columns have in another forest.
  static ColumnForest of_leaves(const ColumnForest& other);

  void set_leaf(std::size_t column, ViewTree view);
  Node join(Node a, Node b, ViewTree view);
  /// A leaf of several columns (ascending); a single one keeps its number.
  Node block(std::span<const std::uint32_t> columns, ViewTree view);

  const Dendrogram& dendrogram() const { return dendrogram_; }
  const Crp& prior() const { return prior_; }
  const ViewTree& view(Node node) const { return views_[node]; }
  double log_phi(Node node) const { return log_phi_[node]; }
  double log_weight(Node node) const {
    return prior_.log_kappa(dendrogram_.size(node)) + views_[node].log_bound;
  }
  /// Ascending.
  std::vector<std::size_t> columns_of(Node node) const;
  std::vector<std::size_t> columns_of(Node a, Node b) const;

  double log_bound() const;
  /// The same, recomputing every bound that has a tree.
  double log_bound_from_scratch() const;

  /// The trees; views that are none with any probability worth the name, and not among the flat views, are
  /// left out.
  CrossTree cross_tree() const;
  void save(ByteWriter& writer) const;
  /// Throws Error{bad_data} if the bytes are no forest over these columns.
  void load(ByteReader& reader);
  /// A forest of blocks whose only partition is the given one.
  void convert_to(const Views& views);

 private:
  ColumnForest(const ViewTrees& trees, std::vector<ViewTree> leaves);
  double log_phi_from(Node node, double log_weight, std::span<const double> log_phi) const;

  const ViewTrees* trees_;
  Crp prior_;
  Dendrogram dendrogram_;
  std::vector<ViewTree> views_;  // by node, as the others
  std::vector<double> log_phi_;
};

}  // namespace coppice::bhcc
