// R-hat and effective draws of who is with whom: the traces of shape/partition_traces.hpp of the partitions
// of run/partition_draws.hpp, which the rule that ends a run looks at as well.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/run/diagnostics.hpp"
#include "coppice/run/partition_draws.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/partition_traces.hpp"

namespace coppice {

/// The partitions that convergence is judged by (run/partition_draws.hpp), with the names of their places.
std::vector<PartitionDraws> partition_draws(const SavedRun& run);

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
