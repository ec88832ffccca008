// One split-merge move at a time: from every partition of four and five rows, the law of the next partition
// against the exact transition probabilities of Jain and Neal's move (random launch, no intermediate scan,
// ascending order).
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "coppice/cluster/split_merge.hpp"
#include "coppice/prior/crp.hpp"
#include "support/reference_case.hpp"
#include "support/sampling_error.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kMoves = 200'000;

TEST(KernelRows, SplitMergeMove) {
  const auto reference = read_reference("tgx_transition_vectors.json");
  if (!reference) GTEST_SKIP() << "the folder of reference cases is not beside the source tree";
  std::size_t rows_checked = 0;
  for (const nlohmann::json& entry : *reference) {
    if (entry.at("prior") != "dp") continue;
    const ReferenceProblem problem(entry);
    const Crp crp(*problem.law.fixed, problem.rows.size());
    Clusters clusters(problem.family(), problem.rows, crp.log_join_table());
    SplitMerge move(problem.family(), problem.rows, crp, {0, true});
    const std::size_t moves = scaled(kMoves);
    for (const std::uint64_t seed : test_seeds()) {
      std::uint64_t start_number = 0;
      for (const auto& [start, row] : entry.at("JN").items()) {
        Labels start_labels;
        for (const char digit : start) start_labels.push_back(digit - '0');
        std::map<std::string, double> seen;
        Labels labels(start_labels.size());
        const auto splits_and_merges = [&] { return move.splits().accepted + move.merges().accepted; };
        clusters.assign(start_labels);
        ++start_number;
        std::size_t stayed = 0;
        for (std::size_t i = 0; i < moves; ++i) {
          Stream stream({seed, start_number, i}, Purpose::split_merge);
          const std::uint64_t before = splits_and_merges();
          move.step(clusters, clusters.rows(), stream);
          if (splits_and_merges() == before) {
            ++stayed;
            continue;
          }
          std::copy(clusters.labels().begin(), clusters.labels().end(), labels.begin());
          canonicalize(labels);
          seen[partition_key(labels)] += 1.0;
          clusters.assign(start_labels);
        }
        seen[start] += static_cast<double>(stayed);
        for (const auto& [target, probability] : row.items()) seen.try_emplace(target, 0.0);
        for (const auto& [target, count] : seen) {
          const double p = row.contains(target) ? row.at(target).get<double>() : 0.0;
          const double n = static_cast<double>(moves);
          EXPECT_NEAR(count / n, p, (error_limit() + 0.5) * std::sqrt(p * (1.0 - p) / n) + 1e-5)
              << "from " << start << " to " << target << ", seed " << seed;
        }
        ++rows_checked;
      }
    }
  }
  EXPECT_EQ(rows_checked, (15 + 52) * test_seeds().size());
}

}  // namespace
}  // namespace coppice::test
