#include "coppice/app/classify.hpp"

#include <algorithm>

#include "coppice/app/answering.hpp"
#include "coppice/app/arguments.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/extremes.hpp"
#include "coppice/data/load.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/out/csv.hpp"
#include "coppice/post/label_answers.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

/// What it means that a file of rows does not mention a label.
enum class Unmentioned { absent, unknown };

/// The labels of the run in the rows of a file, in the order of the run. Labels of a sparse file are those
/// that are there: the others are unmentioned.
Table labels_in_file(const SavedRun& run, std::string_view bytes, const std::string& name,
                     const std::string& id, const std::string& labels_file, Unmentioned unmentioned,
                     const Context& context) {
  const Table& learned = run.contents().labels;
  const RunConfig& config = run.config();
  DataFlags flags;
  flags.id = id.empty() ? config.id : id;
  flags.drop = config.drop;
  flags.truth = config.truth;
  flags.labels_file = labels_file;
  if (labels_file.empty()) flags.labels = config.labels;
  if (labels_file.empty() && !config.labels_file.empty())
    for (const Column& column : learned.columns) flags.labels.push_back(column.name);
  flags.labels_may_be_absent = true;  // what is missing is said below
  flags.as_in_a_fit = flags.id_may_be_absent = true;
  Context silent = context;
  silent.quiet = true;
  const Dataset read = flags.read_bytes(bytes, name, silent, true);
  if (read.labels.columns.empty())
    fail(ErrorCode::configuration,
         "{}: the labels are not in the file; name a file that has them with --labels-file", name);
  for (const Column& column : read.labels.columns)
    if (learned.find(column.name) == nullptr)
      context.note(fmt::format("note: {}: the run has no label '{}'; it is left out", name, column.name));
  const bool own = config.labels.empty() && config.labels_file.empty() && labels_file.empty();
  Table result;
  result.row_ids = read.table.row_ids;
  for (const Column& column : learned.columns) {
    const Column* found = read.labels.find(column.name);
    if (found == nullptr && !own && unmentioned == Unmentioned::absent)
      fail(ErrorCode::bad_data, "{}: there is no label '{}', which the run has", name, column.name);
    const double value = unmentioned == Unmentioned::absent ? 0.0 : kMissing;
    result.columns.push_back(
        found != nullptr
            ? *found
            : Column{column.name, Kind::binary, std::vector<double>(read.table.rows(), value), {}});
    if (own)
      std::replace(result.columns.back().values.begin(), result.columns.back().values.end(), 0.0, value);
  }
  return result;
}

/// The labels that are taken as given, and a note of how many there are.
Table given_labels(const SavedRun& run, std::string_view bytes, const std::string& name,
                   const LabelQuestion& question, const Context& context) {
  Table known =
      labels_in_file(run, bytes, name, question.id, question.labels_file, Unmentioned::unknown, context);
  std::size_t cells = 0;
  for (const Column& column : known.columns)
    cells += static_cast<std::size_t>(
        std::count_if(column.values.begin(), column.values.end(), [](double y) { return !is_missing(y); }));
  context.note(fmt::format("{} of {} in {} {} taken as given", counted(cells, "label"),
                           known.rows() * known.columns.size(), counted(known.rows(), "row"),
                           cells == 1 ? "is" : "are"));
  return known;
}

}  // namespace

int predict_labels(const Analysis& analysis, const LabelQuestion& question, const Context& context) {
  const SavedRun& run = analysis.run();
  if (!question.labels_file.empty() && !question.given_labels)
    fail(ErrorCode::usage,
         "--labels-file belongs to --given-labels: it has the known labels of the new rows");
  if (question.data == "-" && question.labels_file == "-")
    fail(ErrorCode::usage, "rows and labels cannot both come from stdin");
  const FileBytes bytes = load_file(question.data);
  const std::string name = question.data == "-" ? "stdin" : question.data;
  const Table table = run.read_new_rows_bytes(bytes.view(), name, question.id);
  Table known;
  if (question.given_labels) known = given_labels(run, bytes.view(), name, question, context);
  const std::vector<LabelPrediction> predictions =
      coppice::predict_labels(run, table, question.threads, question.given_labels ? &known : nullptr);
  const auto is_known = [&](std::size_t row, std::size_t label) {
    return question.given_labels && !is_missing(known.columns[label].values[row]);
  };
  const std::vector<Column>& labels = run.contents().labels.columns;
  if (context.json) {
    ordered_json list = ordered_json::array();
    for (std::size_t row = 0; row < predictions.size(); ++row) {
      const LabelPrediction& p = predictions[row];
      ordered_json chosen = ordered_json::array();
      ordered_json all = ordered_json::object();
      for (std::size_t c = 0; c < labels.size(); ++c) {
        if (p.chosen[c]) chosen.push_back(labels[c].name);
        all[labels[c].name] = {{"probability", p.probabilities[c]}, {"score", p.scores[c]}};
        if (question.given_labels) all[labels[c].name]["known"] = is_known(row, c);
      }
      list.push_back({{"row", table.row_ids[row]},
                      {"labels", chosen},
                      {"by_label", all},
                      {"cluster", first_maximum(p.clusters.data(), p.clusters.size())},
                      {"clusters", p.clusters},
                      {"log_density", p.log_density}});
    }
    write_json(question.output, list);
    return 0;
  }
  std::string text;
  CsvWriter writer(&text);
  writer.protect_texts(context.csv_safe);
  writer.cell("row").cell("labels");
  for (const Column& label : labels) writer.cell("p_" + label.name);
  for (const Column& label : labels) writer.cell("score_" + label.name);
  writer.cell("cluster").cell("cluster_probability").cell("log_density").end_row();
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    const LabelPrediction& p = predictions[row];
    std::string chosen;
    for (std::size_t c = 0; c < labels.size(); ++c)
      if (p.chosen[c]) chosen += (chosen.empty() ? "" : " ") + labels[c].name;
    writer.cell(table.row_ids[row]).cell(chosen);
    for (const double probability : p.probabilities) writer.cell(probability);
    for (const double score : p.scores) writer.cell(score);
    const std::size_t cluster = first_maximum(p.clusters.data(), p.clusters.size());
    writer.cell(static_cast<std::int64_t>(cluster)).cell(p.clusters[cluster]).cell(p.log_density).end_row();
  }
  writer.close();
  write_output(question.output, text);
  return 0;
}

namespace {

/// Predictions of rows that were not learned from, beside what is known of them: of a file, or without one
/// the rows of the run as the fits of the calibration predicted them.
LabeledPredictions judged_rows(const SavedRun& run, const std::string& data, const std::string& labels_file,
                               const Context& context) {
  if (data.empty()) {
    if (!labels_file.empty())
      fail(ErrorCode::usage, "--labels-file belongs to a file of rows: coppice score {} TEST.csv",
           run.file().path());
    const std::vector<LabelPrediction> held_out = held_out_labels(run);
    if (held_out.empty())
      fail(ErrorCode::usage,
           "the run has no predictions of held-out rows; name a file of rows with known labels: coppice "
           "score {} TEST.csv",
           run.file().path());
    context.note(
        "the run's own rows, each predicted by a fit without it; calibration and thresholds were chosen on "
        "them, so other rows may score slightly worse");
    return with_truth(run.contents().labels, held_out);
  }
  if (data == "-" && labels_file == "-")
    fail(ErrorCode::usage, "rows and labels cannot both come from stdin");
  const FileBytes bytes = load_file(data);
  const std::string name = data == "-" ? "stdin" : data;
  const Table truth =
      labels_in_file(run, bytes.view(), name, run.config().id, labels_file, Unmentioned::absent, context);
  const Table table = run.read_new_rows_bytes(bytes.view(), name, "");
  return with_truth(truth, coppice::predict_labels(run, table, 0));
}

}  // namespace

int score_labels(const Analysis& analysis, const std::string& data, const std::string& labels_file,
                 const Context& context) {
  const SavedRun& run = analysis.run();
  const LabeledPredictions all = judged_rows(run, data, labels_file, context);
  if (std::all_of(all.truth.begin(), all.truth.end(), [](double value) { return is_missing(value); }))
    fail(ErrorCode::bad_data, "{}: no label of any row is known", data.empty() ? run.file().path() : data);
  const std::size_t depths[] = {1, 3, 5};
  ordered_json answer{{"model", run.model().name}};
  answer.update(to_json(label_scores(all, depths)));
  if (context.json) {
    write_json("", answer);
    return 0;
  }
  std::string text;
  for (const auto& [name, value] : answer.items())
    text += value.is_number_float()
                ? fmt::format("{:<18}{:>10.4f}\n", name, value.get<double>())
                : fmt::format("{:<18}{:>10}\n", name,
                              value.is_string() ? value.get<std::string>() : value.dump());
  write_text("", text);
  return 0;
}

std::string patterns_text(const SavedRun& run, std::size_t traits, const Context& context) {
  std::string text;
  for (const auto& [cluster, pattern] : used_patterns(run, *classifier_of(run))) {
    text += context.bold(fmt::format("Cluster {}", cluster)) +
            fmt::format(" ({:.1f} % of the rows)\n", 100.0 * pattern.weight);
    std::vector<std::string> words;
    for (const std::size_t c : largest(pattern.labels, traits))
      words.push_back(fmt::format("{} {:.2f}", run.contents().labels.columns[c].name, pattern.labels[c]));
    text += fmt::format("  labels: {}\n", fmt::join(words, ", "));
    words.clear();
    for (const std::size_t d : largest(distinctiveness(pattern, run.table()), traits))
      words.push_back(fmt::format("{} {}", run.table().columns[d].name, short_number(pattern.features[d])));
    text += context.dim(fmt::format("  features: {}\n", fmt::join(words, ", ")));
  }
  return text;
}

ordered_json patterns_json(const SavedRun& run, std::size_t traits) {
  ordered_json list = ordered_json::array();
  for (const auto& [cluster, pattern] : used_patterns(run, *classifier_of(run))) {
    ordered_json labels = ordered_json::array();
    for (const std::size_t c : largest(pattern.labels, traits))
      labels.push_back(
          {{"label", run.contents().labels.columns[c].name}, {"probability", pattern.labels[c]}});
    ordered_json features = ordered_json::array();
    for (const std::size_t d : largest(distinctiveness(pattern, run.table()), traits))
      features.push_back({{"column", run.table().columns[d].name},
                          {"value", pattern.features[d]},
                          {"log_ratio", pattern.log_ratios[d]}});
    list.push_back(
        {{"cluster", cluster}, {"weight", pattern.weight}, {"labels", labels}, {"features", features}});
  }
  return list;
}

}  // namespace coppice::app
