#include "coppice/out/trust_json.hpp"

#include <nlohmann/json.hpp>

#include "coppice/out/answer_json.hpp"

namespace coppice {
namespace {

using nlohmann::ordered_json;

ordered_json fit_json(const FitReport& fit) {
  if (fit.checks.empty()) return nullptr;
  ordered_json checks = ordered_json::array();
  for (const FitCheck& check : fit.checks) {
    ordered_json entry{{"what", check.of_column ? "column" : "clusters"},
                       {"name", check.name},
                       {"tail_probability", check.tail_probability}};
    if (check.of_column)
      entry.update(
          ordered_json{{"cells", check.cells}, {"misplaced", check.misplaced}, {"places", check.places}});
    entry["pattern"] = check.pattern;
    checks.push_back(std::move(entry));
  }
  return {{"fits", fit.fits},   {"sentence", fit.sentence}, {"rows", fit.rows},
          {"chain", fit.chain}, {"draw", fit.draw},         {"checks", checks}};
}

ordered_json modes_json(const SavedRun& run, const SeparateModes& found) {
  ordered_json modes = ordered_json::array();
  for (std::size_t k = 0; k < found.modes.modes.size(); ++k) {
    const Mode& mode = found.modes.modes[k];
    modes.push_back({{"name", mode_name(k)},
                     {"weight", mode.weight},
                     {"chain_weights", mode.chain_weights},
                     {"clusters", mode.clusters},
                     {"chain", mode.chain},
                     {"draw", mode.draw},
                     {"radius", mode.radius},
                     {"labels", mode.labels}});
  }
  ordered_json members = ordered_json::array();
  for (const std::size_t member : found.members)
    members.push_back(member_name(run, found.of_columns, member));
  return {{"where", found.where},
          {"sentence", found.sentence},
          {"silhouette", found.modes.silhouette},
          {found.of_columns ? "columns" : "rows", members},
          {"modes", modes}};
}

ordered_json disagreement_json(const SavedRun& run, const Trust& trust) {
  if (trust.cause.empty()) return nullptr;
  const ChainAgreement& agreement = trust.agreement;
  const auto name = [&](std::size_t member) { return member_name(run, agreement.of_columns, member); };
  ordered_json pairs = ordered_json::array();
  for (const PairByChain& pair : agreement.pairs)
    pairs.push_back({{"members", {name(pair.first), name(pair.second)}}, {"chains", pair.shares}});
  ordered_json unstable = ordered_json::array();
  for (const std::size_t member : agreement.unstable) unstable.push_back(name(member));
  ordered_json clusters = ordered_json::array();
  for (const ClusterByChain& cluster : agreement.clusters)
    clusters.push_back({{"cluster", cluster.cluster},
                        {"size", cluster.size},
                        {"chains", cluster.overlaps},
                        {"agrees", cluster.agrees}});
  return {{"sentence", trust.cause},
          {"where", agreement.where},
          {"level", agreement.level},
          {"members", agreement.of_columns ? "columns" : "rows"},
          {"looked_at", agreement.members},
          {"unstable", unstable},
          {"pairs", pairs},
          {"clusters", clusters}};
}

}  // namespace

ordered_json partition_traces_json(const Analysis& analysis) {
  ordered_json list = ordered_json::array();
  for (const PartitionDiagnostic& entry : analysis.partition_diagnostics()) {
    ordered_json trace = to_json(entry.summary);
    trace["level"] = entry.level;
    trace["where"] = entry.where;
    if (entry.trace.kind == PartitionTrace::Kind::distance) {
      trace["kind"] = "distance";
      trace["chain"] = entry.trace.chain;
      trace["draw"] = entry.trace.draw;
    } else {
      trace["kind"] = "pair";
      trace[entry.of_columns ? "columns" : "rows"] = {
          member_name(analysis.run(), entry.of_columns, entry.trace.first),
          member_name(analysis.run(), entry.of_columns, entry.trace.second)};
    }
    list.push_back(std::move(trace));
  }
  return list;
}

ordered_json trust_json(const Analysis& analysis, const Trust& trust) {
  ordered_json undecided = ordered_json::array();
  for (const Undecided& entry : trust.undecided)
    undecided.push_back({{"where", entry.where}, {"share", entry.share}});
  ordered_json modes = ordered_json::array();
  for (const SeparateModes& found : trust.modes) modes.push_back(modes_json(analysis.run(), found));
  return {{"converged", analysis.verdict().converged},
          {"diffuse", analysis.verdict().is_diffuse},
          {"fit", fit_json(trust.fit)},
          {"undecided_pairs", undecided},
          {"modes", modes},
          {"disagreement", disagreement_json(analysis.run(), trust)},
          {"remedies", analysis.verdict().remedies},
          {"safe", trust.safe}};
}

}  // namespace coppice
