// R-hat and effective draws of who is with whom: the traces of shape/partition_traces.hpp of the draws of a
// run, for each level of a hierarchy; of a model with views for the partition of the columns, and for the
// clusters of the rows in the views of a few columns that are rarely in one view. Of a large table evenly
// spaced rows stand for all.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/run/diagnostics.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/partition_traces.hpp"

namespace coppice {

/// Partitions of the same rows, or columns, in every draw.
struct PartitionDraws {
  std::string where;                 // "", "level 2", "view of age"
  std::size_t level = 1;             // of a hierarchy, 1 = coarsest
  bool of_columns = false;           // members are columns of the table, not rows
  std::vector<std::size_t> members;  // the rows or columns, ascending
  std::vector<LabelMatrix> chains;   // of the members

  /// " (level 2)" behind the name of a thing, or nothing.
  std::string suffix() const { return where.empty() ? where : " (" + where + ")"; }
};

/// The partitions that convergence is judged by; none of a run without draws of partitions. At most
/// `most_rows` evenly spaced rows.
std::vector<PartitionDraws> partition_draws(const SavedRun& run, std::size_t most_rows = 2000);

/// A trace of the draws' partitions with its diagnostics; members are those of the table.
struct PartitionDiagnostic {
  PartitionTrace trace;
  TraceSummary summary;
  std::string where;
  std::size_t level = 1;
  bool of_columns = false;
};

std::vector<PartitionDiagnostic> diagnose_partitions(const SavedRun& run,
                                                     const std::vector<PartitionDraws>& partitions);

/// The name of a row or column of the table.
const std::string& member_name(const SavedRun& run, bool of_columns, std::size_t member);

}  // namespace coppice
