// The tree of a run's rows, for the commands that draw or export it.
#pragma once

#include "coppice/post/coclustering.hpp"
#include "coppice/post/linkage.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice::app {

/// Error{configuration} if there are too many rows for a matrix of rows x rows.
Linkage run_tree(const SavedRun& run, std::size_t level);

}  // namespace coppice::app
