// The tree a report draws: of a model of several levels its hierarchy, of a flat model its clusters, joined
// by how often their rows are together. Every node represents a range of consecutive rows in the tree's
// order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "coppice/post/analysis.hpp"
#include "coppice/post/cluster_names.hpp"
#include "coppice/post/profile.hpp"

namespace coppice {

struct ReportNode {
  static constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);

  std::size_t parent = kNoParent;  // places among the nodes, parents before children
  std::vector<std::size_t> children;
  std::size_t level = 0;  // the coarsest level at which it is a cluster; 0: the root, or a join of clusters
  std::size_t last_level = 0;  // the finest one
  std::size_t first = 0;       // its rows are order[first], ..., order[first + size - 1]
  std::size_t size = 0;
  double height = 0.0;  // of a join of clusters: the share of draws in which rows of its parts are apart
  double exact = 0.0;   // share of draws with exactly this cluster; NaN if it is not known
  double sure = 0.0;    // of clusters: mean overlap with the most similar cluster, or co-clustering; 0 to 1
  /// The clusters that it is, coarsest first; none of the root and of joins.
  std::vector<ClusterAddress> addresses;
  std::string name;                                  // of a join: the numbers of its clusters
  std::string words;                                 // what distinguishes it, whatever its name
  std::vector<Trait> against_siblings, against_all;  // strongest first
  std::vector<std::uint32_t> exemplars, outliers;    // rows of the table
};

struct ReportLevel {
  Consensus estimate;
  std::vector<std::size_t> node_of;  // the node of each cluster
  std::vector<bool> unassigned;      // rows that cannot be placed; empty if no draws say it

  std::size_t unassigned_count() const {
    return static_cast<std::size_t>(std::count(unassigned.begin(), unassigned.end(), true));
  }
};

struct ReportTree {
  bool is_hierarchy = false;
  std::string sentence;  // which tree or partition it is and how far the draws are from it
  std::vector<ReportNode> nodes;
  std::vector<ReportLevel> levels;      // coarsest first
  std::vector<std::uint32_t> order;     // rows of the table from top to bottom
  std::vector<double> column_strength;  // of each column of the table: its strongest divergence anywhere
};

ReportTree report_tree(const Analysis& analysis, Selection selection);

}  // namespace coppice
