// New rows drawn from the posterior predictive: a stored draw at random, then a row from its predictive.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coppice/data/table.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

/// In the units of the data as read, complete, the rows named 1, 2, ... Row i is a function of run, seed and
/// i. Error{configuration} if the model draws none, or for a run on principal components.
Table sample_rows(const SavedRun& run, std::size_t count, std::uint64_t seed, std::size_t threads = 0);

}  // namespace coppice
