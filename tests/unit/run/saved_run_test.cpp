// A run opened for questions: draws that every chain has, evenly spaced selections, labels by level.
#include "coppice/run/saved_run.hpp"

#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "support/small_run.hpp"

namespace coppice::test {
namespace {

TEST(SavedRun, DrawsAndTracesAreThoseOfTheFile) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.coppice");
  RunFile::create(path, small_contents("nrmm", {}, 10, 3, 40, 150));
  resume(path, {.threads = 2});
  const SavedRun run(path);
  EXPECT_TRUE(run.complete());
  EXPECT_EQ(run.draws_per_chain(), 150u);
  const std::vector<ChainDraws> draws = draws_at(path);
  std::vector<ChainDraws> seen(3);
  run.for_each_draw(0, [&](const SavedDraw& saved) {
    EXPECT_EQ(saved.draw, seen[saved.chain].count++);
    seen[saved.chain].labels.append(reinterpret_cast<const char*>(saved.labels.data()),
                                    saved.labels.size_bytes());
    seen[saved.chain].traces.append(reinterpret_cast<const char*>(saved.traces.data()),
                                    saved.traces.size_bytes());
    for (std::size_t trace = 0; trace < saved.traces.size(); ++trace)
      EXPECT_EQ(run.traces()[trace][saved.chain][saved.draw], saved.traces[trace]);
  });
  EXPECT_EQ(seen, draws);
  const LabelMatrix labels = run.labels(1);
  ASSERT_EQ(labels.draws(), 450u);
  std::string bytes;
  for (const ChainDraws& chain : draws) bytes += chain.labels;
  EXPECT_EQ(
      std::string(reinterpret_cast<const char*>(labels.values.data()), labels.values.size() * sizeof(Label)),
      bytes);
  EXPECT_THROW(run.labels(2), Error);
  EXPECT_THROW(run.labels(0), Error);
}

TEST(SavedRun, SelectionsAreEvenlySpaced) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.coppice");
  RunFile::create(path, small_contents("nrmm", {}, 5, 2, 0, 103));
  resume(path, {.threads = 1});
  const SavedRun run(path);
  for (const std::size_t most : {1u, 2u, 7u, 50u, 205u, 206u, 1000u}) {
    std::vector<std::vector<std::size_t>> chosen(2);
    run.for_each_draw(most, [&](const SavedDraw& saved) { chosen[saved.chain].push_back(saved.draw); });
    const std::size_t expected = std::min<std::size_t>(103, std::max<std::size_t>(1, most / 2));
    EXPECT_EQ(chosen[0].size(), expected);
    EXPECT_EQ(chosen[0], chosen[1]);
    for (std::size_t i = 1; i < chosen[0].size(); ++i) {
      const double gap = static_cast<double>(chosen[0][i] - chosen[0][i - 1]);
      EXPECT_NEAR(gap, 103.0 / static_cast<double>(expected), 1.0);
    }
  }
}

TEST(SavedRun, UnequalChainsAreCutToTheShortest) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.coppice");
  RunFile::create(path, small_contents("nrmm", {}, 5, 2, 0, 103));
  EXPECT_EQ(SavedRun(path).draws_per_chain(), 0u);
  std::atomic<bool> stop{true};
  resume(path, {.threads = 1, .stop = &stop});
  EXPECT_EQ(SavedRun(path).draws_per_chain(), 0u);
  class StopFirst : public FitObserver {
   public:
    void on_progress(std::span<const ChainProgress>, std::size_t) override { stop = true; }
    void on_draws(std::size_t, std::size_t, std::size_t, std::span<const double>) override {}
    std::atomic<bool> stop{false};
  } observer;
  resume(path, {.threads = 1, .stop = &observer.stop, .observer = &observer});
  const SavedRun run(path);
  EXPECT_EQ(run.draws_per_chain(), 0u);
  EXPECT_EQ(run.longest_chain(), 100u);
  EXPECT_FALSE(run.complete());
  EXPECT_EQ(run.labels(1).draws(), 0u);
}

}  // namespace
}  // namespace coppice::test
