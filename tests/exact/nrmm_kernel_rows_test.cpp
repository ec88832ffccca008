// One move at a time: from every partition of four and five rows, the law of the next partition against exact
// transition probabilities, for Jain and Neal's split-merge (random launch, no intermediate scan, ascending
// order) and the three moves that a guide tree leads, under both processes with everything else held fixed.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/nrmm/block_gibbs.hpp"
#include "coppice/model/nrmm/guided_split_merge.hpp"
#include "coppice/model/nrmm/multiway.hpp"
#include "support/kernel_row.hpp"
#include "support/reference_case.hpp"
#include "support/reference_law.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kMoves = 60'000;

/// A case is one entry or a list of them.
std::vector<nlohmann::json> entries_of_cases() {
  std::vector<nlohmann::json> entries;
  for (const std::string& path : reference_cases("nrmm_moves_", "tgx_")) {
    const nlohmann::json content = read_reference(path);
    if (content.is_array()) {
      entries.insert(entries.end(), content.begin(), content.end());
    } else {
      entries.push_back(content);
    }
  }
  return entries;
}

class NrmmKernelRows : public ::testing::TestWithParam<const char*> {};

TEST_P(NrmmKernelRows, AreTheExactOnes) {
  const std::string kernel = GetParam();
  std::size_t entries = 0;
  for (const nlohmann::json& entry : entries_of_cases()) {
    ++entries;
    nlohmann::json input = entry;
    if (!input.contains("sigma")) input["sigma"] = nullptr;
    const ReferenceProblem problem(input);
    const auto prior = reference_law(entry, problem.rows.size(), entry.value("u", 0.0));
    RowTree guide(problem.rows.size());
    build_reference_tree(
        entry.at("guide_tree"), [](std::uint32_t row) { return row; },
        [&](RowTree::Node left, RowTree::Node right) { return guide.join(left, right); });
    guide.finish();
    Clusters clusters(problem.family(), problem.rows, prior->log_join_table());
    SplitMerge split_merge(problem.family(), problem.rows, *prior, {0, true});
    nrmm::BlockGibbs blocks(problem.family(), problem.rows, *prior);
    nrmm::GuidedSplitMerge guided(problem.family(), problem.rows, *prior, 0);
    nrmm::Multiway multiway(problem.family(), problem.rows, *prior);
    const std::map<std::string, std::function<void(Stream&)>> moves{
        {"JN", [&](Stream& stream) { split_merge.step(clusters, clusters.rows(), stream); }},
        {"X1", [&](Stream& stream) { multiway.step(clusters, guide, stream); }},
        {"X2", [&](Stream& stream) { blocks.step(clusters, guide, stream); }},
        {"X3", [&](Stream& stream) { guided.step(clusters, guide, stream); }}};
    const std::function<void(Stream&)>& move = moves.at(kernel);
    const std::size_t count = scaled(kMoves);
    for (const std::uint64_t seed : test_seeds()) {
      std::uint64_t start_number = 0;
      for (const auto& [start, row] : entry.at(kernel).items()) {
        Labels start_labels;
        for (const char digit : start) start_labels.push_back(digit - '0');
        SCOPED_TRACE(entry.at("prior").get<std::string>());
        expect_kernel_row(clusters, start_labels, row.get<std::map<std::string, double>>(), count, seed,
                          ++start_number, move);
      }
      EXPECT_EQ(start_number, problem.rows.size() == 4 ? 15u : 52u) << "a row of the matrix is missing";
    }
  }
  EXPECT_GE(entries, 3u);
}

INSTANTIATE_TEST_SUITE_P(Moves, NrmmKernelRows, ::testing::Values("JN", "X1", "X2", "X3"),
                         [](const ::testing::TestParamInfo<const char*>& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace coppice::test
