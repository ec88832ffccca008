// Where columns go, by the two halves of a small tree over other columns: log S of each half, eight columns
// at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/model/bhcc/column_forest.hpp"

namespace coppice::bhcc {

class ColumnFilter {
 public:
  using Node = ColumnForest::Node;
  struct Sides {
    double log_left, log_right;
  };

  /// The forest must outlive it.
  ColumnFilter(const ViewTrees& trees, const ColumnForest& small, Node left, Node right);
  /// Of up to eight columns of the table.
  void operator()(std::span<const std::uint32_t> columns, Sides* out) const;

 private:
  struct View {
    const Dendrogram* shape;
    std::vector<Node> roots;
    double log_weight;
    std::vector<double> log_whole, log_apart;  // log r and log(1 - r) of made nodes
  };

  void add_views(const ColumnForest& small, Node half);
  double log_prior_of_one(const ColumnForest& small, Node half) const;
  Lanes log_probability(const View& view, std::span<const std::uint32_t> columns,
                        TableColumns::Workspace& work, AlignedVector& profiles, AlignedVector& log_q) const;

  const ViewTrees* trees_;
  std::vector<View> views_;
  std::size_t on_left_ = 0;
  double log_left_ = 0.0, log_right_ = 0.0;  // factors of the halves
};

}  // namespace coppice::bhcc
