// A tree over the columns of a table, whose nodes have trees over the rows: what hierarchical
// cross-clustering finds. A node of the column tree is a view of its columns; the tree over the rows
// is how that view sees them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coppice/base/byte_stream.hpp"
#include "coppice/shape/dendrogram.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

struct CrossTree {
  Dendrogram columns;
  /// By node of `columns`; none for nodes that are no view with any probability worth the name.
  std::vector<std::shared_ptr<const Dendrogram>> rows;

  void save(ByteWriter& writer) const;
  /// Throws Error{bad_data} if the bytes are no such trees of a table of this size, or a root has no tree
  /// over the rows.
  static CrossTree load(ByteReader& reader, std::size_t columns, std::size_t rows);
};

/// The node of each view, given canonical labels of the columns that cutting the tree gives.
std::vector<Dendrogram::Node> nodes_of_views(const Dendrogram& columns, std::span<const Label> views);

}  // namespace coppice
