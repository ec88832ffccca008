// Who is with whom in the draws of a run file, as traces: what the rule that ends a run looks at beside the
// traces of the model. Of a large table evenly spaced rows stand for all.
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/run/convergence.hpp"
#include "coppice/run/run_file.hpp"

namespace coppice {

/// The traces of shape/partition_traces.hpp of every level, of the draws from `first` on that every chain
/// has; none where draws are kept without labels.
std::vector<TraceValues> partition_values(const RunFile& file, std::size_t levels, std::size_t rows,
                                          std::size_t first);

}  // namespace coppice
