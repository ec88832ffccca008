// Tables in parts: a Python function asks other processes about their blocks of rows.
#pragma once

#include <mutex>
#include <vector>

#include "bindings.hpp"
#include "coppice/base/engine.hpp"

namespace coppice::python {

/// Calls ask(slot, message), which returns what Part.ask gave, for all parts in their order. Used by threads
/// that do not hold the interpreter.
class PythonEngine final : public Engine {
 public:
  /// `ask` must outlive it.
  explicit PythonEngine(const nb::object& ask) : ask_(&ask) {}
  /// Dask knows.
  std::size_t workers() const override { return 1; }
  std::vector<BlockAnswer> ask(BlockTask& task, std::size_t blocks, std::string_view message) override;

 private:
  std::size_t slot_of(const BlockTask& task);

  const nb::object* ask_;
  std::mutex mutex_;
  std::vector<const BlockTask*> tasks_;  // of chains, by slot
};

}  // namespace coppice::python
