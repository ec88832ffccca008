// Long work on a thread of its own, for programs whose own thread must stay free to be interrupted (Python,
// R).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace coppice {

/// Runs a task from its construction on. Its destructor asks the task to stop and waits for it.
class Worker {
 public:
  using Task = std::function<void(const std::atomic<bool>& stop)>;  // ends early when the flag is set

  explicit Worker(const Task& task) {
    thread_ = std::thread([this, &task] {
      try {
        task(stop_);
      } catch (...) {
        problem_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_ = true;
      wake_.notify_all();
    });
  }
  ~Worker() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Asks the task to stop.
  void stop() { stop_ = true; }
  /// Waits for at most this long; true if the task has ended.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, time, [this] { return done_; });
  }
  /// After the task has ended: throws what it threw.
  void end() {
    thread_.join();
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
  std::exception_ptr problem_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
};

}  // namespace coppice
