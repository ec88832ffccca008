// A clock beside the chains: a sweep may be long, and looks at nothing but a flag.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace coppice {

/// Sets a flag when it is time to stop, also in the middle of a sweep, as long as it lives.
class Watch {
 public:
  Watch(std::atomic<bool>& flag, std::function<bool()> is_time)
      : thread_([this, &flag, is_time = std::move(is_time)] {
          std::unique_lock lock(mutex_);
          while (!is_over_) {
            if (is_time()) flag = true;
            ended_.wait_for(lock, kPulse);
          }
        }) {}
  ~Watch() {
    {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  static constexpr std::chrono::milliseconds kPulse{20};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;  // the last one: it uses the others
};

}  // namespace coppice
