// Stored draws as predictors: statistics are rebuilt once per draw, for several draws at a time on several
// threads, and handed over in the order of the draws.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "coppice/model/model.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// A draw that a predictor has taken in; cluster c of the predictor at a level has the label c there.
struct TakenDraw {
  std::span<const Label> labels;  // of all levels, coarsest first
  const Predictor* predictor = nullptr;
};

/// How many draws a request for at most `most` (0: all) uses: the same number of every chain, at least one.
std::size_t evenly_spaced_draws(const SavedRun& run, std::size_t most);

/// Calls visit with batches of draws that are valid during the call. Error{usage} if the run has no draws.
void for_each_batch(const SavedRun& run, std::size_t most, std::size_t threads,
                    const std::function<void(std::span<const TakenDraw>)>& visit);

}  // namespace coppice
