// Taking new rows into a finished run: the run of all rows, whose chains begin where the old ones ended, with
// the new rows inserted one after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "coppice/run/saved_run.hpp"

namespace coppice {

struct InsertOptions {
  std::size_t batch = 1;  // rows that come in between two looks at `stop`
  std::size_t threads = 0;
  const std::atomic<bool>* stop = nullptr;
  /// Hears how many of the new rows one of the chains has taken in; called from the chains' threads.
  std::function<void(std::size_t chain, std::size_t rows)> on_rows = {};
};

/// The contents of a run of old and new rows; `more` as SavedRun::read_new_rows gives it, `truth` with the
/// columns of the old truth or none. Throws Error{bad_data} for the name of a row that the run already has.
RunContents contents_with(const SavedRun& run, const Table& more, const Table& truth);

/// The states of all chains with the new rows, for sweep 0 of the new run; `setup` is that of the new
/// contents. Empty if it was stopped. Throws Error{configuration} if the model cannot take in rows or the run
/// is not complete.
std::vector<Checkpoint> insert_rows(const SavedRun& run, const ProblemSetup& setup,
                                    const InsertOptions& options);

}  // namespace coppice
