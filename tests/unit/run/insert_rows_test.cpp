// Taking rows into a finished run: what is drawn does not depend on threads or batches, states are sound, and
// what cannot be done is refused.
#include "coppice/run/insert_rows.hpp"

#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "support/small_run.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kOld = 20;
constexpr std::size_t kNew = 15;

/// The first rows of the contents, and the others.
Table rows_of(const Table& table, std::size_t first, std::size_t count) {
  Table part;
  const auto slice = [&](const auto& list) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
    return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  for (const Column& column : table.columns)
    part.columns.push_back({column.name, column.kind, slice(column.values), column.levels});
  part.row_ids = slice(table.row_ids);
  return part;
}

struct OldRun {
  explicit OldRun(const Settings& settings, const std::string& model = "nrmm", std::size_t draws = 80)
      : path(folder.file("old.coppice")), all(small_contents(model, settings, kOld + kNew, 2, 20, draws)) {
    RunContents contents = all;
    contents.table = rows_of(all.table, 0, kOld);
    contents.truth = rows_of(all.truth, 0, kOld);
    RunFile::create(path, contents);
    resume(path, {});
  }
  ScratchFolder folder;
  std::string path;
  RunContents all;
};

class InsertRows : public ::testing::TestWithParam<Variant> {};

TEST_P(InsertRows, GivesSoundStatesWhateverTheBatches) {
  const OldRun old(settings_from(GetParam().settings));
  const SavedRun run(old.path);
  const Table more = rows_of(old.all.table, kOld, kNew);
  const RunContents contents = contents_with(run, more, {});
  EXPECT_EQ(contents.table.rows(), kOld + kNew);
  EXPECT_EQ(contents.table.row_ids.back(), std::to_string(kOld + kNew));
  for (std::size_t row = 0; row < kOld + kNew; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      EXPECT_EQ(contents.table.columns[column].text(row), old.all.table.columns[column].text(row));
  EXPECT_TRUE(is_missing(contents.truth.columns[0].values.back()));
  EXPECT_NE(contents.config.seed, run.config().seed);
  const auto setup = set_up_problem(contents);
  const std::vector<Checkpoint> states = insert_rows(run, *setup, {.batch = 1, .threads = 1});
  ASSERT_EQ(states.size(), 2u);
  for (const Checkpoint& state : states) {
    EXPECT_EQ(state.sweep, 0u);
    const auto sampler = setup->model->make_inference(setup->problem);
    sampler->load(state.state);
    EXPECT_NEAR(sampler->log_joint(), sampler->log_joint_from_scratch(), 1e-8);
    sampler->step({1, state.chain, 1});
  }
  const std::vector<Checkpoint> again = insert_rows(run, *setup, {.batch = 7, .threads = 2});
  for (std::size_t chain = 0; chain < 2; ++chain) EXPECT_EQ(again[chain].state, states[chain].state);
}

std::vector<Variant> growing_variants() {
  std::vector<Variant> list = mixture_variants();
  list.push_back({"ngg", "nrmm", {"process=\"ngg\""}});
  list.push_back({"published", "nrmm", {"sampler=\"tree-guided-published\""}});
  return list;
}

INSTANTIATE_TEST_SUITE_P(Samplers, InsertRows, ::testing::ValuesIn(growing_variants()),
                         [](const ::testing::TestParamInfo<Variant>& info) { return info.param.name; });

TEST(InsertRows, TheUpdatedRunGoesOnAndResumes) {
  const OldRun old({});
  const SavedRun run(old.path);
  const RunContents contents = contents_with(run, rows_of(old.all.table, kOld, kNew), {});
  const auto setup = set_up_problem(contents);
  const std::vector<Checkpoint> states = insert_rows(run, *setup, {});
  std::vector<std::vector<ChainDraws>> draws;
  for (const char* name : {"a.coppice", "b.coppice"}) {
    const std::string path = old.folder.file(name);
    RunFile::create(path, contents).commit({}, states, {});
    if (std::string(name) == "b.coppice") {
      std::atomic<bool> stop{true};
      EXPECT_EQ(resume(path, {.stop = &stop}), FitEnd::interrupted);
    }
    EXPECT_EQ(resume(path, {}), FitEnd::finished);
    draws.push_back(draws_at(path));
  }
  EXPECT_EQ(draws[0], draws[1]);
  EXPECT_EQ(SavedRun(old.folder.file("a.coppice")).rows(), kOld + kNew);
}

TEST(InsertRows, BeginsAfterTheLastSweep) {
  // 20 + 13 sweeps leave no checkpoint, 20 + 95 one before the end.
  for (const std::size_t draws : {13u, 95u}) {
    const OldRun old(settings_from({"alpha=1", "sampler=\"gibbs\""}), "nrmm", draws);
    const SavedRun run(old.path);
    Labels last(kOld);
    run.for_each_draw(0, [&](const SavedDraw& draw) {
      if (draw.chain == 1) last.assign(draw.labels.begin(), draw.labels.end());
    });
    const RunContents contents = contents_with(run, rows_of(old.all.table, kOld, 0), {});
    const auto setup = set_up_problem(contents);
    const std::vector<Checkpoint> states = insert_rows(run, *setup, {});
    const auto sampler = setup->model->make_inference(setup->problem);
    sampler->load(states[1].state);
    Labels labels(kOld);
    sampler->labels(labels);
    EXPECT_EQ(labels, last) << draws;
  }
}

TEST(InsertRows, RefusesNamesThatAreTaken) {
  const OldRun old({});
  {
    RunContents contents = old.all;
    contents.table = rows_of(old.all.table, 0, kOld);
    contents.truth = rows_of(old.all.truth, 0, kOld);
    contents.config.id = "name";
    RunFile::create(old.path, contents, true);
  }
  const SavedRun run(old.path);
  EXPECT_THROW(contents_with(run, rows_of(old.all.table, kOld - 1, 2), {}), Error);
  const RunContents contents = contents_with(run, rows_of(old.all.table, kOld, 2), {});
  const auto setup = set_up_problem(contents);
  EXPECT_THROW(insert_rows(run, *setup, {}), Error) << "a run that is not complete";
}

TEST(InsertRows, RefusesModelsThatDoNotGrow) {
  const OldRun old(settings_from({"penalty=0"}), "rbhmc");
  const SavedRun run(old.path);
  const RunContents contents = contents_with(run, rows_of(old.all.table, kOld, kNew), {});
  const auto setup = set_up_problem(contents);
  EXPECT_THROW(insert_rows(run, *setup, {}), Error);
}

TEST(InsertRows, KeepsKnownLabelsOfNewRows) {
  const OldRun old({});
  const SavedRun run(old.path);
  Table truth = rows_of(old.all.truth, kOld, kNew);
  truth.columns[0].levels = {"other", "only"};
  truth.columns[0].values.assign(kNew, 0.0);
  truth.columns[0].values[3] = 1.0;
  const RunContents contents = contents_with(run, rows_of(old.all.table, kOld, kNew), truth);
  EXPECT_EQ(contents.truth.columns[0].text(0), "only");
  EXPECT_EQ(contents.truth.columns[0].text(kOld), "other");
  EXPECT_EQ(contents.truth.columns[0].text(kOld + 3), "only");
}

}  // namespace
}  // namespace coppice::test
