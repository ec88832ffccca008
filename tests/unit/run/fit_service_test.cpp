// The one service behind all fits: what it refuses, what it writes, how runs without a file, resumed and
// updated ones come about.
#include "coppice/run/fit_service.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "coppice/base/error.hpp"
#include "coppice/prior/cluster_count.hpp"
#include "support/small_run.hpp"

namespace coppice::test {
namespace {

constexpr const char* kServedRows =
    "id,x,y,kind\n"
    "a,1.1,2.0,old\nb,0.9,2.2,old\nc,1.3,1.8,new\nd,8.0,9.1,new\ne,8.2,8.9,new\nf,7.9,9.4,old\n";

FitRequest small_request(const std::string& model = "nrmm") {
  FitRequest request;
  request.model = model;
  request.reading.id = "id";
  request.data = read_dataset_bytes(kServedRows, "rows.csv", request.reading);
  request.data_path = "rows.csv";
  request.running.threads = 1;
  if (!model_by_name(model).runs_once())
    request.run_length = {{"chains", Setting::number(2)},
                          {"warmup", Setting::number(10)},
                          {"draws", Setting::number(30)},
                          {"seed", Setting::number(5)}};
  return request;
}

/// Three features and two labels.
Dataset labeled_data() {
  std::string csv = "x,y,z,first,second\n";
  for (int row = 0; row < 24; ++row)
    csv += fmt::format("{},{},{},{},{}\n", row % 2 * 5 + row % 3, row % 5, row % 7, row % 2, row / 2 % 2);
  ReadOptions reading;
  reading.labels = {"first", "second"};
  return read_dataset_bytes(csv, "labeled.csv", reading);
}

template <typename Action>
std::string refusal(ErrorCode code, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

/// The settings that a run is made with.
const Settings& effective_parameters(const SavedRun& run) { return run.contents().effective->parameters; }

TEST(FitService, ExpectedClustersBecomeThePriorOfTheConcentration) {
  const ScratchFolder folder;
  FitRequest request = small_request();
  request.output = folder.file("run.coppice");
  request.parameters = {{"expect-clusters", Setting::vector({2.5, 1.2})}};
  Fit fit = Fit::begin(request);
  EXPECT_TRUE(contains(fit.config().notes.front(), "--expect-clusters 2.5,1.2: alpha ~ Gamma("));
  fit.run();
  const SavedRun run(request.output);
  EXPECT_EQ(run.config().parameters, request.parameters) << "what was typed";
  const GammaPrior prior = match_cluster_count(6, 2.5, 1.2);
  const Setting matched = Setting::vector({prior.shape, prior.rate});
  EXPECT_EQ(effective_parameters(run).at("alpha-prior"), matched);
  EXPECT_EQ(run.setup().problem.parameters.settings().at("alpha-prior"), matched);
  // The same as if the prior had been given.
  FitRequest given = small_request();
  given.output = folder.file("given.coppice");
  given.parameters = {{"alpha-prior", matched}};
  Fit::begin(given).run();
  EXPECT_EQ(SavedRun(given.output).traces(), run.traces());
}

TEST(FitService, ExpectedClustersAreLearnedBesideWhatElseIs) {
  const ScratchFolder folder;
  FitRequest request = small_request("crosscat");
  request.output = folder.file("run.coppice");
  request.parameters = {{"expect-clusters", Setting::vector({2.0})},
                        {"learn", {Setting::Shape::text, {}, 0, "alpha-columns"}}};
  Fit::begin(request).run();
  ResumeRequest more{.path = request.output, .draws = DrawTarget{5, true}};
  Fit::resume(more).run();
  const SavedRun run(request.output);
  EXPECT_EQ(run.setup().problem.parameters.choice("learn"), "alpha-columns,alpha-rows");
  EXPECT_EQ(run.config().parameters.at("learn").text, "alpha-columns");
  EXPECT_EQ(effective_parameters(run).at("alpha-rows-prior").numbers,
            run.setup().problem.parameters.numbers("alpha-rows-prior"));
  const auto alpha = std::find(run.trace_names().begin(), run.trace_names().end(), "alpha_rows");
  ASSERT_NE(alpha, run.trace_names().end());
}

TEST(FitService, ExpectedClustersContradictWhatElseGivesTheConcentration) {
  const Setting expected = Setting::vector({2.0});
  const auto refused = [&](const std::string& model, Settings settings) {
    FitRequest request = small_request(model);
    settings.emplace("expect-clusters", expected);
    request.parameters = std::move(settings);
    return refusal(ErrorCode::configuration, [&] { Fit::begin(request); });
  };
  const auto text = [](const char* word) { return Setting{Setting::Shape::text, {}, 0, word}; };
  EXPECT_TRUE(contains(refused("nrmm", {{"alpha", Setting::number(1)}}), "--alpha fixes"));
  EXPECT_TRUE(contains(refused("nrmm", {{"alpha-prior", Setting::vector({1, 1})}}), "--alpha-prior"));
  EXPECT_TRUE(contains(refused("nrmm", {{"process", text("ngg")}}), "Dirichlet process"));
  EXPECT_TRUE(contains(refused("crosscat", {{"alpha-rows", Setting::number(1)}}), "--alpha-rows fixes"));
  EXPECT_TRUE(contains(refused("nhcm", {}), "--nesting nested"));
  EXPECT_TRUE(contains(
      refused("nhcm", {{"nesting", text("nested")}, {"alpha-clusters-prior", Setting::vector({1, 1})}}),
      "--alpha-clusters-prior"));
}

TEST(FitService, WritesARunFromAFile) {
  const ScratchFolder folder;
  const std::string data = folder.file("rows.csv");
  std::ofstream(data) << kServedRows;
  FitRequest request = small_request();
  request.data.reset();
  request.data_path = data;
  request.output = folder.file("run.coppice");
  Fit fit = Fit::begin(request);
  EXPECT_EQ(fit.rows(), 6u);
  EXPECT_EQ(fit.columns(), 3u);
  EXPECT_FALSE(std::filesystem::exists(request.output)) << "nothing is written before it runs";
  EXPECT_FALSE(fit.is_complete());
  EXPECT_EQ(fit.run(), FitEnd::finished);
  EXPECT_TRUE(fit.is_complete());
  const SavedRun run(request.output);
  EXPECT_TRUE(run.complete());
  EXPECT_EQ(run.config().data, data);
  EXPECT_EQ(run.config().id, "id");
  EXPECT_EQ(run.config().seed, 5u);
  EXPECT_EQ(run.config().thin, 1u);
  EXPECT_EQ(run.table().row_ids.front(), "a");
  ASSERT_TRUE(run.contents().effective);
  EXPECT_EQ(run.contents().effective->blocks, run.setup().plan.blocks);
}

TEST(FitService, ARunWithoutAFileHasTheSameDraws) {
  const ScratchFolder folder;
  FitRequest request = small_request();
  request.output = folder.file("run.coppice");
  ASSERT_EQ(Fit::begin(request).run(), FitEnd::finished);
  request.output.clear();
  Fit unnamed = Fit::begin(request);
  ASSERT_EQ(unnamed.run(), FitEnd::finished);
  const SavedRun run = Fit::take_run(std::move(unnamed));
  EXPECT_TRUE(run.complete());
  EXPECT_EQ(all_draws(run.file()), draws_at(folder.file("run.coppice")));
}

TEST(FitService, RefusesContradictionsBeforeTheDataAreRead) {
  FitRequest request = small_request("bhc");
  request.data.reset();
  request.data_path = "there is no such file";
  request.run_length = {{"chains", Setting::number(2)}};
  EXPECT_TRUE(
      contains(refusal(ErrorCode::configuration, [&] { Fit::begin(request); }), "--chains belongs to MCMC"));
  request.run_length = {{"seed", Setting::number(2)}};
  EXPECT_TRUE(
      contains(refusal(ErrorCode::cannot_read, [&] { Fit::begin(request); }), "there is no such file"));
  request.parameters = {{"alpha-rows", Setting::number(-1)}};
  EXPECT_TRUE(contains(refusal(ErrorCode::usage, [&] { Fit::begin(request); }), "--alpha-rows takes"));
  request.parameters = {{"beta", Setting::number(1)}};
  EXPECT_NE(refusal(ErrorCode::usage, [&] { Fit::begin(request); }), "accepted");
  request = small_request("bnmc");
  request.family = "gaussian";
  EXPECT_TRUE(
      contains(refusal(ErrorCode::configuration, [&] { check_request(request); }), "--family and --set"));
  request = small_request();
  request.run_length = {{"draws", Setting::number(1e12)}, {"thin", Setting::number(1e9)}};
  EXPECT_TRUE(contains(refusal(ErrorCode::usage, [&] { check_request(request); }),
                       "more sweeps than can be counted"));
}

TEST(FitService, StoppedBeforeItRunsHasWrittenNothing) {
  const ScratchFolder folder;
  const std::atomic<bool> stop{true};
  for (const char* model : {"nrmm", "bhc"}) {
    FitRequest request = small_request(model);
    request.output = folder.file("run.coppice");
    request.running.stop = &stop;
    EXPECT_TRUE(contains(refusal(ErrorCode::stopped, [&] { Fit::begin(request); }), "nothing was written"))
        << model;
    EXPECT_FALSE(std::filesystem::exists(request.output)) << model;
  }
}

TEST(FitService, TellsWhatItChoosesAndKeepsRemarks) {
  FitRequest request = small_request("bhc");
  request.parameters = {{"alpha-rows", {Setting::Shape::text, {}, 0, "auto"}}};
  request.notes = {"a remark on the data"};
  std::vector<std::string> chosen;
  request.on_choosing = [&](const std::string& parameter) { chosen.push_back(parameter); };
  const Fit fit = Fit::begin(request);
  EXPECT_EQ(chosen, std::vector<std::string>{"alpha-rows"});
  EXPECT_EQ(fit.config().parameters.at("alpha-rows").shape, Setting::Shape::number);
  ASSERT_GE(fit.config().notes.size(), 2u);
  EXPECT_EQ(fit.config().notes.back(), "a remark on the data");
}

TEST(ResolvedSettings, LeaveTheLabelsWhereTheyWere) {
  FitRequest request;
  request.model = "bnmc";
  RunContents contents;
  contents.config.model = "bnmc";
  Dataset data = labeled_data();
  contents.table = data.table;
  contents.codebook = data.codebook;
  contents.labels = data.labels;
  std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
  // A classifier that chooses a setting from the data, as any model may.
  ModelEntry choosing = *setup->model;
  choosing.resolve = [](const Problem&, const Settings&, std::uint64_t, std::size_t) {
    return Resolution{{{"alpha", Setting::number(2.5)}}, {"alpha was chosen"}};
  };
  setup->model = &choosing;
  ASSERT_TRUE(resolve_settings(contents, 1, setup));
  EXPECT_EQ(setup->problem.parameters.real("alpha"), 2.5);
  ASSERT_NE(setup->problem.labeled, nullptr);
  EXPECT_EQ(setup->problem.labeled->labels.columns, 2u);
  EXPECT_EQ(contents.config.notes, std::vector<std::string>{"alpha was chosen"});
}

class Resumed : public ::testing::Test {
 protected:
  std::string written(const std::string& model) {
    FitRequest request = small_request(model);
    request.output = folder_.file(model + ".coppice");
    EXPECT_EQ(Fit::begin(request).run(), FitEnd::finished);
    return request.output;
  }
  ScratchFolder folder_;
};

TEST_F(Resumed, DrawsWhatALongerRunDraws) {
  const std::string path = written("nrmm");
  Fit more = Fit::resume({.path = path, .draws = DrawTarget{20, true}, .running = {.threads = 1}});
  EXPECT_FALSE(more.is_complete());
  EXPECT_EQ(more.run(), FitEnd::finished);
  FitRequest longer = small_request();
  longer.run_length["draws"] = Setting::number(50);
  longer.output = folder_.file("longer.coppice");
  ASSERT_EQ(Fit::begin(longer).run(), FitEnd::finished);
  EXPECT_EQ(draws_at(path), draws_at(longer.output));
  Fit same = Fit::resume({.path = path, .draws = DrawTarget{50}});
  EXPECT_TRUE(same.is_complete());
  EXPECT_EQ(same.run(), FitEnd::finished);
}

TEST_F(Resumed, RefusesFewerDraws) {
  const std::string path = written("nrmm");
  EXPECT_TRUE(
      contains(refusal(ErrorCode::usage, [&] { Fit::resume({.path = path, .draws = DrawTarget{29}}); }),
               "--draws 29: the run already has 30 draws"));
}

TEST_F(Resumed, RefusesDrawsOfAModelThatHasOneFit) {
  const std::string path = written("bhc");
  for (const bool is_additional : {false, true})
    EXPECT_TRUE(contains(refusal(ErrorCode::configuration,
                                 [&] { Fit::resume({.path = path, .draws = DrawTarget{9, is_additional}}); }),
                         "bhc has one fit and no draws"));
  EXPECT_TRUE(Fit::resume({.path = path}).is_complete());
}

TEST(DrawTargets, AreReadLikeFlags) {
  EXPECT_EQ(parse_draw_target("12").number, 12u);
  EXPECT_FALSE(parse_draw_target("12").is_additional);
  EXPECT_EQ(parse_draw_target("+7").number, 7u);
  EXPECT_TRUE(parse_draw_target("+7").is_additional);
  for (const char* text : {"", "+", "-3", "0", "1.5", "many"})
    EXPECT_NE(refusal(ErrorCode::usage, [&] { parse_draw_target(text); }), "accepted") << text;
}

TEST_F(Resumed, AnUpdateKeepsParametersAndPlansFamiliesAgain) {
  const std::string path = written("nrmm");
  const SavedRun old(path);
  RunContents contents =
      contents_with(old, old.read_new_rows_bytes("id,x,y,kind\ng,500,9,old\n", "more.csv", "id"), {});
  ASSERT_TRUE(contents.effective);
  contents.effective->parameters["split-merge-scans"] = Setting::number(9.0);  // as of another version
  Fit fit = Fit::update(
      {.run = &old, .contents = contents, .output = folder_.file("more.coppice"), .running = {.threads = 1}});
  EXPECT_TRUE(fit.why_from_scratch().empty());
  EXPECT_EQ(fit.setup().problem.parameters.integer("split-merge-scans"), 9u);
  EXPECT_NE(fit.setup().plan.blocks, old.setup().plan.blocks) << "hyper-parameters follow all rows";
  EXPECT_EQ(fit.config().notes.back(), "1 row inserted into a run of 6 rows");
  fit.insert_rows({});
  EXPECT_EQ(fit.run(), FitEnd::finished);
  const SavedRun run(folder_.file("more.coppice"));
  EXPECT_EQ(run.rows(), 7u);
  EXPECT_EQ(run.setup().problem.parameters.integer("split-merge-scans"), 9u);
}

TEST_F(Resumed, AnUpdateThatIsStoppedWritesNothing) {
  const std::string path = written("nrmm");
  const SavedRun old(path);
  const Table more = old.read_new_rows_bytes("id,x,y,kind\ng,1,9,old\nh,2,8,new\n", "more.csv", "id");
  std::atomic<bool> stop{false};
  Fit fit = Fit::update({.run = &old,
                         .contents = contents_with(old, more, {}),
                         .output = folder_.file("more.coppice"),
                         .running = {.threads = 1, .stop = &stop}});
  InsertOptions options;
  options.on_rows = [&](std::size_t, std::size_t) { stop = true; };
  EXPECT_TRUE(contains(refusal(ErrorCode::stopped, [&] { fit.insert_rows(options); }), "is unchanged"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("more.coppice")));
}

TEST(RunWithoutAFile, OfAClassifierPredicts) {
  FitRequest request;
  request.model = "bnmc";
  request.data = labeled_data();
  request.run_length = {{"seed", Setting::number(3)}};
  request.running.threads = 1;
  Fit fit = Fit::begin(request);
  ASSERT_EQ(fit.run(), FitEnd::finished);
  const SavedRun run = Fit::take_run(std::move(fit));
  std::size_t draws = 0;
  run.for_each_draw(0, [&](const SavedDraw& draw) {
    ++draws;
    EXPECT_NE(run.model().make_classifier(run.setup().problem, draw.payload), nullptr);
  });
  EXPECT_EQ(draws, 1u);
}

}  // namespace
}  // namespace coppice::test
