// The chains of runs that differ in their seed alone, put into one run.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "coppice/run/saved_run.hpp"

namespace coppice {

/// Throws Error{configuration} if the runs were not fitted to the same rows by the same model.
void require_same_question(const SavedRun& a, const SavedRun& b);

struct MergedRun {
  std::size_t chains = 0;
  std::size_t draws = 0;  // of each chain: as many as every run has
};

/// Writes the chains of all runs, in their order, to a new run file. Error{usage} for fewer than two;
/// Error{configuration} if they differ in more than the seed, have the same seed, were merged before, or have
/// no draws to pool; Error{stopped} if one has no draws yet.
MergedRun merge_runs(std::span<const std::string> paths, const std::string& output);

}  // namespace coppice
