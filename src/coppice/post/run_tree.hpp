// The tree of a run's rows by how often they share a cluster.
#pragma once

#include "coppice/post/linkage.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

/// The average-linkage tree of co-clustering at a level (1 = coarsest), or for level 0 of co-clustering
/// averaged over all levels. Error{configuration} if there are too many rows for a
/// matrix of rows x rows.
Linkage run_tree(const SavedRun& run, std::size_t level);

}  // namespace coppice
