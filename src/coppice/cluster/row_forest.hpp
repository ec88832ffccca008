// A forest over the rows while it grows: a MergeTree that carries statistics, and the Dendrogram that is kept
// of it.
#pragma once

#include <cstdint>
#include <vector>

#include "coppice/cluster/merge_tree.hpp"
#include "coppice/prior/crp.hpp"
#include "coppice/shape/dendrogram.hpp"

namespace coppice {

class RowForest {
 public:
  using Node = MergeTree::Node;

  /// Family and rows must outlive it.
  RowForest(const Family& family, const Rows& rows, double alpha);
  RowForest(const RowForest&) = delete;  // its trees point at its prior
  RowForest& operator=(const RowForest&) = delete;

  const Family& family() const { return *family_; }
  const Rows& rows() const { return *rows_; }
  const Crp& prior() const { return prior_; }
  MergeTree& trees() { return trees_; }
  const MergeTree& trees() const { return trees_; }
  const Dendrogram& dendrogram() const { return dendrogram_; }

  /// Removes all trees; no row is in a tree then.
  void clear();
  /// The forest of a dendrogram: recomputes statistics and log odds from the rows.
  void rebuild(const Dendrogram& shape);
  /// Makes a tree of each row that has none; all roots, by their first rows.
  std::vector<Node> plant();
  /// Takes in a node that was made in trees(): a merge of two roots, or a block.
  void record(Node made);

  /// The number of a node in the dendrogram, and back; a row without a tree has no node.
  Dendrogram::Node number_of(Node node) const;
  Node node_of(Dendrogram::Node number) const { return node_of_[number]; }
  /// The node of a number; a row that has none gets one.
  Node planted(Dendrogram::Node number) {
    if (node_of_[number] == MergeTree::kNone) node_of_[number] = trees_.leaf(number);
    return node_of_[number];
  }

  /// The lower bound of the log evidence that the forest gives: the sum over all partitions that cutting its
  /// trees can give.
  double log_bound() const;
  /// All potentials for another concentration.
  void set_alpha(double alpha);

 private:
  const Family* family_;
  const Rows* rows_;
  Crp prior_;
  MergeTree trees_;
  Dendrogram dendrogram_;
  std::vector<Dendrogram::Node> number_of_;  // of made nodes of trees_
  std::vector<Node> node_of_;                // kNone: a row without a tree
};

}  // namespace coppice
