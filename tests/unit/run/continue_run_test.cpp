// Running chains into a file: the same draws for any number of threads, after an interrupt at any sweep,
// after an extension; the time limit and the stop flag end a run where it can be taken up again.
#include <gtest/gtest.h>

#include <chrono>

#include "coppice/model/parameter_draws.hpp"
#include "support/small_run.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

// Blocks have 100 sweeps for few rows: warm-up, thinning and the end of the run all fall inside blocks.
constexpr std::size_t kRows = 12;
constexpr std::size_t kWarmup = 35;
constexpr std::size_t kDraws = 90;
constexpr std::size_t kThin = 2;

RunContents contents_of(const Variant& variant, std::size_t chains = 2, std::size_t draws = kDraws) {
  return small_contents(variant.model, settings_from(variant.settings), kRows, chains, kWarmup, draws, kThin);
}

std::vector<ChainDraws> uninterrupted(const ScratchFolder& folder, const RunContents& contents,
                                      std::size_t threads = 1) {
  const std::string path = folder.file("whole.coppice");
  std::filesystem::remove(path);
  RunFile::create(path, contents);
  EXPECT_EQ(resume(path, {.threads = threads}), FitEnd::finished);
  return draws_at(path);
}

/// Raises the stop flag when the chains have done so many sweeps in all.
class StopAfter : public FitObserver {
 public:
  explicit StopAfter(std::size_t sweeps) : sweeps_(sweeps) {}
  void on_progress(std::span<const ChainProgress> chains, std::size_t) override {
    std::size_t done = 0;
    for (const ChainProgress& chain : chains) done += chain.sweeps;
    if (done >= sweeps_) stop = true;
  }
  void on_draws(std::size_t, std::size_t, std::size_t, std::span<const double>) override {}
  std::atomic<bool> stop{false};

 private:
  std::size_t sweeps_;
};

class ContinueRun : public ::testing::TestWithParam<Variant> {};

TEST_P(ContinueRun, ThreadsDoNotMatter) {
  const ScratchFolder folder;
  const RunContents contents = contents_of(GetParam(), 3);
  const std::vector<ChainDraws> one = uninterrupted(folder, contents, 1);
  ASSERT_EQ(one.size(), 3u);
  for (const ChainDraws& chain : one) EXPECT_EQ(chain.count, kDraws);
  EXPECT_NE(one[0], one[1]) << "chains must differ";
  EXPECT_EQ(uninterrupted(folder, contents, 2), one);
  EXPECT_EQ(uninterrupted(folder, contents, 7), one);
}

TEST_P(ContinueRun, SamplerDrawsWhatTheFileHolds) {
  const ScratchFolder folder;
  const RunContents contents = contents_of(GetParam(), 1);
  const std::vector<ChainDraws> stored = uninterrupted(folder, contents);
  const auto setup = set_up_problem(contents);
  const auto sampler = setup->model->make_inference(setup->problem);
  // Draws that are kept as parameters have no labels in the file.
  const bool keeps_parameters = dynamic_cast<const ParameterDraws*>(sampler.get()) != nullptr;
  ChainDraws drawn;
  Labels labels(setup->levels * kRows);
  std::vector<double> traces(setup->traces.size());
  sampler->init({contents.config.seed, 0, 0});
  for (std::size_t sweep = 1; sweep <= contents.config.total_sweeps(); ++sweep) {
    sampler->step({contents.config.seed, 0, sweep});
    if (sweep > kWarmup && (sweep - kWarmup) % kThin == 0) {
      sampler->labels(labels);
      sampler->traces(traces);
      ++drawn.count;
      if (!keeps_parameters)
        drawn.labels.append(reinterpret_cast<const char*>(labels.data()), labels.size() * sizeof(Label));
      drawn.traces.append(reinterpret_cast<const char*>(traces.data()), traces.size() * sizeof(double));
    }
    if (sweep % sweeps_per_block(kRows) == 0) sampler->rebuild();
  }
  EXPECT_EQ(stored.front(), drawn);
}

TEST_P(ContinueRun, ExtensionEqualsALongerRun) {
  const ScratchFolder folder;
  const std::vector<ChainDraws> longer = uninterrupted(folder, contents_of(GetParam(), 2, kDraws + 77));
  const std::string path = folder.file("extended.coppice");
  RunFile::create(path, contents_of(GetParam()));
  EXPECT_EQ(resume(path, {.threads = 1}), FitEnd::finished);
  for (const std::size_t draws : {kDraws + 1, kDraws + 30, kDraws + 77}) {
    RunFile::open(path, RunFile::Access::write).set_draws(draws);
    EXPECT_EQ(resume(path, {.threads = 2}), FitEnd::finished);
    EXPECT_EQ(draws_at(path).front().count, draws);
  }
  EXPECT_EQ(draws_at(path), longer);
}

TEST_P(ContinueRun, FinishedRunStaysAsItIs) {
  const ScratchFolder folder;
  const std::vector<ChainDraws> before = uninterrupted(folder, contents_of(GetParam()));
  EXPECT_EQ(resume(folder.file("whole.coppice"), {.threads = 1}), FitEnd::finished);
  EXPECT_EQ(draws_at(folder.file("whole.coppice")), before);
}

INSTANTIATE_TEST_SUITE_P(Models, ContinueRun, ::testing::ValuesIn(sampler_variants()),
                         [](const ::testing::TestParamInfo<Variant>& info) { return info.param.name; });

// A stop flag that is up from the beginning, or goes up after any number of blocks.
TEST(Interrupt, AtEveryBlockEndEqualsUninterrupted) {
  const ScratchFolder folder;
  const RunContents contents = contents_of(all_variants().front(), 2, 250);
  const std::vector<ChainDraws> whole = uninterrupted(folder, contents);
  const std::size_t total = 2 * contents.config.total_sweeps();
  for (std::size_t sweeps = 0; sweeps <= total; sweeps += 60) {
    const std::string path = folder.file(fmt::format("stopped-{}.coppice", sweeps));
    RunFile::create(path, contents);
    StopAfter observer(sweeps);
    if (sweeps == 0) observer.stop = true;
    const FitEnd end = resume(path, {.threads = 1, .stop = &observer.stop, .observer = &observer});
    EXPECT_TRUE(end == FitEnd::interrupted || sweeps + 60 > total) << sweeps;
    const std::vector<ChainDraws> partial = draws_at(path);
    for (std::size_t chain = 0; chain < 2; ++chain)
      EXPECT_TRUE(partial[chain].is_prefix_of(whole[chain])) << sweeps;
    EXPECT_EQ(resume(path, {.threads = 2}), FitEnd::finished);
    EXPECT_EQ(draws_at(path), whole) << "interrupted after " << sweeps << " sweeps";
  }
}

/// A sampler that raises a flag in the middle of a block: after exactly so many steps of its own.
struct StepCounter {
  std::atomic<std::size_t> left{static_cast<std::size_t>(-1)};
  std::atomic<bool> stop{false};
};
StepCounter& step_counter() {
  static StepCounter counter;
  return counter;
}

class CountingSampler final : public Inference {
 public:
  explicit CountingSampler(std::unique_ptr<Inference> inner) : inner_(std::move(inner)) {}
  void init(const StreamName& name) override { inner_->init(name); }
  void step(const StreamName& name) override {
    inner_->step(name);
    if (--step_counter().left == 0) step_counter().stop = true;
  }
  void rebuild() override { inner_->rebuild(); }
  double log_joint() const override { return inner_->log_joint(); }
  double log_joint_from_scratch() const override { return inner_->log_joint_from_scratch(); }
  void labels(std::span<Label> labels) const override { inner_->labels(labels); }
  void traces(std::span<double> values) const override { inner_->traces(values); }
  std::vector<MoveStatistics> moves() const override { return inner_->moves(); }
  std::string save() const override { return inner_->save(); }
  void load(std::string_view bytes) override { inner_->load(bytes); }
  void draw_prior(const StreamName& name) override { inner_->draw_prior(name); }
  void draw_data(const StreamName& name, Rows& rows) override { inner_->draw_data(name, rows); }

 private:
  std::unique_ptr<Inference> inner_;
};

TEST(Interrupt, AfterEverySweepEqualsUninterrupted) {
  const ScratchFolder folder;
  const RunContents contents = contents_of(all_variants().front(), 1);
  const std::vector<ChainDraws> whole = uninterrupted(folder, contents);
  ModelEntry counting = model_by_name(contents.config.model);
  counting.make_inference = [](const Problem& problem) -> std::unique_ptr<Inference> {
    return std::make_unique<CountingSampler>(all_models().front().make_inference(problem));
  };
  const std::string path = folder.file("stopped.coppice");
  for (std::size_t sweeps = 1; sweeps < contents.config.total_sweeps(); ++sweeps) {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
    RunFile file = RunFile::create(path, contents);
    const std::unique_ptr<ProblemSetup> setup = set_up(file);
    setup->model = &counting;
    step_counter().left = sweeps;
    step_counter().stop = false;
    ASSERT_EQ(continue_run(file, *setup, {.threads = 1, .stop = &step_counter().stop}), FitEnd::interrupted);
    step_counter().left = static_cast<std::size_t>(-1);
    const std::size_t kept = sweeps <= kWarmup ? 0 : (sweeps - kWarmup) / kThin;
    const std::vector<ChainDraws> partial = all_draws(file);
    ASSERT_EQ(partial.front().count, kept) << "an interrupt finishes the sweep and commits every draw";
    ASSERT_TRUE(partial.front().is_prefix_of(whole.front()));
    ASSERT_EQ(file.status(0).sweeps, sweeps);
    // A second interrupt, earlier than the first was, must not lose what had been committed.
    if (sweeps % 7 == 0) {
      step_counter().left = 3;
      step_counter().stop = false;
      continue_run(file, *setup, {.threads = 1, .stop = &step_counter().stop});
      step_counter().left = static_cast<std::size_t>(-1);
      ASSERT_GE(all_draws(file).front().count, kept)
          << "interrupted twice, first after " << sweeps << " sweeps";
    }
    ASSERT_EQ(continue_run(file, *setup, {.threads = 1}), FitEnd::finished);
    ASSERT_EQ(all_draws(file), whole) << "interrupted after " << sweeps << " sweeps";
  }
}

TEST(Interrupt, OfAStartKeepsNothingOfIt) {
  const ScratchFolder folder;
  const RunContents contents =
      small_contents("nrmm", settings_from({"sampler=\"tree-guided\""}), kRows, 2, kWarmup, kDraws, kThin);
  const std::vector<ChainDraws> whole = uninterrupted(folder, contents);
  const std::string path = folder.file("stopped.coppice");
  RunFile::create(path, contents);
  {
    RunFile file = RunFile::open(path, RunFile::Access::write);
    const auto setup = set_up_problem(contents);
    const std::atomic<bool> stop{true};
    setup->problem.stop = &stop;  // chains begin, and their guides are asked to stop
    EXPECT_NE(continue_run(file, *setup, {}), FitEnd::finished);
  }
  for (const ChainDraws& chain : draws_at(path)) EXPECT_EQ(chain.count, 0u);
  EXPECT_EQ(resume(path, {}), FitEnd::finished);
  EXPECT_EQ(draws_at(path), whole);
}

TEST(TimeLimit, EndsTheRunInTimeAndItCanBeResumed) {
  const ScratchFolder folder;
  // The quickest sampler: a checkpoint, after 100 sweeps, must fit into the time even under a sanitizer.
  RunContents contents = contents_of({"gibbs", "nrmm", {"sampler=\"gibbs\""}}, 2, 10);
  contents.config.warmup = 1'000'000'000;
  const std::string path = folder.file("limited.coppice");
  RunFile::create(path, contents);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(resume(path, {.threads = 2, .time_limit = 0.5}), FitEnd::out_of_time);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GE(seconds, 0.5);
  EXPECT_LT(seconds, 10.0);
  const RunFile file = RunFile::open(path, RunFile::Access::read);
  EXPECT_GT(file.status(0).sweeps, 0u);
  EXPECT_TRUE(file.checkpoint(0).has_value());
}

TEST(Failure, OfAnObserverIsReportedAndNothingIsLost) {
  class Throwing : public FitObserver {
   public:
    void on_progress(std::span<const ChainProgress> chains, std::size_t) override {
      if (chains[0].sweeps >= 200) throw std::runtime_error("the observer gave up");
    }
    void on_draws(std::size_t, std::size_t, std::size_t, std::span<const double>) override {}
  } observer;
  const ScratchFolder folder;
  const RunContents contents = contents_of(all_variants().front(), 2, 300);
  const std::vector<ChainDraws> whole = uninterrupted(folder, contents);
  const std::string path = folder.file("failed.coppice");
  RunFile::create(path, contents);
  EXPECT_THROW(resume(path, {.threads = 2, .observer = &observer}), std::runtime_error);
  EXPECT_EQ(resume(path, {.threads = 1}), FitEnd::finished);
  EXPECT_EQ(draws_at(path), whole);
}

}  // namespace
}  // namespace coppice::test
