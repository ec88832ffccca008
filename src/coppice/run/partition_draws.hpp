// Who is with whom in the draws of a run: the partitions by which its convergence is judged, both by the rule
// that ends a run and by the verdict on it. For each level of a hierarchy the clusters of the rows; of a model
// with views the partition of the columns, and the clusters of the rows in the views of a few columns that
// are rarely in one view. Of a large table evenly spaced rows stand for all.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "coppice/run/convergence.hpp"
#include "coppice/run/stored_draws.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// Partitions of the same rows, or columns, in every draw.
struct PartitionDraws {
  std::string where = {};                // as a reader names it: "", "level 2", "view of age"
  std::size_t level = 1;                 // of a hierarchy, 1 = coarsest
  bool of_columns = false;               // members are columns of the table, not rows
  std::optional<std::size_t> view = {};  // rows in the view of this column
  std::vector<std::size_t> members;      // the rows or columns, ascending
  std::vector<LabelMatrix> chains;       // of the members

  /// " (level 2)" behind the name of a thing, or nothing.
  std::string suffix() const { return where.empty() ? where : " (" + where + ")"; }
};

/// None of a run without draws of partitions; `where` is left to those who know the names of the columns.
std::vector<PartitionDraws> partition_draws(const StoredDraws& draws);

/// Their traces (shape/partition_traces.hpp) in the draws of a run under way, from number `first` on.
std::vector<TraceValues> partition_values(const RunFile& file, const ProblemSetup& setup, std::size_t first);

}  // namespace coppice
