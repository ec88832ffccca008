// Parallel loops: every index once, results that do not depend on the number of threads, exceptions rethrown.
#include "coppice/base/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/base/rng.hpp"

namespace coppice {
namespace {

TEST(Parallel, ResolveThreads) {
  EXPECT_EQ(resolve_threads(3), 3u);
  EXPECT_EQ(resolve_threads(1), 1u);
  EXPECT_EQ(resolve_threads(0), std::max(1u, std::thread::hardware_concurrency()));
}

TEST(Parallel, ForCallsEveryIndexOnce) {
  for (const std::size_t threads : {0u, 1u, 2u, 5u}) {
    for (const std::size_t count : {0u, 1u, 2u, 3u, 1000u}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, threads, [&](std::size_t i) { ++calls.at(i); });
      for (const std::atomic<int>& call : calls) EXPECT_EQ(call.load(), 1);
    }
  }
}

TEST(Parallel, ForUsesAtMostTheThreadsAskedFor) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  parallel_for(64, 2, [&](std::size_t) {
    const int now = ++running;
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    --running;
  });
  EXPECT_LE(most.load(), 2);
}

std::vector<double> named_draws(std::size_t threads) {
  std::vector<double> values(500);
  parallel_for(values.size(), threads, [&](std::size_t i) {
    Stream stream({7, 0, 0}, Purpose::test, i);
    for (int repeat = 0; repeat < 10; ++repeat) values[i] += draw_normal(stream);
  });
  return values;
}

TEST(Parallel, NamedStreamsGiveTheSameDrawsForAnyNumberOfThreads) {
  const std::vector<double> alone = named_draws(1);
  for (const std::size_t threads : {2u, 3u, 0u}) EXPECT_EQ(named_draws(threads), alone);
}

TEST(Parallel, SumIsTheSameToTheLastBitForAnyNumberOfThreads) {
  // Terms of very different sizes: any other order of addition would give other bits.
  const auto part = [](std::size_t i) {
    return std::sin(static_cast<double>(i)) * std::pow(10.0, static_cast<double>(i % 30));
  };
  const double alone = parallel_sum(10000, 1, part);
  for (int repeat = 0; repeat < 20; ++repeat) EXPECT_EQ(parallel_sum(10000, 2, part), alone);
  std::vector<double> parts;  // kept first: inlined, product and sum would be rounded once instead of twice
  for (std::size_t i = 0; i < 10000; ++i) parts.push_back(part(i));
  double in_order = 0.0;
  for (const double value : parts) in_order += value;
  EXPECT_EQ(alone, in_order);
  EXPECT_EQ(parallel_sum(0, 2, part), 0.0);
}

TEST(Parallel, ExceptionsComeOutAsTheyWere) {
  for (const std::size_t threads : {1u, 2u}) {
    try {
      parallel_for(100, threads, [](std::size_t i) {
        if (i == 37) fail(ErrorCode::bad_data, "row {} is bad", i);
      });
      FAIL() << "the exception was lost with " << threads << " threads";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data);
      EXPECT_STREQ(error.what(), "row 37 is bad");
    }
    EXPECT_THROW(parallel_sum(10, threads, [](std::size_t) -> double { throw std::out_of_range("part"); }),
                 std::out_of_range);
  }
}

TEST(Parallel, LoopsMayNest) {
  for (const std::size_t threads : {1u, 2u}) {
    std::vector<double> sums(20);
    parallel_for(sums.size(), threads, [&](std::size_t i) {
      sums[i] = parallel_sum(50, threads, [i](std::size_t j) { return static_cast<double>(i * j); });
    });
    for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], static_cast<double>(i * 1225));
  }
}

}  // namespace
}  // namespace coppice
