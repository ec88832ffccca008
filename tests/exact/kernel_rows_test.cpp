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
#include "coppice/prior/crp.hpp"
#include "coppice/prior/ngg.hpp"
#include "support/reference_case.hpp"
#include "support/sampling_error.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kMoves = 60'000;

std::unique_ptr<ProductPartition> prior_of(const nlohmann::json& entry, std::size_t rows) {
  const double alpha = entry.at("alpha");
  if (entry.at("prior") == "dp") return std::make_unique<Crp>(alpha, rows);
  const double sigma = entry.at("sigma");
  auto ngg = std::make_unique<Ngg>(alpha, sigma, rows);
  ngg->set(alpha, sigma, std::log(std::expm1(sigma * std::log1p(entry.at("u").get<double>()))));
  return ngg;
}

RowTree::Node add_nodes(const nlohmann::json& node, RowTree& tree) {
  if (node.is_number()) return node.get<RowTree::Node>();
  const RowTree::Node left = add_nodes(node.at(0), tree);
  return tree.join(left, add_nodes(node.at(1), tree));
}

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
    const std::unique_ptr<ProductPartition> prior = prior_of(entry, problem.rows.size());
    RowTree guide(problem.rows.size());
    add_nodes(entry.at("guide_tree"), guide);
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
        for (const auto& [target, probability] : row.items()) seen.try_emplace(target, 0.0);
        for (const auto& [target, times] : seen) {
          const double p = row.contains(target) ? row.at(target).get<double>() : 0.0;
          const double n = static_cast<double>(count);
          EXPECT_NEAR(times / n, p, (error_limit() + 0.5) * std::sqrt(p * (1.0 - p) / n) + 1e-5 + 1.0 / n)
              << entry.at("prior") << ": from " << start << " to " << target << ", seed " << seed;
        }
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
