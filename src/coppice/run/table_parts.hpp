// Tables in parts, each of which another process has read: what such a process needs to know of the problem,
// and how it answers for its blocks of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/engine.hpp"
#include "coppice/run/in_memory.hpp"
#include "coppice/run/problem_setup.hpp"
#include "coppice/run/run_file.hpp"

namespace coppice {

/// What set_up_problem needs of a run but for the rows, as text. The run must have an effective
/// configuration.
std::string describe_problem(const RunContents& contents);

/// Consecutive blocks of rows: 2^m that begin at a multiple of 2^m, or what there is of them.
class PartOfTable {
 public:
  /// `rows` are those from number `first` on, as they were read; `first` begins a block. Throws
  /// Error{bad_data} for cells that the columns of the run cannot have.
  PartOfTable(std::string_view description, const MemoryTable& rows, std::uint64_t first);
  /// The same from a table in the columns of the fit, before its transform.
  PartOfTable(std::string_view description, Table rows, std::uint64_t first);

  /// A part from what rows() of the same part gave.
  PartOfTable(std::string_view description, Rows rows, std::uint64_t first);
  /// The encoded rows.
  const Rows& rows() const { return setup_->rows; }

  /// Merged answers of its blocks. Chains with slots of their own do not make each other forget
  /// what they keep to save time; calls with the same slot wait for each other.
  BlockAnswer ask(std::string_view message, std::uint64_t slot, std::size_t threads);

 private:
  struct Chain {
    std::mutex mutex;
    std::unique_ptr<Inference> inference;
    BlockTask* task = nullptr;
  };
  void set_up(std::string_view description, std::uint64_t first,
              const std::function<Table(const RunContents&)>& rows);
  void count_blocks(std::uint64_t first);
  Chain& chain(std::uint64_t slot);

  std::unique_ptr<ProblemSetup> setup_;
  std::size_t first_block_ = 0, blocks_ = 0;
  std::mutex mutex_;
  std::map<std::uint64_t, Chain> chains_;
};

}  // namespace coppice
