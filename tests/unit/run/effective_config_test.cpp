// What a run keeps of the configuration it was made with, and that it is what opening the run goes by.
#include "coppice/run/effective_config.hpp"

#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "support/small_run.hpp"
#include "support/sqlite.hpp"

namespace coppice::test {
namespace {

EffectiveConfig all_shapes() {
  EffectiveConfig config;
  config.parameters = {{"alpha", Setting::number(0.1)},
                       {"sampler", {Setting::Shape::text, {}, 0, "gibbs"}},
                       {"alpha-prior", Setting::vector({1.0, 1.0 / 3.0})},
                       {"flag", Setting::number(0.0)}};
  FamilyPlan::Block joint{"gaussian", {2, 0}, {}};
  joint.effective.block = {{"scale", {Setting::Shape::matrix, {1.0, 0.5, 0.5, 2e-308}, 2, {}}},
                           {"dof", Setting::number(4.0)}};
  joint.effective.columns = {{{"prior_mean", Setting::number(-1e300)}},
                             {{"prior_mean", Setting::number(0.3)}}};
  FamilyPlan::Block words{"categorical", {1}, {}};
  words.effective.columns = {{{"concentration", Setting::vector({0.5, 0.25, 7.0})}}};
  joint.encodings.resize(2);
  joint.resolutions = {0.0, 0.5};
  words.encodings.resize(1);
  words.resolutions = {0.0};
  config.blocks = {joint, words};
  return config;
}

TEST(EffectiveConfig, SurvivesItsText) {
  const EffectiveConfig config = all_shapes();
  EXPECT_EQ(effective_from_json(to_json(config), 3), config);
}

TEST(EffectiveConfig, OfOneColumnAlone) {
  EffectiveConfig config = all_shapes();
  config.blocks[0].effective.columns[1].clear();
  EXPECT_EQ(effective_from_json(to_json(config), 3), config);
}

TEST(EffectiveConfig, RefusesWhatDoesNotFitTheTable) {
  const std::string good = to_json(all_shapes());
  const auto with = [&](const std::string& old, const std::string& changed) {
    std::string text = good;
    EXPECT_NE(text.find(old), std::string::npos) << old;
    return text.replace(text.find(old), old.size(), changed);
  };
  for (const std::string& text : std::vector<std::string>{
           "", "[]", "{}", with("[2,0]", "[2,2]"), with("[2,0]", "[2,3]"), with("[2,0]", "[2]"),
           with("[2,0]", "[2,-1]"), with("[2,0]", "[2,0.5]"), with("[-1e+300,0.3]", "[0.3]"),
           with("[0.5,2e-308]", "[0.5]"), with("\"blocks\"", "\"bricks\"")}) {
    try {
      effective_from_json(text, 3);
      ADD_FAILURE() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data) << text;
    }
  }
}

/// The contents of a small run with the configuration it is made with.
RunContents kept_contents(const std::string& model) {
  RunContents contents = small_contents(model, {}, 12, 1, 5, 10);
  contents.config.hyper = kFixedHyper;
  contents.effective = effective_config(contents, *set_up_problem(contents));
  return contents;
}

TEST(KeptConfiguration, IsThatOfTheProblem) {
  const ScratchFolder folder;
  const std::string path = folder.file("run.coppice");
  const RunContents contents = kept_contents("nrmm");
  RunFile::create(path, contents);
  ASSERT_EQ(resume(path, {.threads = 1}), FitEnd::finished);
  const SavedRun run(path);
  ASSERT_TRUE(run.contents().effective);
  EXPECT_EQ(*run.contents().effective, *contents.effective);
  EXPECT_EQ(run.setup().plan.blocks, contents.effective->blocks);
  for (const Parameter& parameter : run.model().parameters)
    EXPECT_EQ(run.contents().effective->parameters.count(parameter.name),
              parameter.fallback.empty() ? 0u : 1u)
        << parameter.name;
}

TEST(KeptConfiguration, WinsOverDefaults) {
  const ScratchFolder folder;
  RunContents contents = kept_contents("nrmm");
  std::string& family = contents.effective->blocks[2].family;
  ASSERT_EQ(family, "poisson");
  family = "binomial";
  contents.effective->blocks[2].effective.columns = {
      {{"trials", Setting::number(1000.0)}, {"a", Setting::number(3.0)}, {"b", Setting::number(4.0)}}};
  contents.effective->blocks[0].effective.columns[0]["prior_mean"] = Setting::number(17.0);
  contents.effective->parameters["split-merge-scans"] = Setting::number(9.0);
  const std::string path = folder.file("run.coppice");
  RunFile::create(path, contents);
  ASSERT_EQ(resume(path, {.threads = 1}), FitEnd::finished);
  const SavedRun run(path);
  EXPECT_EQ(run.setup().plan.blocks, contents.effective->blocks);
  EXPECT_EQ(run.setup().plan.family->origin(0), 17.0);
  EXPECT_EQ(run.setup().problem.parameters.integer("split-merge-scans"), 9u);
}

TEST(KeptConfiguration, OfColumnsIsInTheOrderOfTheTable) {
  // Cells are encoded block by block; numbers for columns are given, and kept, in the table's order.
  RunContents contents = small_contents("bhcc", {}, 12, 1, 0, 1);
  contents.config.parameters = {{"randomized", Setting::number(1.0)},
                                {"column-priority", Setting::vector({3.0, 1.0, 2.0})}};
  std::swap(contents.table.columns[1], contents.table.columns[2]);
  const auto before = set_up_problem(contents);
  contents.effective = effective_config(contents, *before);
  EXPECT_EQ(contents.effective->parameters.at("column-priority").numbers,
            (std::vector<double>{3.0, 1.0, 2.0}));
  EXPECT_EQ(set_up_problem(contents)->problem.parameters.settings(), before->problem.parameters.settings());
}

TEST(KeptConfiguration, MayBeAbsent) {
  const ScratchFolder folder;
  const std::string now = folder.file("now.coppice");
  const std::string old = folder.file("old.coppice");
  RunFile::create(now, kept_contents("nrmm"));
  ASSERT_EQ(resume(now, {.threads = 1}), FitEnd::finished);
  std::filesystem::copy_file(now, old);
  execute_sql(old, "DELETE FROM meta WHERE key = 'effective'");
  const SavedRun run(old);
  EXPECT_FALSE(run.contents().effective);
  EXPECT_EQ(run.setup().plan.blocks, SavedRun(now).setup().plan.blocks);
}

TEST(KeptConfiguration, ThatIsDamagedIsRefused) {
  const ScratchFolder folder;
  const std::string path = folder.file("run.coppice");
  RunFile::create(path, kept_contents("nrmm"));
  execute_sql(path, "UPDATE meta SET value = replace(value, 'poisson', 'binomial') WHERE key = 'effective'");
  EXPECT_THROW(SavedRun run(path), Error);
}

}  // namespace
}  // namespace coppice::test
