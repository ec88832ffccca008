// A request to stop, which long computations check between sweeps.
#pragma once

#include <atomic>

#include "coppice/base/error.hpp"

namespace coppice {

/// Throws Error{stopped} if the flag is there and set.
inline void throw_if_stopped(const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) fail(ErrorCode::stopped, "stopped");
}

}  // namespace coppice
