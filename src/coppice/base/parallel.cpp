#include "coppice/base/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

namespace coppice {
namespace {

/// Expresses in our own atomics what oneTBB guarantees: the caller happens before every body, and every body
/// happens before the caller continues. ThreadSanitizer cannot see this otherwise, since the library is not
/// instrumented. Bodies are not ordered among each other, so a race between two of them is still found.
class Order {
 public:
  Order() { begun_.store(true, std::memory_order_release); }
  ~Order() { static_cast<void>(finished_.load(std::memory_order_acquire)); }
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;

  class Body {
   public:
    explicit Body(Order& order) : order_(order) {
      static_cast<void>(order.begun_.load(std::memory_order_acquire));
    }
    ~Body() { order_.finished_.fetch_add(1, std::memory_order_release); }
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

   private:
    Order& order_;
  };

 private:
  std::atomic<bool> begun_{false};
  std::atomic<std::size_t> finished_{0};
};

}  // namespace

std::size_t resolve_threads(std::size_t requested) {
  return requested != 0 ? requested : std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body) {
  // An arena of more threads than oneTBB will ever run makes it print a warning, and gains nothing.
  const std::size_t most = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  const std::size_t workers = std::min({count, resolve_threads(threads), most});
  if (workers <= 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  tbb::task_arena arena(static_cast<int>(workers));
  Order order;
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, count, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          const Order::Body ordered(order);
          for (std::size_t i = range.begin(); i != range.end(); ++i) body(i);
        },
        tbb::simple_partitioner());
  });
}

double parallel_sum(std::size_t count, std::size_t threads, const std::function<double(std::size_t)>& part) {
  std::vector<double> parts(count);
  parallel_for(count, threads, [&](std::size_t i) { parts[i] = part(i); });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

}  // namespace coppice
