#include "coppice/out/answer_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace coppice {

using nlohmann::ordered_json;

ordered_json head_json(const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  ordered_json answer{{"model", run.model().name},
                      {"rows", run.all_rows()},
                      {"columns", run.table().columns.size()},
                      {"chains", run.config().chains},
                      {"draws", run.draws_per_chain()},
                      {"until", run.config().until},
                      {"warmup", run.config().warmup},
                      {"thin", run.config().thin},
                      {"seed", run.config().seed},
                      {"complete", run.complete()},
                      {"trusted", analysis.verdict().trusted},
                      {"verdict", analysis.verdict().sentence}};
  if (run.contents().has_weights())
    answer["weights"] = {{"column", run.contents().weights.columns.front().name},
                         {"total", run.setup().rows.copies()}};
  if (const std::string note = run.sample_note(); !note.empty()) {
    answer["answer_rows"] = run.rows();
    answer["sample_note"] = note;
  }
  add_exactness(analysis, answer);
  return answer;
}

void add_exactness(const Analysis& analysis, ordered_json& answer) {
  const std::string sentence = analysis.inexactness_note();
  if (sentence.empty() && analysis.run().levels() == 1) return;
  answer["exact"] = sentence.empty();
  if (!sentence.empty()) answer["inexactness_note"] = sentence;
}

ordered_json moves_json(const SavedRun& run) {
  ordered_json moves = ordered_json::array();
  for (const MoveStatistics& move : total_moves(run)) {
    const double rate = move.proposed == 0
                            ? std::nan("")
                            : static_cast<double>(move.accepted) / static_cast<double>(move.proposed);
    moves.push_back(
        {{"name", move.name}, {"proposed", move.proposed}, {"accepted", move.accepted}, {"rate", rate}});
  }
  return moves;
}

ordered_json to_json(const TraceSummary& trace) {
  return {{"name", trace.name},           {"mean", trace.mean},         {"sd", trace.sd},
          {"median", trace.median},       {"q05", trace.q05},           {"q95", trace.q95},
          {"rhat", trace.rhat},           {"ess_bulk", trace.ess_bulk}, {"ess_tail", trace.ess_tail},
          {"mcse_mean", trace.mcse_mean}, {"constant", trace.constant}};
}

ordered_json to_json(const Trait& trait) {
  return {{"column", trait.column},
          {"words", trait.words},
          {"divergence", trait.divergence},
          {"inside", trait.inside},
          {"outside", trait.outside},
          {"inside_sd", trait.inside_sd},
          {"outside_sd", trait.outside_sd},
          {"inside_low", trait.inside_range.low},
          {"inside_high", trait.inside_range.high},
          {"outside_low", trait.outside_range.low},
          {"outside_high", trait.outside_range.high},
          {"level", trait.level}};
}

ordered_json to_json(const ClusterCounts& counts) {
  const auto of = [](const CountLaw& law) {
    return ordered_json{{"mean", law.mean}, {"sd", law.sd}, {"q05", law.low}, {"q95", law.high}};
  };
  if (counts.prior.shares.empty()) return {{"level", counts.level}, {"posterior", of(counts.posterior)}};
  ordered_json prior = of(counts.prior);
  prior["exact"] = counts.prior_is_exact;
  return {{"level", counts.level},
          {"prior", prior},
          {"posterior", of(counts.posterior)},
          {"total_variation", counts.total_variation},
          {"prior_dominates", counts.prior_dominates}};
}

ordered_json to_json(const ColumnSeparation& column) {
  return {{"column", column.name},
          {"kind", kind_name(column.kind)},
          {"family", column.family},
          {"learned", column.is_learned},
          {"transform", column.is_log ? "log" : ""},
          {"measure", column.kind == Kind::category || column.kind == Kind::binary ? "difference" : "sd"},
          {"overall", column.overall},
          {"within", column.within},
          {"between", column.between}};
}

ordered_json cluster_counts_json(const Analysis& analysis) {
  ordered_json list = ordered_json::array();
  for (const ClusterCounts& level : cluster_counts(analysis)) list.push_back(to_json(level));
  return list;
}

ordered_json column_separation_json(const Analysis& analysis) {
  ordered_json list = ordered_json::array();
  for (const ColumnSeparation& column : column_separation(analysis)) list.push_back(to_json(column));
  return list;
}

ordered_json learned_values_json(const SavedRun& run) {
  ordered_json list = ordered_json::array();
  for (const LearnedValue& value : learned_values(run))
    list.push_back({{"column", value.column},
                    {"family", value.family},
                    {"parameter", value.parameter},
                    {"transform", value.is_log ? "log" : ""},
                    {"level", value.level},
                    {"mean", value.mean},
                    {"sd", value.sd},
                    {"q05", value.q05},
                    {"q95", value.q95}});
  return list;
}

ordered_json to_json(const Scores& scores) {
  return {{"f_measure", scores.f_measure},
          {"pairwise_f", scores.pairwise_f},
          {"ari", scores.ari},
          {"nmi", scores.nmi},
          {"vi", scores.vi},
          {"purity", scores.purity},
          {"homogeneity", scores.homogeneity},
          {"completeness", scores.completeness},
          {"rows", scores.rows},
          {"classes", scores.classes},
          {"clusters", scores.clusters}};
}

ordered_json to_json(const CrossTable& table) {
  return {{"classes", table.classes}, {"counts", table.counts}, {"unknown", table.unknown}};
}

ordered_json to_json(const LabelScores& scores) {
  ordered_json answer{{"rows", scores.rows}, {"labels", scores.labels}};
  for (const auto& [name, value] : named_measures(scores)) answer[name] = value;
  return answer;
}

}  // namespace coppice
