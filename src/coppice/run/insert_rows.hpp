// Taking new rows into a finished run: the run of all rows, whose chains begin where the old ones ended, with
// the new rows inserted one after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "coppice/data/read.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

/// Sweeps over all rows before draws are kept, unless asked otherwise.
inline constexpr std::size_t kUpdateWarmup = 100;

struct InsertOptions {
  /// Rows that come in between two looks at `stop`, and at once into a classifier; 0: one, of labels 1,000.
  std::size_t batch = 0;
  std::size_t threads = 0;
  const std::atomic<bool>* stop = nullptr;
  /// Hears how many of the new rows one of the chains has taken in; called from the chains' threads.
  std::function<void(std::size_t chain, std::size_t rows)> on_rows = {};
};

/// The contents of a run of old and new rows; `more` as SavedRun::read_new_rows gives it, `truth` with the
/// columns of the old truth or none. Throws Error{bad_data} for the name of a row that the run already has.
RunContents contents_with(const SavedRun& run, const Table& more, const Table& truth);

/// What is known of a cell or label whose column is not in the new rows, or was not in the old ones.
enum class AbsentCells { unknown, zero };

/// The same for a run that learned labels. Columns and labels that only one of both has are new, or are not
/// there: a count of nothing is zero, any other cell or label is as `absent` says; labels that are new are
/// never known of old rows.
RunContents contents_with_labels(const SavedRun& run, const Dataset& more, AbsentCells absent);

/// Why the run cannot be continued with these contents and must be fitted from scratch; empty if it can. A
/// classifier of counts cannot take real numbers, nor one of binary features counts.
std::string cannot_continue(const SavedRun& run, const RunContents& contents);

/// The states of all chains with the new rows, for sweep 0 of the new run; `setup` is that of the new
/// contents. Empty if it was stopped. Throws Error{configuration} if the model cannot take in rows or the run
/// is not complete.
std::vector<Checkpoint> insert_rows(const SavedRun& run, const ProblemSetup& setup,
                                    const InsertOptions& options);

}  // namespace coppice
