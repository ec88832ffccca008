// Runs that last until they can be trusted: what is decided where, and that neither threads nor interruptions
// nor the clock have a say in what is drawn.
#include "coppice/run/until_trusted.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/rng.hpp"
#include "coppice/run/fit_service.hpp"
#include "support/small_run.hpp"

namespace coppice::test {
namespace {

constexpr LengthLimits kLimits{100, 2000};

/// One trace of `chains` chains, by chain and draw.
template <typename Value>
std::vector<TraceValues> one_trace(std::size_t chains, std::size_t draws, Value&& value) {
  TraceValues trace(chains, std::vector<double>(draws));
  for (std::size_t chain = 0; chain < chains; ++chain)
    for (std::size_t draw = 0; draw < draws; ++draw) trace[chain][draw] = value(chain, draw);
  return {trace};
}

double noise(std::size_t chain, std::size_t draw) {
  Stream stream({3, chain, draw}, Purpose::test);
  return draw_normal(stream);
}

TEST(Length, IndependentDrawsEndAsSoonAsThereAreEnough) {
  RunLength length = first_length(kLimits);
  EXPECT_EQ(length, (RunLength{0, 200, 1}));
  LengthDecision decision = decide_length(length, one_trace(4, length.draws, noise), kLimits);
  EXPECT_FALSE(decision.is_end) << "200 draws of a chain are too few, however good";
  length = decision.length;
  EXPECT_EQ(length.sweeps(), 300u);
  const auto of_sweep = [&](std::size_t chain, std::size_t draw) {
    return noise(chain, length.sweep_of(draw));
  };
  for (int times = 0; times < 2 && !decision.is_end; ++times) {
    length = decision.length;
    decision = decide_length(length, one_trace(4, length.draws, of_sweep), kLimits);
  }
  EXPECT_TRUE(decision.is_end);
  EXPECT_GE(decision.length.draws, 250u);
  EXPECT_LE(decision.convergence.worst_rhat, 1.01);
  EXPECT_GE(decision.convergence.least_ess, 400.0);
}

TEST(Length, AnApproachFromAfarIsWarmUp) {
  const auto value = [](std::size_t chain, std::size_t draw) {
    return noise(chain, draw) + (draw < 700 ? 20.0 * (700.0 - static_cast<double>(draw)) / 700.0 : 0.0);
  };
  const LengthDecision decision = decide_length({0, 1600, 1}, one_trace(4, 1600, value), kLimits);
  EXPECT_TRUE(decision.is_end);
  EXPECT_EQ(decision.length, (RunLength{800, 800, 1}));
  // Without it, hardly any.
  const LengthDecision at_once = decide_length({0, 1600, 1}, one_trace(4, 1600, noise), kLimits);
  EXPECT_TRUE(at_once.is_end);
  EXPECT_LE(at_once.length.warmup, 400u);
}

TEST(Length, ChainsThatDisagreeOnOneOfTwoTracesGoOn) {
  std::vector<TraceValues> traces = one_trace(4, 1600, noise);
  traces.push_back(one_trace(4, 1600, [](std::size_t chain, std::size_t draw) {
    return noise(chain + 10, draw) + (chain == 2 ? 1.0 : 0.0);
  })[0]);
  const LengthDecision decision = decide_length({0, 1600, 1}, traces, kLimits);
  EXPECT_FALSE(decision.is_end);
  EXPECT_EQ(decision.convergence.rhat_trace, 1u);
  EXPECT_GT(decision.convergence.worst_rhat, 1.05);
}

TEST(Length, OneChainIsComparedWithItself) {
  EXPECT_TRUE(decide_length({0, 1600, 1}, one_trace(1, 1600, noise), kLimits).is_end);
  const auto drifting = [](std::size_t chain, std::size_t draw) {
    return noise(chain, draw) + static_cast<double>(draw) / 400.0;
  };
  EXPECT_FALSE(decide_length({0, 1600, 1}, one_trace(1, 1600, drifting), kLimits).is_end);
}

TEST(Length, NothingToSeeEndsAndWhatIsNotFiniteDoesNot) {
  const auto constant = [](std::size_t, std::size_t) { return 1.0; };
  EXPECT_FALSE(decide_length({0, 900, 1}, one_trace(4, 900, constant), kLimits).is_end);
  EXPECT_TRUE(decide_length({0, 2000, 1}, one_trace(4, 2000, constant), kLimits).is_end);
  const auto endless = [](std::size_t chain, std::size_t draw) { return std::log(noise(chain, draw) > 0.0); };
  EXPECT_FALSE(decide_length({0, 2000, 1}, one_trace(4, 2000, endless), kLimits).is_end);
}

// Whatever is decided, draws are bounded, decisions fall on ends of blocks, and what is kept was kept before.
TEST(Length, LongRunsAreThinnedAndStayAligned) {
  for (const std::size_t block : {1U, 18U, 77U, 100U}) {
    const LengthLimits limits{block, 500};
    RunLength length = first_length(limits);
    for (int decisions = 0; decisions < 30; ++decisions) {
      const auto apart = [&](std::size_t chain, std::size_t draw) {
        return noise(chain, length.sweep_of(draw)) + 5.0 * static_cast<double>(chain);
      };
      const LengthDecision decision = decide_length(length, one_trace(2, length.draws, apart), limits);
      ASSERT_FALSE(decision.is_end);
      const RunLength& next = decision.length;
      EXPECT_LE(next.draws, limits.most_draws);
      EXPECT_GE(next.draws * 6, limits.most_draws * std::min<std::size_t>(next.thin - 1, 1));
      EXPECT_EQ(next.sweeps() % block, 0u);
      EXPECT_GT(next.sweeps(), length.sweeps());
      EXPECT_GE(next.warmup, length.warmup);
      EXPECT_LE(next.warmup, length.sweeps());
      EXPECT_EQ((next.warmup - length.warmup) % length.thin, 0u);
      EXPECT_EQ(next.thin % length.thin, 0u);
      length = next;
    }
    EXPECT_GT(length.thin, 1u);
  }
}

RunContents open_contents(std::size_t rows = 12, std::size_t chains = 3) {
  RunContents contents = small_contents("nrmm", {}, rows, chains, 0, 1);
  contents.config.until = kUntilTrusted;
  settle_run_length(contents.config, *set_up_problem(contents));
  return contents;
}

std::string run_whole(const ScratchFolder& folder, const RunContents& contents, std::size_t threads) {
  const std::string path = folder.file(fmt::format("whole-{}.coppice", threads));
  RunFile::create(path, contents);
  EXPECT_EQ(resume(path, {.threads = threads, .time_limit = 600.0}), FitEnd::finished);
  return path;
}

RunConfig config_at(const std::string& path) { return RunFile::open(path, RunFile::Access::read).config(); }

TEST(UntilTrusted, ThreadsDoNotMatterAndTheLengthReproducesIt) {
  const ScratchFolder folder;
  const std::string one = run_whole(folder, open_contents(), 1);
  const std::vector<ChainDraws> draws = draws_at(one);
  const RunConfig config = config_at(one);
  EXPECT_EQ(config.end, kEndTrusted);
  EXPECT_GT(config.warmup, 0u);
  for (const ChainDraws& chain : draws) EXPECT_EQ(chain.count, config.draws);
  for (const std::size_t threads : {2U, 5U}) {
    const std::string path = run_whole(folder, open_contents(), threads);
    EXPECT_EQ(draws_at(path), draws);
    EXPECT_EQ(config_at(path).length(), config.length());
  }
  RunContents fixed = open_contents();
  fixed.config.set_length(config.length());
  fixed.config.fix_length();
  const std::string path = folder.file("fixed.coppice");
  RunFile::create(path, fixed);
  EXPECT_EQ(resume(path, {.threads = 2}), FitEnd::finished);
  EXPECT_EQ(draws_at(path), draws);
}

/// Raises the stop flag when the chains have done so many sweeps more.
class StopAfterMore : public FitObserver {
 public:
  explicit StopAfterMore(std::size_t sweeps) : sweeps_(sweeps) {}
  void on_progress(std::span<const ChainProgress> chains, std::size_t total) override {
    EXPECT_EQ(total, 0u);
    std::size_t done = 0;
    for (const ChainProgress& chain : chains) done += chain.sweeps;
    if (first_ == 0) first_ = done;
    if (done >= first_ + sweeps_) stop = true;
  }
  void on_draws(std::size_t, std::size_t, std::size_t, std::span<const double>) override {}
  std::atomic<bool> stop{false};

 private:
  std::size_t sweeps_, first_ = 0;
};

TEST(UntilTrusted, InterruptedAnywhereItEndsTheSame) {
  const ScratchFolder folder;
  const std::string whole = run_whole(folder, open_contents(), 1);
  for (const std::size_t sweeps : {1U, 130U, 700U, 1900U}) {
    const std::string path = folder.file(fmt::format("stopped-{}.coppice", sweeps));
    RunFile::create(path, open_contents());
    std::size_t stops = 0;
    while (true) {
      StopAfterMore observer(sweeps);
      const FitEnd end =
          resume(path, {.threads = 2, .time_limit = 600.0, .stop = &observer.stop, .observer = &observer});
      if (end == FitEnd::finished) break;
      ASSERT_EQ(end, FitEnd::interrupted);
      ASSERT_LT(++stops, 1000u);
      EXPECT_FALSE(SavedRun(path).complete());
    }
    EXPECT_GT(stops, 0u);
    EXPECT_EQ(draws_at(path), draws_at(whole));
    EXPECT_EQ(config_at(path).length(), config_at(whole).length());
  }
}

TEST(UntilTrusted, UsedBudgetsLeaveAnAnswerAndAreRenewed) {
  const ScratchFolder folder;
  const RunContents contents = open_contents(60, 2);
  const std::string whole = run_whole(folder, contents, 2);
  const std::string path = folder.file("budgets.coppice");
  RunFile::create(path, contents);
  std::size_t budgets = 0;
  FitEnd end = FitEnd::budget_used;
  for (double budget = 0.02; end != FitEnd::finished; budget *= 1.5) {
    end = resume(path, {.threads = 2, .time_limit = budget});
    ASSERT_TRUE(end == FitEnd::finished || end == FitEnd::budget_used);
    budgets += end == FitEnd::budget_used ? 1 : 0;
    const SavedRun run(path);
    EXPECT_TRUE(run.complete());
    EXPECT_EQ(run.config().draws, run.draws_per_chain());
    EXPECT_EQ(run.config().end, end == FitEnd::finished ? kEndTrusted : kEndBudget);
  }
  EXPECT_GT(budgets, 0u);
  EXPECT_EQ(draws_at(path), draws_at(whole));
}

TEST(UntilTrusted, AdditionalDrawsFixTheLength) {
  const ScratchFolder folder;
  const std::string path = run_whole(folder, open_contents(), 2);
  const RunConfig before = config_at(path);
  Fit fit = Fit::resume({.path = path, .draws = DrawTarget{50, true}, .running = {.threads = 1}});
  EXPECT_FALSE(fit.is_complete());
  EXPECT_EQ(fit.run(), FitEnd::finished);
  const RunConfig after = config_at(path);
  EXPECT_EQ(after.until, kUntilLength);
  EXPECT_EQ(after.length(), (RunLength{before.warmup, before.draws + 50, before.thin}));
  EXPECT_EQ(draws_at(path).front().count, before.draws + 50);
  EXPECT_TRUE(SavedRun(path).complete());
}

TEST(RunFileLength, DroppedDrawsAreTheRightOnes) {
  const ScratchFolder folder;
  RunContents contents = small_contents("nrmm", {}, 12, 2, 0, 300);
  const std::string path = folder.file("run.coppice");
  RunFile::create(path, contents);
  resume(path, {.threads = 1});
  RunFile::open(path, RunFile::Access::write).set_length({40, 65, 4}, kEndTrusted);
  contents.config.set_length({40, 65, 4});
  const std::string expected = folder.file("expected.coppice");
  RunFile::create(expected, contents);
  resume(expected, {.threads = 1});
  EXPECT_EQ(draws_at(path), draws_at(expected));
}

}  // namespace
}  // namespace coppice::test
