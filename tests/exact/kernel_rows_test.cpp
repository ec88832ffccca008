// One move at a time: from every partition of four and five rows, the law of the next partition against exact
// transition probabilities, for Jain and Neal's split-merge (random launch, no intermediate scan, ascending
// order) and the three moves that a guide tree leads, under both processes with everything else held fixed.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/nrmm/block_gibbs.hpp"
#include "coppice/model/nrmm/guided_split_merge.hpp"
#include "coppice/model/nrmm/multiway.hpp"
#include "support/monte_carlo.hpp"
#include "support/reference_case.hpp"
#include "support/reference_law.hpp"
#include "support/sampling_error.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kMoves = 60'000;

class KernelRows : public ::testing::TestWithParam<const char*> {};

TEST_P(KernelRows, AreTheExactOnes) {
  const std::string kernel = GetParam();
  const auto reference = read_reference("tgx_transition_vectors.json");
  if (!reference) GTEST_SKIP() << "the folder of reference cases is not beside the source tree";
  std::size_t rows_checked = 0;
  for (const nlohmann::json& entry : *reference) {
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
        std::map<std::string, double> seen;
        Labels labels(start_labels.size());
        clusters.assign(start_labels);
        ++start_number;
        for (std::size_t i = 0; i < count; ++i) {
          Stream stream({seed, start_number, i}, Purpose::split_merge);
          move(stream);
          std::copy(clusters.labels().begin(), clusters.labels().end(), labels.begin());
          canonicalize(labels);
          seen[partition_key(labels)] += 1.0;
          if (labels != start_labels) clusters.assign(start_labels);
        }
        SCOPED_TRACE(entry.at("prior").get<std::string>() + ", from " + start + ", seed " +
                     std::to_string(seed));
        std::vector<double> counts;
        std::vector<double> probabilities;
        for (const auto& [target, probability] : row.items()) {
          const double p = probability;
          const double n = static_cast<double>(count);
          counts.push_back(seen[target]);
          probabilities.push_back(p);
          seen.erase(target);
          // Rarer targets are left to the chi-square test, which puts them together.
          if (n * p >= 10.0) {
            EXPECT_NEAR(counts.back() / n, p, (error_limit() + 0.5) * std::sqrt(p * (1.0 - p) / n))
                << "to " << target;
          }
        }
        expect_frequencies(counts, probabilities);
        for (const auto& [target, times] : seen)
          ADD_FAILURE() << times << " times to " << target << ", which cannot be";
        ++rows_checked;
      }
    }
  }
  EXPECT_EQ(rows_checked, 2 * (15 + 52) * test_seeds().size());
}

INSTANTIATE_TEST_SUITE_P(Moves, KernelRows, ::testing::Values("JN", "X1", "X2", "X3"),
                         [](const ::testing::TestParamInfo<const char*>& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace coppice::test
