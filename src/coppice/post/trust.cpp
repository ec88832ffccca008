#include "coppice/post/trust.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "coppice/base/counted.hpp"
#include "coppice/data/text.hpp"

namespace coppice {
namespace {

constexpr std::size_t kShownPairs = 6;
constexpr std::size_t kNamedClusters = 6;
constexpr std::size_t kNamedMembers = 8;
constexpr std::size_t kMostEstimateMembers = 400;  // of a view's rows, whose point estimate is made here

/// The partitions in which the chains differ most.
const PartitionDraws& worst_partitions(const Analysis& analysis) {
  const std::vector<PartitionDraws>& all = analysis.partition_draws();
  double worst = -1.0;
  std::string where = all.front().where;
  for (const PartitionDiagnostic& entry : analysis.partition_diagnostics())
    if (entry.summary.rhat > worst) {
      worst = entry.summary.rhat;
      where = entry.where;
    }
  return *std::find_if(all.begin(), all.end(),
                       [&](const PartitionDraws& draws) { return draws.where == where; });
}

/// The point estimate of these partitions: that of the level, or of the members alone.
std::optional<Consensus> estimate_of(const Analysis& analysis, const PartitionDraws& draws) {
  if (!analysis.run().model().has_views()) return analysis.consensus(draws.level, Selection::kVi);
  const std::size_t total = draws.of_columns ? analysis.run().table().columns.size() : analysis.run().rows();
  if (draws.members.size() != total || total > kMostEstimateMembers) return std::nullopt;
  LabelMatrix all{total, {}};
  for (const LabelMatrix& chain : draws.chains)
    all.values.insert(all.values.end(), chain.values.begin(), chain.values.end());
  return coppice::consensus(all);
}

std::string cause_of(const SavedRun& run, const ChainAgreement& agreement) {
  const std::string suffix =
      agreement.where.empty() || agreement.of_columns ? std::string() : " (" + agreement.where + ")";
  const char* things = agreement.of_columns ? "columns" : "rows";
  if (agreement.unstable.empty())
    return agreement.pairs.empty()
               ? fmt::format(
                     "Pairs of {} are together equally often in all chains{}: the chains differ in "
                     "something else, and only a little in who is with whom.",
                     things, suffix)
               : fmt::format("The chains differ somewhat on many {}{}, on none strongly.", things, suffix);
  std::vector<std::string> names;
  for (const std::size_t member : agreement.unstable) {
    if (names.size() == kNamedMembers) break;
    names.push_back(text::display(member_name(run, agreement.of_columns, member), 30));
  }
  const std::size_t more = agreement.unstable.size() - names.size();
  return fmt::format("The chains disagree on {} of {} {}{}{}: {}{}.", agreement.unstable.size(),
                     agreement.members, things,
                     agreement.of_columns || agreement.members == run.rows() ? "" : " of a sample", suffix,
                     fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : std::string());
}

std::vector<std::string> safe_to_use(const ChainAgreement& agreement) {
  std::vector<std::string> safe;
  const char* clusters = agreement.of_columns ? "views" : "clusters";
  const char* thing = agreement.of_columns ? "column" : "row";
  std::vector<std::string> named;
  std::size_t agreeing = 0;
  for (const ClusterByChain& cluster : agreement.clusters) {
    if (!cluster.agrees) continue;
    ++agreeing;
    if (named.size() < kNamedClusters)
      named.push_back(fmt::format("{} ({})", cluster.cluster, counted(cluster.size, thing)));
  }
  if (agreeing > 0)
    safe.push_back(
        fmt::format("{} of the {} {} of the point estimate{}, which every chain finds: {}{}", agreeing,
                    agreement.clusters.size(), clusters,
                    agreement.where.empty() || agreement.of_columns ? "" : " (" + agreement.where + ")",
                    fmt::join(named, ", "), agreeing > named.size() ? ", ..." : ""));
  if (!agreement.agreed_traces.empty())
    safe.push_back(fmt::format("what has converged: {}", fmt::join(agreement.agreed_traces, ", ")));
  if (safe.empty()) safe.emplace_back("nothing yet");
  return safe;
}

}  // namespace

Trust trust_of(const Analysis& analysis) {
  Trust trust;
  const SavedRun& run = analysis.run();
  if (analysis.is_greedy() || analysis.is_classifier() || analysis.partition_draws().empty()) return trust;
  trust.fit = check_fit(run);
  for (std::size_t i = 0; i < analysis.partition_draws().size(); ++i) {
    const PartitionDraws& draws = analysis.partition_draws()[i];
    if (!draws.of_columns) trust.undecided.push_back({draws.where, analysis.undecided_shares()[i]});
  }
  for (const PartitionDraws& draws : analysis.partition_draws()) {
    Modes modes = find_modes(draws.chains);
    if (modes.modes.size() < 2) continue;
    std::string sentence = modes_sentence(run, draws, modes);
    if (!analysis.verdict().converged)
      sentence += " The percentages are how long the chains stayed there, not probabilities.";
    trust.modes.push_back(
        {draws.where, draws.of_columns, draws.members, std::move(modes), std::move(sentence)});
  }
  if (analysis.verdict().converged || run.config().chains < 2 || run.draws_per_chain() < 4) return trust;

  const PartitionDraws& worst = worst_partitions(analysis);
  ChainAgreement& agreement = trust.agreement;
  agreement.where = worst.where;
  agreement.level = worst.level;
  agreement.of_columns = worst.of_columns;
  compare_pairs(worst, kShownPairs, agreement);
  if (const std::optional<Consensus> estimate = estimate_of(analysis, worst)) {
    const std::vector<bool> alone = clusters_of_rows(*estimate, unassigned_rows(*estimate));
    for (const ClusterByChain& cluster : compare_clusters(worst, estimate->labels))
      if (!alone[cluster.cluster]) agreement.clusters.push_back(cluster);
  }
  const double need = needed_effective_draws(run.config().chains);
  for (const TraceSummary& trace : analysis.traces())
    if (!trace.constant && trace.rhat <= kRhatLimit && std::min(trace.ess_bulk, trace.ess_tail) >= need)
      agreement.agreed_traces.push_back(trace.name);
  trust.cause = cause_of(run, agreement);
  trust.safe = safe_to_use(agreement);
  return trust;
}

}  // namespace coppice
