// Runs that differ in their seed, put into one: whose draws it has, and what is refused.
#include "coppice/run/merge_runs.hpp"

#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "support/small_run.hpp"

namespace coppice::test {
namespace {

struct Request {
  std::uint64_t seed = 1;
  std::size_t chains = 1;
  std::size_t draws = 20;
};

class MergeRuns : public testing::Test {
 protected:
  std::string fit(const Request& request, const Settings& parameters = {},
                  const std::string& model = "nrmm") {
    RunContents contents = small_contents(model, parameters, 8, request.chains, 10, request.draws);
    contents.config.seed = request.seed;
    if (const ModelEntry& entry = model_by_name(model); entry.runs_once())
      settle_run_length(contents.config, *set_up_problem(contents));
    const std::string path = folder_.file("run" + std::to_string(++runs_) + ".coppice");
    RunFile::create(path, contents);
    resume(path, {.threads = 1});
    return path;
  }

  ErrorCode refusal(const std::vector<std::string>& paths) {
    try {
      merge_runs(paths, folder_.file("refused.coppice"));
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::bug;
  }

  ScratchFolder folder_;
  std::size_t runs_ = 0;
};

TEST_F(MergeRuns, ChainsOfAllRunsInTheirOrderAsLongAsTheShortest) {
  const std::vector<std::string> paths{fit({1, 1, 30}), fit({2, 2, 12}), fit({3, 1, 40})};
  const std::string output = folder_.file("all.coppice");
  const MergedRun merged = merge_runs(paths, output);
  EXPECT_EQ(merged.chains, 4u);
  EXPECT_EQ(merged.draws, 12u);
  std::vector<ChainDraws> expected;
  for (const std::string& path : paths)
    for (const ChainDraws& chain : draws_at(path)) expected.push_back(chain);
  const std::vector<ChainDraws> chains = draws_at(output);
  ASSERT_EQ(chains.size(), expected.size());
  for (std::size_t chain = 0; chain < chains.size(); ++chain) {
    EXPECT_EQ(chains[chain].count, 12u);
    EXPECT_TRUE(chains[chain].is_prefix_of(expected[chain])) << "chain " << chain;
  }
  const SavedRun run(output);
  EXPECT_TRUE(run.complete());
  EXPECT_TRUE(run.config().merged);
  EXPECT_EQ(run.draws_per_chain(), 12u);
}

TEST_F(MergeRuns, WhatDoesNotBelongTogetherIsRefused) {
  const std::string one = fit({1});
  const std::string two = fit({2});
  const std::string three = fit({3});
  EXPECT_EQ(refusal({one}), ErrorCode::usage);
  EXPECT_EQ(refusal({one, fit({1})}), ErrorCode::configuration);
  EXPECT_EQ(refusal({one, two, fit({2})}), ErrorCode::configuration);  // not only neighbors of the first
  EXPECT_EQ(refusal({one, two, fit({3}, {{"alpha", Setting::number(3.0)}})}), ErrorCode::configuration);
  EXPECT_EQ(refusal({fit({1}, {}, "bhc"), fit({2}, {}, "bhc")}), ErrorCode::configuration);
  const std::string both = folder_.file("both.coppice");
  merge_runs(std::vector<std::string>{one, two}, both);
  EXPECT_EQ(refusal({three, both}), ErrorCode::configuration);
}

}  // namespace
}  // namespace coppice::test
