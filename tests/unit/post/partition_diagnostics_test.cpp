// Chains that disagree on who is with whom, though the traces of every model agree: the planted failure.
#include "coppice/post/partition_diagnostics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "coppice/base/error.hpp"
#include "coppice/post/chain_agreement.hpp"
#include "coppice/post/verdict.hpp"
#include "coppice/run/diagnostics.hpp"

namespace coppice {
namespace {

constexpr std::size_t kDiagnosedRows = 10;
constexpr std::size_t kDraws = 1000;

/// Rows 1 to 5 against the others, or odd against even rows: alike in number, sizes and entropy.
Labels halves() { return {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}; }
Labels parity() { return {0, 1, 0, 1, 0, 1, 0, 1, 0, 1}; }

/// A chain that stays in a mode for about `stay` draws and is in the first one for this fraction of them;
/// sometimes a row is alone.
LabelMatrix chain_of(unsigned seed, double first_share, double stay) {
  std::mt19937 engine(seed);
  const auto uniform = [&] { return static_cast<double>(engine()) / 4294967296.0; };
  LabelMatrix draws{kDiagnosedRows, {}};
  bool is_first = uniform() < first_share;
  for (std::size_t d = 0; d < kDraws; ++d) {
    if (uniform() < 1.0 / stay) is_first = uniform() < first_share;
    Labels labels = is_first ? halves() : parity();
    if (uniform() < 0.3) labels[static_cast<std::size_t>(uniform() * kDiagnosedRows)] = 2;
    draws.push_back(labels);
  }
  return draws;
}

std::vector<LabelMatrix> chains_of(const std::vector<double>& shares, double stay = 200.0) {
  std::vector<LabelMatrix> chains;
  for (std::size_t c = 0; c < shares.size(); ++c)
    chains.push_back(chain_of(static_cast<unsigned>(c + 1), shares[c], stay));
  return chains;
}

/// Number of clusters and entropy: what models record.
std::vector<TraceSummary> model_traces(const std::vector<LabelMatrix>& chains) {
  std::vector<std::vector<double>> clusters(chains.size()), entropy(chains.size());
  for (std::size_t c = 0; c < chains.size(); ++c)
    for (std::size_t d = 0; d < chains[c].draws(); ++d) {
      Labels labels(chains[c][d].begin(), chains[c][d].end());
      canonicalize(labels);
      const std::vector<std::size_t> sizes = cluster_sizes(labels);
      clusters[c].push_back(static_cast<double>(sizes.size()));
      entropy[c].push_back(partition_entropy(sizes, kDiagnosedRows));
    }
  return {summarize_trace("clusters", clusters), summarize_trace("entropy", entropy)};
}

std::vector<TraceSummary> partition_summaries(const std::vector<LabelMatrix>& chains) {
  std::vector<TraceSummary> summaries;
  for (const PartitionTrace& trace : partition_traces(chains))
    summaries.push_back(summarize_trace(
        trace.kind == PartitionTrace::Kind::distance ? "distance to reference" : "co-clustering",
        trace.values));
  return summaries;
}

Verdict verdict_of(const std::vector<TraceSummary>& traces, const std::vector<TraceSummary>& partitions) {
  Evidence evidence;
  evidence.traces = traces;
  evidence.partitions = partitions;
  evidence.chains = 4;
  evidence.draws = kDraws;
  evidence.file = "two.coppice";
  return judge(evidence);
}

TEST(PartitionDiagnostics, CatchTwoModesThatModelTracesMiss) {
  const std::vector<LabelMatrix> chains = chains_of({0.0, 0.998, 0.66, 0.06});
  const std::vector<TraceSummary> traces = model_traces(chains);
  EXPECT_TRUE(verdict_of(traces, {}).trusted) << verdict_of(traces, {}).sentence;  // today's traces miss it
  const std::vector<TraceSummary> partitions = partition_summaries(chains);
  const Verdict verdict = verdict_of(traces, partitions);
  EXPECT_FALSE(verdict.trusted);
  EXPECT_TRUE(verdict.is_about_partitions);
  EXPECT_TRUE(verdict.sentence.starts_with("Do not trust it yet: R-hat of ")) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("do not agree on what belongs together"), std::string::npos);
  // Distances and pairs each see it by themselves.
  for (const char* name : {"distance to reference", "co-clustering"}) {
    double worst = 0.0;
    for (const TraceSummary& trace : partitions)
      if (trace.name == name) worst = std::max(worst, trace.rhat);
    EXPECT_GT(worst, 1.5) << name;
  }
}

TEST(PartitionDiagnostics, TrustTwoModesThatEveryChainVisitsAlike) {
  // Modes that change at every other draw: ten traces of 4000 nearly independent draws. R-hat of one of them
  // exceeds 1.01 with the probability that a chi-square of 7 exceeds 7 * 0.0201 * 2000 / 8 = 35: 1e-5.
  const std::vector<LabelMatrix> chains = chains_of({0.5, 0.5, 0.5, 0.5}, 2.0);
  const std::vector<TraceSummary> partitions = partition_summaries(chains);
  ASSERT_FALSE(partitions.empty());
  const Verdict verdict = verdict_of(model_traces(chains), partitions);
  EXPECT_TRUE(verdict.trusted) << verdict.sentence;
}

TEST(PartitionDiagnostics, ReferencesAreInSeparateModesAndPairsAreUndecided) {
  const std::vector<LabelMatrix> chains = chains_of({0.0, 1.0, 0.66, 0.06});
  const std::vector<PartitionTrace> traces = partition_traces(chains);
  std::vector<bool> seen(2, false);
  std::vector<bool> taken(kDiagnosedRows, false);
  for (const PartitionTrace& trace : traces) {
    ASSERT_EQ(trace.values.size(), 4U);
    if (trace.kind == PartitionTrace::Kind::distance) {
      EXPECT_EQ(trace.values[trace.chain][trace.draw], 0.0);
      const auto reference = chains[trace.chain][trace.draw];
      seen[reference[0] == reference[1] ? 0 : 1] = true;  // odd or even
      continue;
    }
    EXPECT_FALSE(taken[trace.first] || taken[trace.second]);
    taken[trace.first] = taken[trace.second] = true;
    for (std::size_t d = 0; d < kDraws; ++d)
      EXPECT_EQ(trace.values[2][d], chains[2][d][trace.first] == chains[2][d][trace.second] ? 1.0 : 0.0);
  }
  EXPECT_TRUE(seen[0] && seen[1]);
}

TEST(PartitionDiagnostics, DistancesAreVariationsOfInformation) {
  std::vector<LabelMatrix> chains{LabelMatrix{4, {0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3}}};
  const double log2 = std::log(2.0);
  for (const PartitionTrace& trace : partition_traces(chains)) {
    if (trace.kind != PartitionTrace::Kind::distance || trace.draw != 0) continue;
    EXPECT_NEAR(trace.values[0][1], 2.0 * log2, 1e-12);  // independent halves
    EXPECT_NEAR(trace.values[0][2], log2, 1e-12);
    EXPECT_NEAR(trace.values[0][3], log2, 1e-12);
  }
}

TEST(PartitionDiagnostics, EqualDrawsGiveNoTrace) {
  const std::vector<LabelMatrix> chains(3, LabelMatrix{3, {0, 0, 1, 5, 5, 2}});
  EXPECT_TRUE(partition_traces(chains).empty());
  EXPECT_TRUE(partition_traces({}).empty());
  std::vector<LabelMatrix> uneven = chains;
  uneven[1].values.resize(3);
  EXPECT_THROW(partition_traces(uneven), Error);
}

TEST(ChainAgreement, NamesPairsRowsAndClusters) {
  PartitionDraws draws;
  for (std::size_t row = 0; row < kDiagnosedRows; ++row) draws.members.push_back(row);
  // Chain 0 keeps the first five rows together, chain 1 moves row 4 over; the rest is the same.
  const Labels apart{0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  draws.chains.assign(2, LabelMatrix{kDiagnosedRows, {}});
  for (int d = 0; d < 10; ++d) {
    draws.chains[0].push_back(halves());
    draws.chains[1].push_back(apart);
  }
  ChainAgreement agreement;
  compare_pairs(draws, 3, agreement);
  ASSERT_EQ(agreement.pairs.size(), 1U);  // every pair that differs has row 4
  EXPECT_EQ(agreement.pairs[0].second, 4U);
  EXPECT_EQ(agreement.pairs[0].shares, (std::vector<double>{1.0, 0.0}));
  EXPECT_EQ(agreement.unstable.size(), kDiagnosedRows);
  const std::vector<ClusterByChain> clusters = compare_clusters(draws, halves());
  ASSERT_EQ(clusters.size(), 2U);
  EXPECT_DOUBLE_EQ(clusters[0].overlaps[0], 1.0);
  EXPECT_DOUBLE_EQ(clusters[0].overlaps[1], 0.8);
  EXPECT_DOUBLE_EQ(clusters[1].overlaps[1], 5.0 / 6.0);
  EXPECT_FALSE(clusters[0].agrees);
  const PartitionDraws one_chain{.members = draws.members, .chains = {draws.chains[0]}};
  EXPECT_TRUE(compare_clusters(one_chain, halves())[0].agrees);
}

TEST(ChainAgreement, UndecidedPairs) {
  PartitionDraws draws;
  draws.members = {0, 1, 2};
  draws.chains.assign(1, LabelMatrix{3, {}});
  for (int d = 0; d < 10; ++d) draws.chains[0].push_back(d < 5 ? Labels{0, 0, 1} : Labels{0, 0, 0});
  EXPECT_DOUBLE_EQ(undecided_pairs(draws), 2.0 / 3.0);
  draws.chains[0] = LabelMatrix{3, {0, 1, 2}};
  EXPECT_TRUE(std::isnan(undecided_pairs(draws)));
}

TEST(Verdict, AnRhatAboveTheLimitNeverLooksLikeTheLimit) {
  EXPECT_EQ(rhat_text(1.01), "1.010");
  EXPECT_EQ(rhat_text(1.0101), "1.0101");
  EXPECT_EQ(rhat_text(1.010004), "1.010004");
  EXPECT_EQ(rhat_text(1.0099999), "1.010");
  EXPECT_EQ(rhat_text(1.0149), "1.015");
  EXPECT_EQ(rhat_text(1.31), "1.31");
  EXPECT_EQ(rhat_text(std::nan("")), "-");
}

}  // namespace
}  // namespace coppice
