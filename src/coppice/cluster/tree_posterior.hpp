// The posterior over the partitions that cutting a tree can give. A node is one cluster with probability
// r = 1 / (1 + exp(-log odds)) if nothing above it is; else its two children are asked. Leaves have r = 1.
//   omega(k) = r(k) prod over strict ancestors (1 - r)   node k is a cluster,
//   W(k) = omega(k) + W(parent)                          two items whose lowest common node is k are
//   together.
// A forest of several trees is a tree whose upper merges have r = 0.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/shape/dendrogram.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

class TreePosterior {
 public:
  using Node = Dendrogram::Node;

  /// The tree must outlive it.
  explicit TreePosterior(const Dendrogram& tree);

  /// log omega; minus infinity for items inside of a block.
  double log_cluster(Node node) const { return log_cluster_[node]; }
  /// W: that the items below the node, as far as they meet there, are together.
  double coclustering(Node node) const { return coclustering_[node]; }
  /// That two items are in one cluster.
  double coclustering(std::uint32_t a, std::uint32_t b) const;
  /// Of all pairs, items x items, row by row.
  std::vector<double> coclustering() const;
  double expected_clusters() const;

  /// From each root down to the first node with r >= threshold, or a leaf; canonical labels.
  Labels cut(double threshold = 0.5) const;
  /// The most probable partition; nodes stay whole in a tie.
  Labels most_probable() const;
  /// A draw from the posterior; canonical labels.
  Labels draw(Stream& stream) const;

 private:
  template <typename StaysWhole>
  Labels descend(StaysWhole&& stays_whole) const;

  const Dendrogram* tree_;
  std::vector<double> log_cluster_, coclustering_;
};

}  // namespace coppice
