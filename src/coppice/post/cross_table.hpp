// Clusters against known classes: how many rows of each cluster are of each class.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coppice/data/table.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

struct CrossTable {
  std::vector<std::string>
      classes;  // those that occur, in the order of the column's levels or of their numbers
  std::vector<std::vector<std::size_t>> counts;  // counts[cluster][class]
  std::vector<std::size_t> unknown;              // rows of each cluster whose class is missing

  /// Rows of each class.
  std::vector<std::size_t> class_sizes() const;
};

/// Error{usage} if the lengths differ.
CrossTable cross_table(const Column& known, std::span<const Label> clusters);

}  // namespace coppice
