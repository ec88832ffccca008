// Predictives under a tree T over I rows, with omega_k the probability that node k is a cluster
// (TreePosterior):
//   a missing cell of row i: sum over the nodes k above i of omega_k p(x | rows of k),
//   a new row x: [sum over nodes k of N_k omega_k p(x | rows of k) + alpha m(x)] / (I + alpha),
// the averages over all partitions that cutting the tree can give.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/cluster/row_forest.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

class TreePredictive {
 public:
  /// Family and rows must outlive it.
  TreePredictive(const Family& family, const Rows& rows, double alpha);

  /// Takes in a tree; its log odds are believed, its statistics come from the rows.
  void set(const Dendrogram& tree);
  /// Canonical labels of flat clusters, between which a new row is to be divided.
  void set_clusters(std::span<const Label> labels);

  /// Nodes that are a cluster with a probability that double precision knows.
  std::size_t components() const { return components_.size(); }
  const double* stats(std::size_t component) const {
    return forest_.trees().stats(forest_.node_of(components_[component].node));
  }
  Dendrogram::Node node(std::size_t component) const { return components_[component].node; }
  const Dendrogram& tree() const { return tree_; }
  /// The components above a row with their weights, which sum to one; tiny ones are left out.
  void components_of(std::size_t row, std::vector<std::pair<std::size_t, double>>& out) const;

  /// out[k] = log p(row, row joins component k); the last of components() + 1 is a new cluster.
  void log_joint(const double* row, std::span<double> out) const;
  /// The same for a row without observed cells.
  void log_shares(std::span<double> out) const;
  double log_density(const double* row) const;
  /// The same by flat clusters: out[c], and last a new one.
  void log_weights(const double* row, std::span<double> out) const;
  std::size_t clusters() const { return sizes_.size(); }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Component {
    Dendrogram::Node node;
    double log_probability;
    double log_rows;        // log of the rows below it
    double log_more_seats;  // log of copies to rows, which predictives have as a factor
    /// Those it has rows of, and the log of how many, without that factor.
    std::vector<std::pair<std::size_t, double>> clusters;
  };
  bool is_inside(Dendrogram::Node node, std::span<const Label> labels) const;
  void fill_cache();
  void log_predictives(const double* row, AlignedVector& out) const;

  double alpha_, log_all_;
  RowForest forest_;
  Dendrogram tree_;
  std::vector<double> empty_;
  bool joins_cells_ = false;  // some columns depend on each other within a cluster
  std::vector<std::size_t> sizes_;
  std::vector<std::size_t> component_of_;  // by node
  std::vector<Component> components_;
  std::size_t stride_ = 0, chunks_ = 0;
  AlignedVector cache_;
};

}  // namespace coppice
