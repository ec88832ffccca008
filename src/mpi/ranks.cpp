// Processes of an MPI job: the module libcoppice_mpi.so. A round is a broadcast of the message and a gather
// of the answers; a process answers for a run of consecutive blocks, one after the other.
#include "coppice/app/ranks.hpp"

#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "coppice/version.hpp"

namespace coppice::app {
namespace {

class MpiRanks final : public Ranks, public Engine {
 public:
  MpiRanks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    const std::string own = kBuild;
    const std::string drivers = broadcast(own);
    is_same_build_ = drivers == own;
    if (!is_same_build_)
      fail(ErrorCode::configuration, "process {} is of the build '{}', but the driver of '{}'", rank_, own,
           drivers);
  }
  ~MpiRanks() override {
    if (is_broken_) abort(1);
    // An empty message ends the others.
    if (drives() && is_same_build_) {
      if (!is_open_) broadcast("");
      broadcast("");
    }
    MPI_Finalize();
  }

  bool drives() const override { return rank_ == 0; }

  Engine& engine(const std::string& run) override {
    run_ = run;
    return *this;
  }

  std::vector<BlockAnswer> ask(BlockTask& task, std::size_t blocks, std::string_view message) override {
    // Chains take turns.
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    if (!is_open_) broadcast(run_);
    is_open_ = true;
    broadcast(message);
    broadcast(std::to_string(blocks));
    std::vector<BlockAnswer> answers = round(task, blocks, message);
    is_broken_ = false;
    return answers;
  }

  std::size_t workers() const override { return static_cast<std::size_t>(size_); }

  std::pair<std::size_t, std::size_t> own_blocks(std::size_t blocks) const override {
    return {first_block(rank_, blocks), first_block(rank_ + 1, blocks)};
  }

  void serve(const std::function<BlockTask&(const std::string& run)>& open) override {
    const std::string run = broadcast("");
    if (run.empty()) {
      broadcast("");
      return;
    }
    BlockTask& task = open(run);
    for (;;) {
      const std::string message = broadcast("");
      if (message.empty()) return;
      const std::size_t blocks = std::strtoull(broadcast("").c_str(), nullptr, 10);
      round(task, blocks, message);
    }
  }

  [[noreturn]] void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::abort();
  }

 private:
  /// The first process' text, to all.
  std::string broadcast(std::string_view text) const {
    std::uint64_t size = text.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    std::string bytes(size, '\0');
    if (drives()) bytes = text;
    MPI_Bcast(bytes.data(), static_cast<int>(size), MPI_BYTE, 0, MPI_COMM_WORLD);
    return bytes;
  }

  std::size_t first_block(int rank, std::size_t blocks) const {
    return blocks * static_cast<std::size_t>(rank) / static_cast<std::size_t>(size_);
  }

  /// All answers at the first process, nothing at the others.
  std::vector<BlockAnswer> round(BlockTask& task, std::size_t blocks, std::string_view message) const {
    task.receive(message);
    const auto [begin, end] = own_blocks(blocks);
    std::vector<std::uint64_t> sizes;
    std::vector<double> values;
    for (std::size_t block = begin; block < end; ++block) {
      const BlockAnswer answer = task.answer(block);
      sizes.push_back(answer.size());
      values.insert(values.end(), answer.begin(), answer.end());
    }
    std::vector<int> counts, places;
    for (int rank = 0; rank < size_; ++rank) {
      places.push_back(static_cast<int>(first_block(rank, blocks)));
      counts.push_back(static_cast<int>(first_block(rank + 1, blocks) - first_block(rank, blocks)));
    }
    std::vector<std::uint64_t> all_sizes(blocks);
    MPI_Gatherv(sizes.data(), static_cast<int>(sizes.size()), MPI_UINT64_T, all_sizes.data(), counts.data(),
                places.data(), MPI_UINT64_T, 0, MPI_COMM_WORLD);
    std::vector<int> value_counts(counts.size(), 0), value_places(counts.size(), 0);
    std::size_t total = 0;
    for (std::size_t rank = 0; drives() && rank < counts.size(); ++rank) {
      value_places[rank] = static_cast<int>(total);
      for (int i = 0; i < counts[rank]; ++i) {
        const std::uint64_t size = all_sizes[static_cast<std::size_t>(places[rank] + i)];
        value_counts[rank] += static_cast<int>(size);
        total += size;
      }
    }
    std::vector<double> all_values(total);
    MPI_Gatherv(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, all_values.data(),
                value_counts.data(), value_places.data(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    std::vector<BlockAnswer> answers;
    const double* next = all_values.data();
    for (std::size_t block = 0; drives() && block < blocks; ++block) {
      answers.emplace_back(next, next + all_sizes[block]);
      next += all_sizes[block];
    }
    return answers;
  }

  int rank_ = 0, size_ = 1;
  bool is_same_build_ = true;
  bool is_open_ = false;
  bool is_broken_ = false;  // in the middle of a round
  std::string run_;
  std::mutex mutex_;
};

}  // namespace
}  // namespace coppice::app

extern "C" coppice::app::Ranks* coppice_join_ranks() { return new coppice::app::MpiRanks(); }
