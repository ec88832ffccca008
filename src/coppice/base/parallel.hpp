// Parallel loops whose results do not depend on the number of threads: every index works on its own output,
// and reductions add the parts in index order. The only file that knows oneTBB is parallel.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace coppice {

/// The number of threads a request means: itself, or all hardware threads for 0.
std::size_t resolve_threads(std::size_t requested);

/// Calls body(i) for i in [0, count) on at most `threads` threads (0: all). Rethrows the first exception.
void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body);

/// Sum of part(i) over i in [0, count), added in index order whatever the number of threads.
double parallel_sum(std::size_t count, std::size_t threads, const std::function<double(std::size_t)>& part);

}  // namespace coppice
