#include "coppice/app/crossvalidate_labels.hpp"

#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "coppice/app/interrupt.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/app/text_table.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/model/bnmc/baselines.hpp"
#include "coppice/out/csv.hpp"
#include "coppice/post/label_scores.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

std::optional<bnmc::Baseline> baseline_of(std::string_view name) {
  if (name == "ovr") return bnmc::Baseline::one_vs_rest;
  if (name == "chain") return bnmc::Baseline::chains;
  if (name == "rates") return bnmc::Baseline::base_rates;
  return std::nullopt;
}

struct FoldScores {
  LabelScores labels;
  double fit_seconds = 0.0;
};

struct Figure {
  const char* key;
  const char* heading;
  double (*of)(const FoldScores&);
};

const Figure kFigures[] = {
    {"micro_f1", "micro F1", [](const FoldScores& s) { return s.labels.micro_f1; }},
    {"macro_f1", "macro F1", [](const FoldScores& s) { return s.labels.macro_f1; }},
    {"example_f1", "example F1", [](const FoldScores& s) { return s.labels.example_f1; }},
    {"hamming_loss", "Hamming", [](const FoldScores& s) { return s.labels.hamming_loss; }},
    {"ranking_loss", "ranking", [](const FoldScores& s) { return s.labels.ranking_loss; }},
    {"log_loss", "log loss", [](const FoldScores& s) { return s.labels.log_loss; }},
    {"fit_seconds", "fit, s", [](const FoldScores& s) { return s.fit_seconds; }},
};

/// Nothing if it was stopped.
std::unique_ptr<Classifier> fitted(const LabelContender& contender, const LabelledRows& rows,
                                   const LabelFolds& options, const std::atomic<bool>* stop) {
  if (contender.model == nullptr)
    return bnmc::fit_baseline(*baseline_of(contender.name), rows, options.seed, options.threads);
  Problem problem;
  problem.parameters = ParameterValues(contender.model->parameters, contender.parameters);
  problem.labelled = &rows;
  const std::unique_ptr<Sampler> sampler = contender.model->make_sampler(problem);
  sampler->use_threads(options.threads);
  sampler->init({options.seed, 0, 0});
  for (std::size_t step = 1; !sampler->finished(); ++step) {
    if (stop->load(std::memory_order_relaxed)) return nullptr;
    sampler->step({options.seed, 0, step});
  }
  return contender.model->make_classifier(problem, sampler->details());
}

LabelScores scores_of(const Classifier& classifier, const LabelledRows& rows, std::size_t threads) {
  std::vector<LabelPrediction> predictions(rows.features.rows());
  parallel_for(predictions.size(), threads,
               [&](std::size_t row) { predictions[row] = classifier.predict(rows.features, row); });
  LabelledPredictions all;
  all.labels = rows.labels.columns;
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    const LabelPrediction& p = predictions[row];
    std::vector<double> truth(all.labels, 0.0);
    for (std::size_t i = 0; i < rows.labels.columns_of(row).size(); ++i)
      truth[rows.labels.columns_of(row)[i]] = rows.labels.values_of(row)[i];
    all.truth.insert(all.truth.end(), truth.begin(), truth.end());
    all.scores.insert(all.scores.end(), p.scores.begin(), p.scores.end());
    all.probabilities.insert(all.probabilities.end(), p.probabilities.begin(), p.probabilities.end());
    all.chosen.insert(all.chosen.end(), p.chosen.begin(), p.chosen.end());
  }
  const std::size_t depths[] = {1};
  return label_scores(all, depths);
}

struct Standing {
  std::string name;
  std::vector<FoldScores> folds;

  /// Mean over the folds and its standard error, NaN for one fold.
  std::pair<double, double> over_folds(const Figure& figure) const {
    const auto count = static_cast<double>(folds.size());
    double sum = 0.0;
    double squares = 0.0;
    for (const FoldScores& fold : folds) sum += figure.of(fold);
    const double mean = sum / count;
    for (const FoldScores& fold : folds) squares += (figure.of(fold) - mean) * (figure.of(fold) - mean);
    return {mean, folds.size() > 1 ? std::sqrt(squares / (count - 1.0) / count) : kMissing};
  }
};

std::string text_of(std::span<const Standing> standings, const Context& context) {
  TextTable table(std::vector<std::size_t>(std::size(kFigures) + 1, 8));
  std::vector<std::string> heading{"model"};
  for (const Figure& figure : kFigures) heading.emplace_back(figure.heading);
  table.add(heading);
  for (const Standing& standing : standings) {
    std::vector<std::string> cells{standing.name};
    for (const Figure& figure : kFigures) {
      const auto [mean, error] = standing.over_folds(figure);
      cells.push_back(std::isfinite(error) ? fmt::format("{:.3f} +- {:.3f}", mean, error)
                                           : fmt::format("{:.3f}", mean));
    }
    table.add(cells);
  }
  return table.text(context);
}

ordered_json json_of(std::span<const Standing> standings) {
  ordered_json list = ordered_json::array();
  for (const Standing& standing : standings) {
    ordered_json entry{{"model", standing.name}};
    for (const Figure& figure : kFigures) {
      const auto [mean, error] = standing.over_folds(figure);
      ordered_json values = ordered_json::array();
      for (const FoldScores& fold : standing.folds) values.push_back(figure.of(fold));
      entry[figure.key] = {{"mean", mean}, {"standard_error", error}, {"folds", values}};
    }
    list.push_back(entry);
  }
  return {{"folds", standings.front().folds.size()}, {"models", list}};
}

std::string csv_of(std::span<const Standing> standings) {
  std::string text;
  CsvWriter writer(&text);
  writer.cell("model").cell("fold").cell("rows");
  for (const Figure& figure : kFigures) writer.cell(figure.key);
  writer.end_row();
  for (const Standing& standing : standings)
    for (std::size_t fold = 0; fold < standing.folds.size(); ++fold) {
      writer.cell(standing.name).cell(fold + 1).cell(standing.folds[fold].labels.rows);
      for (const Figure& figure : kFigures) writer.cell(figure.of(standing.folds[fold]));
      writer.end_row();
    }
  writer.close();
  return text;
}

}  // namespace

bool is_label_baseline(std::string_view name) { return baseline_of(name).has_value(); }

int crossvalidate_labels(const Dataset& data, std::span<const LabelContender> contenders,
                         const LabelFolds& options, const Context& context) {
  const LabelledRows all = labelled_rows(data.table, data.labels);
  const std::size_t rows = all.features.rows();
  if (options.folds > rows) fail(ErrorCode::usage, "--folds {}: there are only {} rows", options.folds, rows);
  const std::size_t folds = options.folds;
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0u);
  Stream stream({options.seed, 0, 0}, Purpose::hold_out, 1);
  shuffle(stream, order);
  const std::size_t wanted = options.most_folds == 0 ? folds : std::min(options.most_folds, folds);
  const InterruptGuard guard;
  std::vector<Standing> standings;
  for (const LabelContender& contender : contenders) standings.push_back({contender.name, {}});
  std::size_t complete = 0;
  for (; complete < wanted; ++complete) {
    std::vector<std::uint32_t> kept;
    std::vector<std::uint32_t> held_out;
    for (std::size_t i = 0; i < rows; ++i) (i % folds == complete ? held_out : kept).push_back(order[i]);
    std::sort(kept.begin(), kept.end());
    std::sort(held_out.begin(), held_out.end());
    const LabelledRows train = some_rows(all, kept);
    const LabelledRows test = some_rows(all, held_out);
    std::vector<FoldScores> results;
    for (const LabelContender& contender : contenders) {
      const Clock::time_point begin = Clock::now();
      const std::unique_ptr<Classifier> classifier = fitted(contender, train, options, guard.flag());
      if (classifier == nullptr) break;
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      results.push_back({scores_of(*classifier, test, options.threads), seconds});
      context.note(fmt::format("fold {} of {}, {}: micro F1 {:.4f} over {} rows, fitted in {}", complete + 1,
                               wanted, contender.name, results.back().labels.micro_f1, held_out.size(),
                               duration_words(seconds)));
    }
    if (results.size() != standings.size()) break;
    for (std::size_t place = 0; place < results.size(); ++place)
      standings[place].folds.push_back(results[place]);
  }
  if (complete == 0) {
    context.note("stopped before a fold was complete");
    return static_cast<int>(ErrorCode::stopped);
  }
  if (!options.output.empty()) write_output(options.output, csv_of(standings));
  if (context.json)
    write_json("", json_of(standings));
  else
    write_output("", text_of(standings, context) +
                         fmt::format("\nMeans over {} of {} folds +- their standard errors; the rows of a "
                                     "fold are the same for all models.\n",
                                     complete, folds));
  if (complete == wanted) return 0;
  context.note(fmt::format("stopped after {} of {} folds", complete, wanted));
  return static_cast<int>(ErrorCode::stopped);
}

}  // namespace coppice::app
