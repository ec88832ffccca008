// What greedy merging of columns asks of pairs of views: a lower bound of the evidence of both views' columns
// as one view. `full` grows a tree over the rows for each pair. `reuse` evaluates the shapes of the trees
// that the two views have and takes the better one: any shape gives a valid bound.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "coppice/model/bhcc/column_forest.hpp"

namespace coppice::bhcc {

/// Views are in slots 0, 1, ...; a merged pair takes the slot of the first.
class PairBounds {
 public:
  using Node = ColumnForest::Node;

  virtual ~PairBounds() = default;
  /// Units of work before the first bound is needed, with this many views; and one of them.
  virtual std::size_t units(std::size_t) const { return 0; }
  virtual void prepare() {}
  /// out[i] = bound of the views in slots `one` and others[i] together.
  virtual void bounds(std::size_t one, std::span<const std::size_t> others, double* out) = 0;
  /// The view of both, which are one from now on; then, the node that they were merged into.
  virtual ViewTree merge(std::size_t first, std::size_t second) = 0;
  virtual void merged(std::size_t first, std::size_t second, Node made) = 0;
};

/// All must outlive them.
std::unique_ptr<PairBounds> make_full_bounds(const ViewTrees& trees, const ColumnForest& forest,
                                             std::span<const ColumnForest::Node> roots);
std::unique_ptr<PairBounds> make_reuse_bounds(const ViewTrees& trees, const ColumnForest& forest,
                                              std::span<const ColumnForest::Node> roots);
/// Bytes they need with this many roots.
std::size_t reuse_bytes(const Options& options, std::size_t roots, std::size_t rows);

}  // namespace coppice::bhcc
