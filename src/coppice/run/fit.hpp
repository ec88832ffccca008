// Runs chains. The sweeps of a chain are grouped into blocks of fixed length; at the end of each block the
// chain rebuilds its statistics from its labels, and draws and a checkpoint go to the run file. Whatever
// interrupts the run, resuming from the last checkpoint therefore repeats exactly what an uninterrupted run
// would have drawn. A run until trusted is decided on where all chains have come to the end of a block (see
// until_trusted.hpp); they wait for each other there.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>

#include "coppice/base/engine.hpp"
#include "coppice/run/problem_setup.hpp"
#include "coppice/run/run_file.hpp"
#include "coppice/run/until_trusted.hpp"

namespace coppice {

/// The progress of one chain.
struct ChainProgress {
  std::size_t sweeps = 0;      // done so far
  double log_joint = 0.0;      // of the present state
  double clusters = 0.0;       // at the finest level
  double held_out = kMissing;  // of models that hold out rows
};

/// Is notified of a fit's progress; called from the chains' threads, one call at a time.
class FitObserver {
 public:
  virtual ~FitObserver() = default;
  /// Called after every block; each chain is to make `total` sweeps, 0: until the run can be trusted.
  virtual void on_progress(std::span<const ChainProgress> chains, std::size_t total) = 0;
  /// Called with the trace values of new draws of a chain: count x traces, starting at draw `first`.
  virtual void on_draws(std::size_t chain, std::size_t first, std::size_t count,
                        std::span<const double> traces) = 0;
  /// Called when a run until trusted was decided on; `trace_names` are those the decision speaks of. Draws
  /// may have been dropped: those that remain count from 0 again.
  virtual void on_decision(const LengthDecision&, std::span<const std::string> /*trace_names*/) {}
};

/// How a fit runs; the draws do not depend on any of it.
struct FitOptions {
  std::size_t threads = 0;                  // 0: all
  double time_limit = 0.0;                  // seconds; 0: none, or kDefaultBudget of a run until trusted
  const std::atomic<bool>* stop = nullptr;  // the same flag as the problem's, checked while chains start
  FitObserver* observer = nullptr;          // is notified of progress; may be null
  Engine* engine = nullptr;                 // does the work of samplers in blocks; null: threads
  bool sketch = false;  // a run until trusted has kSketchBudget, and says that it is a sketch
  /// From when the time limit counts: what comes before the first sweep may take long, too.
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

/// Seconds that a run until trusted has under these options.
double budget_of(const FitOptions& options);

/// Why continue_run returned. The time of a run until trusted is a budget: when it is used, the run has an
/// answer, and can be continued.
enum class FitEnd { finished, interrupted, out_of_time, budget_used };

/// Takes the run from wherever it is to its end, or until it is stopped; commits all it has drawn.
FitEnd continue_run(RunFile& file, const ProblemSetup& setup, const FitOptions& options);

}  // namespace coppice
