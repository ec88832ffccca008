#include "coppice/app/classify.hpp"

#include <algorithm>
#include <numeric>

#include "coppice/app/arguments.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/out/csv.hpp"
#include "coppice/post/label_scores.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

std::unique_ptr<Classifier> classifier_of(const SavedRun& run) {
  std::unique_ptr<Classifier> classifier;
  run.for_each_draw(1, [&](const SavedDraw& draw) {
    classifier = run.model().make_classifier(run.setup().problem, draw.details);
  });
  return classifier;
}

std::vector<LabelPrediction> predict_all(const SavedRun& run, const Table& table, std::size_t threads) {
  const std::unique_ptr<Classifier> classifier = classifier_of(run);
  const SparseRows rows = sparse_rows(table);
  std::vector<LabelPrediction> predictions(rows.rows());
  parallel_for(rows.rows(), threads,
               [&](std::size_t row) { predictions[row] = classifier->predict(rows, row); });
  return predictions;
}

std::size_t likeliest(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

/// The labels of the run in the rows of a file, in the order of the run; nobody mentions an absent one in a
/// sparse file.
Table known_labels(const SavedRun& run, const std::string& data, const std::string& labels_file,
                   const Context& context) {
  const Table& learned = run.contents().labels;
  const RunConfig& config = run.config();
  DataFlags flags;
  flags.id = config.id;
  flags.drop = config.drop;
  flags.truth = config.truth;
  flags.labels_file = labels_file;
  if (labels_file.empty()) flags.labels = config.labels;
  Context silent = context;
  silent.quiet = true;
  const Dataset read = flags.read(data, silent, true);
  if (read.labels.columns.empty())
    fail(ErrorCode::configuration, "{}: its labels are not in the file; name theirs with --labels-file",
         data);
  const bool own = config.labels.empty() && config.labels_file.empty() && labels_file.empty();
  Table result;
  result.row_ids = read.table.row_ids;
  for (const Column& column : learned.columns) {
    const Column* found = read.labels.find(column.name);
    if (found == nullptr && !own)
      fail(ErrorCode::bad_data, "{}: there is no label '{}', which the run has", data, column.name);
    result.columns.push_back(
        found != nullptr
            ? *found
            : Column{column.name, Kind::binary, std::vector<double>(read.table.rows(), 0.0), {}});
  }
  return result;
}

/// Indices of the largest values, largest first.
std::vector<std::size_t> top(const std::vector<double>& values, std::size_t count) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto larger = [&](std::size_t a, std::size_t b) { return values[a] > values[b]; };
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), larger);
  order.resize(count);
  return order;
}

/// What a feature says of a cluster: how much of it there is times how unusual that is.
std::vector<double> telling(const LabelPattern& pattern, bool is_real) {
  std::vector<double> values(pattern.lifts.size());
  for (std::size_t d = 0; d < values.size(); ++d)
    values[d] = is_real ? std::abs(pattern.lifts[d]) : pattern.features[d] * pattern.lifts[d];
  return values;
}

bool has_reals(const SavedRun& run) {
  return std::any_of(run.table().columns.begin(), run.table().columns.end(),
                     [](const Column& column) { return column.kind == Kind::real; });
}

std::vector<LabelPattern> used_patterns(const SavedRun& run) {
  std::vector<LabelPattern> patterns = classifier_of(run)->patterns();
  const double least = 0.5 / static_cast<double>(run.rows());
  std::erase_if(patterns, [&](const LabelPattern& pattern) { return pattern.weight < least; });
  std::stable_sort(patterns.begin(), patterns.end(),
                   [](const LabelPattern& a, const LabelPattern& b) { return a.weight > b.weight; });
  return patterns;
}

}  // namespace

void refuse_classifier(const Analysis& analysis, std::string_view what) {
  if (!analysis.is_classifier()) return;
  fail(ErrorCode::configuration,
       "{} learned labels, once, and has no {}; ask it with coppice predict, score, profile or summary",
       analysis.run().model().name, what);
}

int predict_labels(const Analysis& analysis, const std::string& data, const std::string& id,
                   const std::string& output, std::size_t threads, const Context& context) {
  const SavedRun& run = analysis.run();
  const Table table = run.read_new_rows(data, id);
  const std::vector<LabelPrediction> predictions = predict_all(run, table, threads);
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
      }
      list.push_back({{"row", table.row_ids[row]},
                      {"labels", chosen},
                      {"by_label", all},
                      {"cluster", likeliest(p.clusters)},
                      {"clusters", p.clusters},
                      {"log_density", p.log_density}});
    }
    write_json(output, list);
    return 0;
  }
  std::string text;
  CsvWriter writer(&text);
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
    const std::size_t cluster = likeliest(p.clusters);
    writer.cell(static_cast<std::int64_t>(cluster)).cell(p.clusters[cluster]).cell(p.log_density).end_row();
  }
  writer.close();
  write_output(output, text);
  return 0;
}

int score_labels(const Analysis& analysis, const std::string& data, const std::string& labels_file,
                 const Context& context) {
  const SavedRun& run = analysis.run();
  if (data.empty())
    fail(ErrorCode::usage, "name a file of rows with known labels: coppice score {} TEST.csv",
         run.file().path());
  const Table truth = known_labels(run, data, labels_file, context);
  const Table table = run.read_new_rows(data, run.config().id);
  const std::vector<LabelPrediction> predictions = predict_all(run, table, 0);
  LabelledPredictions all;
  all.labels = truth.columns.size();
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    const LabelPrediction& p = predictions[row];
    for (const Column& column : truth.columns) all.truth.push_back(column.values[row]);
    all.scores.insert(all.scores.end(), p.scores.begin(), p.scores.end());
    all.probabilities.insert(all.probabilities.end(), p.probabilities.begin(), p.probabilities.end());
    all.chosen.insert(all.chosen.end(), p.chosen.begin(), p.chosen.end());
  }
  if (std::all_of(all.truth.begin(), all.truth.end(), [](double value) { return is_missing(value); }))
    fail(ErrorCode::bad_data, "{}: no label of any row is known", data);
  const std::size_t depths[] = {1, 3, 5};
  const LabelScores scores = label_scores(all, depths);
  ordered_json answer{{"model", run.model().name},
                      {"rows", scores.rows},
                      {"labels", scores.labels},
                      {"micro_f1", scores.micro_f1},
                      {"macro_f1", scores.macro_f1},
                      {"example_f1", scores.example_f1},
                      {"example_jaccard", scores.example_jaccard},
                      {"hamming_loss", scores.hamming_loss},
                      {"subset_accuracy", scores.subset_accuracy},
                      {"ranking_loss", scores.ranking_loss},
                      {"lrap", scores.lrap},
                      {"coverage", scores.coverage},
                      {"log_loss", scores.log_loss}};
  for (const auto& [k, value] : scores.precision_at) answer[fmt::format("precision_at_{}", k)] = value;
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
  write_output("", text);
  return 0;
}

std::string patterns_text(const SavedRun& run, std::size_t traits, const Context& context) {
  std::string text;
  std::size_t number = 0;
  const bool is_real = has_reals(run);
  for (const LabelPattern& pattern : used_patterns(run)) {
    text += context.bold(fmt::format("Cluster {}", number++)) +
            fmt::format(" ({:.1f} % of the rows)\n", 100.0 * pattern.weight);
    std::vector<std::string> words;
    for (const std::size_t c : top(pattern.labels, traits))
      words.push_back(fmt::format("{} {:.2f}", run.contents().labels.columns[c].name, pattern.labels[c]));
    text += fmt::format("  labels: {}\n", fmt::join(words, ", "));
    words.clear();
    for (const std::size_t d : top(telling(pattern, is_real), traits))
      words.push_back(fmt::format("{} {}", run.table().columns[d].name, short_number(pattern.features[d])));
    text += context.dim(fmt::format("  features: {}\n", fmt::join(words, ", ")));
  }
  return text;
}

ordered_json patterns_json(const SavedRun& run, std::size_t traits) {
  ordered_json list = ordered_json::array();
  const bool is_real = has_reals(run);
  for (const LabelPattern& pattern : used_patterns(run)) {
    ordered_json labels = ordered_json::array();
    for (const std::size_t c : top(pattern.labels, traits))
      labels.push_back(
          {{"label", run.contents().labels.columns[c].name}, {"probability", pattern.labels[c]}});
    ordered_json features = ordered_json::array();
    for (const std::size_t d : top(telling(pattern, is_real), traits))
      features.push_back({{"column", run.table().columns[d].name},
                          {"value", pattern.features[d]},
                          {"lift", pattern.lifts[d]}});
    list.push_back({{"weight", pattern.weight}, {"labels", labels}, {"features", features}});
  }
  return list;
}

}  // namespace coppice::app
