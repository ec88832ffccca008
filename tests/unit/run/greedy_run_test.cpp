// Greedy fits in a run file: one draw, which is the forest so far; a fit that is stopped anywhere keeps its
// forest and, resumed, ends with the tree of one that was not.
#include <gtest/gtest.h>

#include "support/small_run.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kGreedyRows = 90;

RunContents greedy_contents(const Variant& variant) {
  RunContents contents = small_contents(variant.model, settings_from(variant.settings), kGreedyRows, 1, 0, 1);
  settle_run_length(contents.config, *set_up_problem(contents));
  return contents;
}

std::string payload_at(const std::string& path) {
  std::string payload;
  SavedRun(path).for_each_draw(0, [&](const SavedDraw& draw) { payload = draw.payload; });
  return payload;
}

std::vector<Variant> greedy_variants() {
  std::vector<Variant> variants = all_variants();
  std::erase_if(variants, [](const Variant& variant) { return !model_by_name(variant.model).runs_once(); });
  return variants;
}

/// Raises the flag after so many looks at it by way of progress.
class StopAtBlock : public FitObserver {
 public:
  explicit StopAtBlock(std::size_t block) : left_(block) {}
  void on_progress(std::span<const ChainProgress>, std::size_t) override {
    if (left_-- <= 1) stop = true;
  }
  void on_draws(std::size_t, std::size_t, std::size_t, std::span<const double>) override {}
  std::atomic<bool> stop{false};

 private:
  std::size_t left_;
};

class GreedyRun : public ::testing::TestWithParam<Variant> {};

TEST_P(GreedyRun, HasOneDrawAndIsComplete) {
  const ScratchFolder folder;
  const std::string path = folder.file("whole.coppice");
  RunFile::create(path, greedy_contents(GetParam()));
  EXPECT_EQ(resume(path, {.threads = 2}), FitEnd::finished);
  const SavedRun run(path);
  EXPECT_TRUE(run.complete());
  EXPECT_EQ(run.draws_per_chain(), 1u);
  EXPECT_EQ(run.labels(1).draws(), 1u);
  EXPECT_TRUE(run.model().row_tree(run.setup().problem, payload_at(path)).is_tree());
}

TEST_P(GreedyRun, StoppedAnywhereKeepsItsForestAndEndsTheSame) {
  const ScratchFolder folder;
  const RunContents contents = greedy_contents(GetParam());
  const std::string whole = folder.file("whole.coppice");
  RunFile::create(whole, contents);
  ASSERT_EQ(resume(whole, {.threads = 1}), FitEnd::finished);
  const std::string path = folder.file("stopped.coppice");
  RunFile::create(path, contents);
  // Never more than one block at a time.
  std::size_t stops = 0;
  for (bool finished = false; !finished; ++stops) {
    StopAtBlock observer(1);
    finished =
        resume(path, {.threads = 1, .stop = &observer.stop, .observer = &observer}) == FitEnd::finished;
    const SavedRun run(path);
    ASSERT_EQ(run.draws_per_chain(), 1u) << "the forest so far is kept";
    ASSERT_EQ(run.complete(), finished);
    ASSERT_LE(run.traces()[0][0][0], SavedRun(whole).traces()[0][0][0] + 1e-9) << "merging raises the bound";
    ASSERT_LT(stops, 100u);
  }
  EXPECT_EQ(draws_at(path), draws_at(whole));
  EXPECT_EQ(payload_at(path), payload_at(whole));
}

INSTANTIATE_TEST_SUITE_P(Models, GreedyRun, ::testing::ValuesIn(greedy_variants()),
                         [](const ::testing::TestParamInfo<Variant>& info) { return info.param.name; });

TEST(GreedyRunLength, SamplersKeepTheirs) {
  RunContents contents = small_contents("nrmm", {}, 10, 3, 5, 7, 2);
  settle_run_length(contents.config, *set_up_problem(contents));
  EXPECT_EQ(contents.config.chains, 3u);
  EXPECT_EQ(contents.config.thin, 2u);
}

/// A single cloud must not be shattered and separate clouds must not be hidden: the share is chosen by the
/// bound.
TEST(ChosenShare, FollowsTheData) {
  Stream stream({11, 0, 0}, Purpose::test);
  const auto run = [&](double separation) {
    RunContents contents = small_contents("bhc", {}, 60, 1, 0, 1);
    contents.table.columns.clear();
    contents.codebook = {};
    for (const char* name : {"x", "y"}) {
      Column column{name, Kind::real, {}, {}};
      for (std::size_t row = 0; row < 60; ++row)
        column.values.push_back(static_cast<double>(row % 3) * separation + draw_normal(stream));
      contents.table.columns.push_back(column);
    }
    std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
    EXPECT_TRUE(resolve_settings(contents, 1, setup));
    EXPECT_EQ(contents.config.notes.size(), 1u);
    const std::unique_ptr<Inference> fit = setup->model->make_inference(setup->problem);
    while (!fit->finished()) fit->step({1, 0, 0});
    Labels labels(60);
    fit->labels(labels);
    return cluster_sizes(labels).size();
  };
  EXPECT_EQ(run(0.0), 1u);
  EXPECT_EQ(run(8.0), 3u);
}

TEST(ChosenShare, IsLeftAloneWhereAnythingWasGiven) {
  RunContents contents = small_contents("bhc", {}, 20, 1, 0, 1);
  contents.config.hyper = kFixedHyper;  // the weights of other columns are chosen by themselves
  contents.config.family_settings.emplace("mean_strength", Setting::number(0.1));
  std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
  EXPECT_FALSE(resolve_settings(contents, 1, setup));
  EXPECT_EQ(contents.config.family_settings.count("within_fraction"), 0u);
}

/// Columns that are constant within clusters ask for a small weight, columns of noise for none.
class ChosenWeight : public ::testing::Test {
 protected:
  static RunContents binary_contents(double noise) {
    Stream stream({12, 0, 0}, Purpose::test);
    RunContents contents = small_contents("bhc", {}, 60, 1, 0, 1);
    contents.table.columns.clear();
    contents.codebook = {};
    for (std::size_t j = 0; j < 12; ++j) {
      Column column{"x" + std::to_string(j), Kind::binary, {}, {}};
      for (std::size_t row = 0; row < 60; ++row) {
        const bool on = (row % 4 >> (j % 2) & 1U) != 0;
        column.values.push_back(on != (draw_uniform(stream) < noise) ? 1.0 : 0.0);
      }
      contents.table.columns.push_back(column);
    }
    return contents;
  }
  static double bound_of(const RunContents& contents, double weight) {
    RunConfig config = contents.config;
    for (const char* name : {"a", "b"})
      config.family_settings.insert_or_assign(name, Setting::number(weight));
    const std::unique_ptr<ProblemSetup> setup = set_up_problem(contents, config);
    const double z = std::log(2.0 * weight);
    return setup->model->evidence_bound(setup->problem) - 12.0 * 0.5 * z * z;
  }
};

TEST_F(ChosenWeight, HasTheLargestBound) {
  for (const double noise : {0.0, 0.02, 0.2, 0.5}) {
    const RunContents before = binary_contents(noise);
    RunContents contents = before;
    std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
    const bool chosen = resolve_settings(contents, 1, setup);
    const double weight = chosen ? contents.config.family_settings.at("a").numbers[0] : 0.5;
    EXPECT_EQ(contents.config.notes.size(), chosen ? 1U : 0U);
    if (chosen) {
      EXPECT_EQ(contents.config.family_settings.at("b").numbers[0], weight);
      const double z = std::log(2.0 * weight);
      EXPECT_NEAR(setup->model->evidence_bound(setup->problem) - 6.0 * z * z, bound_of(before, weight), 1e-9);
    }
    for (const double other : {0.05, 0.1, 0.2, 0.5, 1.0, 2.0})
      EXPECT_LE(bound_of(before, other), bound_of(before, weight)) << noise << " " << other;
    if (noise == 0.0) {
      EXPECT_LT(weight, 0.2);
    }
    if (noise == 0.5) {
      EXPECT_GT(weight, 0.5);
    }
  }
}

TEST_F(ChosenWeight, IsLeftAloneWhereItIsFixedOrGiven) {
  RunContents contents = binary_contents(0.0);
  contents.config.hyper = kFixedHyper;
  std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
  EXPECT_FALSE(resolve_settings(contents, 1, setup));
  EXPECT_TRUE(contents.config.family_settings.empty());
  contents.config.hyper = kLearnedHyper;
  contents.config.family_settings.emplace("b", Setting::number(0.5));
  setup = set_up_problem(contents);
  EXPECT_FALSE(resolve_settings(contents, 1, setup));
  EXPECT_FALSE(contents.config.family_settings.contains("a"));
}

/// A name that another family has for something else is not set.
TEST_F(ChosenWeight, DoesNotTouchOtherFamilies) {
  RunContents contents = binary_contents(0.0);
  Column counts{"n", Kind::count, {}, {}};
  for (std::size_t row = 0; row < 60; ++row) counts.values.push_back(static_cast<double>(row * row % 23));
  contents.table.columns.push_back(counts);
  contents.codebook.columns.push_back({"n", Kind::count, {}, "negative-binomial", {}});
  std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
  EXPECT_FALSE(resolve_settings(contents, 1, setup));
  EXPECT_TRUE(contents.config.family_settings.empty());
}

}  // namespace
}  // namespace coppice::test
