// Work on a table that is cut into blocks of rows: an engine sends one message to all of them and brings the
// answers back in block order. An answer is a function of the block and the message alone, so it does not
// matter where, in which order or how often a block is asked; sums over blocks are taken by block number.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice {

using BlockAnswer = std::vector<double>;

/// What answers for blocks.
class BlockTask {
 public:
  virtual ~BlockTask() = default;
  /// Once for each message, before any block is asked.
  virtual void receive(std::string_view message) = 0;
  /// The answer of one block to the message. Several blocks may be asked at once.
  virtual BlockAnswer answer(std::size_t block) = 0;
  /// Takes the answer of the blocks that follow into that of blocks before them.
  virtual void merge(BlockAnswer& answer, const BlockAnswer& next) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  /// The answers of all blocks, in their order. Those of a part, 2^m blocks that begin at a multiple of 2^m,
  /// may be merged already, as reduce_in_order does it. The task has received the message.
  virtual std::vector<BlockAnswer> ask(BlockTask& task, std::size_t blocks, std::string_view message) = 0;
  /// How many threads or processes answer at once.
  virtual std::size_t workers() const = 0;
  /// The range of blocks for which this process answers: the first one, and the one after the last.
  virtual std::pair<std::size_t, std::size_t> own_blocks(std::size_t blocks) const { return {0, blocks}; }
};

/// Whose work is done by blocks; an Inference may be one of these.
class UsesEngine {
 public:
  virtual ~UsesEngine() = default;
  virtual BlockTask& task() = 0;
  /// From now on this engine instead of threads of this process; it must outlive the work.
  virtual void use_engine(Engine& engine) = 0;
};

/// Threads of this process.
class ThreadEngine final : public Engine {
 public:
  /// 0: all hardware threads.
  explicit ThreadEngine(std::size_t threads = 1) : threads_(threads) {}
  std::vector<BlockAnswer> ask(BlockTask& task, std::size_t blocks, std::string_view message) override;
  std::size_t workers() const override;

 private:
  std::size_t threads_;
};

/// Merges parts pairwise by their number, neighbors first: the same bits wherever the parts come from.
/// merge(a, b) takes b into a.
template <typename Part, typename Merge>
Part reduce_in_order(std::vector<Part> parts, Merge&& merge) {
  for (std::size_t step = 1; step < parts.size(); step *= 2)
    for (std::size_t i = 0; i + step < parts.size(); i += 2 * step) merge(parts[i], parts[i + step]);
  return std::move(parts.front());
}

}  // namespace coppice
