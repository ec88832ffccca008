#pragma once

#include <ctime>

namespace coppice::bench {

/// CPU time of this thread in seconds, which other programs on the machine disturb least.
inline double cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace coppice::bench
