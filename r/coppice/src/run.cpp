// A run file and the answers to the questions one can ask of it, as R values.
#include "engine.hpp"

using coppice::Analysis;
using coppice::SavedRun;
using cpp11::operator""_nm;
using coppice_r::analysis_of;
using coppice_r::Pointer;

namespace {

std::size_t level_of_(int level) { return level < 0 ? 0 : static_cast<std::size_t>(level); }

/// Row by row in memory, as the library has it, to column by column, as R has it.
cpp11::writable::doubles_matrix<> matrix_of(const std::vector<double>& values, std::size_t rows,
                                            std::size_t columns) {
  cpp11::writable::doubles_matrix<> matrix(static_cast<int>(rows), static_cast<int>(columns));
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      matrix(static_cast<int>(i), static_cast<int>(j)) = values[i * columns + j];
  return matrix;
}

cpp11::writable::strings texts_of(const std::vector<std::string>& texts) {
  cpp11::writable::strings result;
  for (const std::string& text : texts) result.push_back(text);
  return result;
}

/// Clusters count from 1 in R; new ones are NA.
cpp11::writable::integers clusters_of(std::span<const coppice::Label> labels) {
  cpp11::writable::integers result(static_cast<R_xlen_t>(labels.size()));
  for (std::size_t i = 0; i < labels.size(); ++i)
    result[static_cast<R_xlen_t>(i)] = labels[i] == coppice::kNewCluster ? NA_INTEGER : labels[i] + 1;
  return result;
}

const char* type_name(coppice::Parameter::Type type) {
  using Type = coppice::Parameter::Type;
  switch (type) {
    case Type::real:
      return "real";
    case Type::integer:
      return "integer";
    case Type::flag:
      return "flag";
    case Type::choice:
      return "choice";
    case Type::numbers:
      return "numbers";
    default:
      return "words";
  }
}

}  // namespace

[[cpp11::register]] cpp11::list parameters_() {
  std::vector<std::string> model, name, type, fallback, accepts, help;
  for (const coppice::ModelEntry& entry : coppice::all_models())
    for (const coppice::Parameter& parameter : entry.parameters) {
      model.push_back(entry.name);
      name.push_back(parameter.name);
      type.emplace_back(type_name(parameter.type));
      fallback.push_back(parameter.fallback);
      accepts.push_back(coppice::describe_range(parameter));
      help.push_back(parameter.help);
    }
  return cpp11::writable::list({"model"_nm = texts_of(model), "parameter"_nm = texts_of(name),
                                "type"_nm = texts_of(type), "default"_nm = texts_of(fallback),
                                "accepts"_nm = texts_of(accepts), "help"_nm = texts_of(help)});
}

[[cpp11::register]] cpp11::strings model_names_() {
  std::vector<std::string> names;
  for (const coppice::ModelEntry& entry : coppice::all_models()) names.push_back(entry.name);
  return texts_of(names);
}

[[cpp11::register]] SEXP open_(std::string path) { return Pointer(new Analysis(path)); }

[[cpp11::register]] cpp11::list head_(SEXP run) {
  const Analysis& analysis = analysis_of(run);
  const SavedRun& saved = analysis.run();
  std::vector<std::string> inputs;
  for (const coppice::ColumnSpec& column : saved.contents().input_codebook.columns)
    inputs.push_back(column.name);
  cpp11::writable::doubles clusters;
  for (const double mean : analysis.mean_clusters()) clusters.push_back(mean);
  return cpp11::writable::list(
      {"model"_nm = saved.model().name, "path"_nm = saved.file().path(),
       "rows"_nm = static_cast<int>(saved.rows()), "levels"_nm = static_cast<int>(saved.levels()),
       "chains"_nm = static_cast<int>(saved.config().chains),
       "draws"_nm = static_cast<int>(saved.draws_per_chain()),
       "asked_draws"_nm = static_cast<int>(saved.config().draws), "complete"_nm = saved.complete(),
       "trusted"_nm = analysis.verdict().trusted, "verdict"_nm = analysis.verdict().sentence,
       "inexactness_note"_nm = analysis.inexactness_note(), "notes"_nm = texts_of(saved.config().notes),
       "family"_nm = saved.setup().plan.description(), "greedy"_nm = analysis.is_greedy(),
       "classifier"_nm = analysis.is_classifier(), "clusters"_nm = clusters,
       "row_names"_nm = texts_of(saved.table().row_ids), "columns"_nm = texts_of(inputs)});
}

[[cpp11::register]] cpp11::integers draws_(SEXP run, int level) {
  const SavedRun& saved = analysis_of(run).run();
  saved.check_level(level_of_(level));
  const std::size_t draws = saved.config().chains * saved.draws_per_chain();
  cpp11::writable::integers_matrix<> matrix(static_cast<int>(draws), static_cast<int>(saved.rows()));
  int at = 0;
  saved.for_each_draw(0, [&](const coppice::SavedDraw& draw) {
    const auto labels = coppice::level_of(draw.labels, saved.rows(), level_of_(level));
    for (std::size_t row = 0; row < labels.size(); ++row) matrix(at, static_cast<int>(row)) = labels[row] + 1;
    ++at;
  });
  return cpp11::integers(static_cast<SEXP>(matrix));
}

[[cpp11::register]] cpp11::list traces_(SEXP run) {
  const SavedRun& saved = analysis_of(run).run();
  cpp11::writable::list traces;
  for (const auto& chains : saved.traces()) {
    cpp11::writable::doubles_matrix<> values(static_cast<int>(saved.draws_per_chain()),
                                             static_cast<int>(chains.size()));
    for (std::size_t chain = 0; chain < chains.size(); ++chain)
      for (std::size_t draw = 0; draw < chains[chain].size(); ++draw)
        values(static_cast<int>(draw), static_cast<int>(chain)) = chains[chain][draw];
    traces.push_back(static_cast<SEXP>(values));
  }
  traces.names() = texts_of(saved.trace_names());
  return traces;
}

[[cpp11::register]] cpp11::list diagnostics_(SEXP run) {
  cpp11::writable::strings names;
  cpp11::writable::doubles mean, sd, q05, q95, rhat, bulk, tail;
  for (const coppice::TraceSummary& trace : analysis_of(run).traces()) {
    names.push_back(trace.name);
    mean.push_back(trace.mean);
    sd.push_back(trace.sd);
    q05.push_back(trace.q05);
    q95.push_back(trace.q95);
    rhat.push_back(trace.rhat);
    bulk.push_back(trace.ess_bulk);
    tail.push_back(trace.ess_tail);
  }
  return cpp11::writable::list({"trace"_nm = names, "mean"_nm = mean, "sd"_nm = sd, "q5"_nm = q05,
                                "q95"_nm = q95, "rhat"_nm = rhat, "ess_bulk"_nm = bulk,
                                "ess_tail"_nm = tail});
}

[[cpp11::register]] cpp11::list consensus_(SEXP run, int level, std::string select) {
  const coppice::Consensus estimate =
      analysis_of(run).consensus(level_of_(level), coppice::selection_from_name(select));
  cpp11::writable::doubles confidence;
  for (const double value : estimate.row_confidence) confidence.push_back(value);
  return cpp11::writable::list({"cluster"_nm = clusters_of(estimate.labels), "confidence"_nm = confidence,
                                "clusters"_nm = static_cast<int>(estimate.clusters),
                                "expected_loss"_nm = estimate.expected_loss});
}

[[cpp11::register]] cpp11::doubles coclustering_(SEXP run, int level, int threads) {
  const Analysis& analysis = analysis_of(run);
  const std::size_t rows = analysis.run().rows();
  const auto values =
      coppice::coclustering_matrix(analysis, level_of_(level), static_cast<std::size_t>(threads));
  return cpp11::doubles(static_cast<SEXP>(matrix_of(values, rows, rows)));
}

[[cpp11::register]] cpp11::doubles membership_(SEXP run, int level, std::string select) {
  const Analysis& analysis = analysis_of(run);
  const coppice::Consensus estimate =
      analysis.consensus(level_of_(level), coppice::selection_from_name(select));
  std::vector<double> values;
  for (const coppice::Membership& row : coppice::memberships(analysis, level_of_(level), estimate.labels)) {
    values.insert(values.end(), row.probabilities.begin(), row.probabilities.end());
    values.push_back(row.alone);
  }
  const std::size_t rows = analysis.run().rows();
  return cpp11::doubles(static_cast<SEXP>(matrix_of(values, rows, values.size() / rows)));
}

[[cpp11::register]] cpp11::doubles linkage_(SEXP run, int level) {
  const std::vector<double> merges = coppice::linkage_matrix(analysis_of(run), level_of_(level));
  return cpp11::doubles(static_cast<SEXP>(matrix_of(merges, merges.size() / 4, 4)));
}

[[cpp11::register]] cpp11::list predict_(SEXP run, cpp11::list columns, cpp11::strings row_names, int level,
                                         std::string select, int threads) {
  const Analysis& analysis = analysis_of(run);
  const coppice::MemoryTable table = coppice_r::table_of(columns, row_names);
  const std::vector<coppice::Prediction> rows =
      coppice::predict_rows(analysis, coppice::new_rows(analysis.run(), table), level_of_(level),
                            coppice::selection_from_name(select), static_cast<std::size_t>(threads));
  std::vector<coppice::Label> clusters;
  std::vector<double> probabilities;
  cpp11::writable::doubles densities;
  for (const coppice::Prediction& row : rows) {
    clusters.push_back(row.cluster);
    probabilities.insert(probabilities.end(), row.probabilities.begin(), row.probabilities.end());
    probabilities.push_back(row.new_probability);
    densities.push_back(row.log_density);
  }
  const std::size_t width = rows.empty() ? 1 : rows.front().probabilities.size() + 1;
  return cpp11::writable::list(
      {"cluster"_nm = clusters_of(clusters),
       "probabilities"_nm = static_cast<SEXP>(matrix_of(probabilities, rows.size(), width)),
       "log_density"_nm = densities});
}

[[cpp11::register]] cpp11::list profile_(SEXP run, int level, std::string select, int traits) {
  const Analysis& analysis = analysis_of(run);
  const coppice::Consensus estimate =
      analysis.consensus(level_of_(level), coppice::selection_from_name(select));
  cpp11::writable::integers cluster, size;
  cpp11::writable::doubles confidence;
  std::vector<std::string> words;
  for (const coppice::ClusterProfile& profile : coppice::profile_clusters(
           analysis.run(), estimate.labels, estimate.row_confidence, static_cast<std::size_t>(traits))) {
    cluster.push_back(profile.cluster + 1);
    size.push_back(static_cast<int>(profile.size));
    confidence.push_back(profile.confidence);
    std::string text;
    for (const coppice::Trait& trait : profile.traits) text += (text.empty() ? "" : ", ") + trait.words;
    words.push_back(text);
  }
  return cpp11::writable::list({"cluster"_nm = cluster, "rows"_nm = size, "confidence"_nm = confidence,
                                "different"_nm = texts_of(words)});
}

[[cpp11::register]] std::string report_(SEXP run, std::string select) {
  return coppice::run_page(coppice::report_assets(), analysis_of(run), coppice::selection_from_name(select));
}
