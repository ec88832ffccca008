#include "coppice/base/engine.hpp"

#include "coppice/base/parallel.hpp"

namespace coppice {

std::vector<BlockAnswer> ThreadEngine::ask(BlockTask& task, std::size_t blocks, std::string_view message) {
  task.receive(message);
  std::vector<BlockAnswer> answers(blocks);
  parallel_for(blocks, threads_, [&](std::size_t block) { answers[block] = task.answer(block); });
  return answers;
}

std::size_t ThreadEngine::workers() const { return resolve_threads(threads_); }

}  // namespace coppice
