// The processes of one MPI job (mpirun -n N coppice fit ...): the first one drives the chains, the others
// answer for their blocks of rows. MPI is in a module of its own, which is loaded only in such a job.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "coppice/base/engine.hpp"
#include "coppice/run/fit.hpp"

namespace coppice::app {

class Ranks {
 public:
  /// Of the job that this process belongs to; null if it was started by itself. Throws Error{configuration}
  /// if the module cannot be loaded.
  static std::unique_ptr<Ranks> join();
  virtual ~Ranks() = default;

  virtual bool drives() const = 0;
  /// Of the driving process: the engine of all, which work on this run file. (The others learn from it which
  /// blocks are theirs.)
  virtual Engine& engine(const std::string& run) = 0;
  /// Of the others: answers for blocks until the driver ends. `open` gets the path of the run.
  virtual void serve(const std::function<BlockTask&(const std::string& run)>& open) = 0;
  /// Ends all processes of the job at once.
  [[noreturn]] virtual void abort(int code) = 0;
};

/// What a process that does not drive does: opens the run for reading and answers for its blocks.
void serve_run(Ranks& ranks);

}  // namespace coppice::app
