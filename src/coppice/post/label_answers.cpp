#include "coppice/post/label_answers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"

namespace coppice {

std::unique_ptr<Classifier> classifier_of(const SavedRun& run) {
  if (!run.model().learns_labels())
    fail(ErrorCode::configuration, "the model {} learns no labels", run.model().name);
  std::unique_ptr<Classifier> classifier;
  run.for_each_draw(1, [&](const SavedDraw& draw) {
    classifier = run.model().make_classifier(run.setup().problem, draw.payload);
  });
  return classifier;
}

std::vector<LabelPrediction> predict_labels(const SavedRun& run, const Table& table, std::size_t threads,
                                            const Table* known) {
  const std::unique_ptr<Classifier> classifier = classifier_of(run);
  const SparseRows rows = sparse_rows(table);
  const SparseRows labels = known == nullptr ? SparseRows() : sparse_rows(*known);
  std::vector<LabelPrediction> predictions(rows.rows());
  parallel_for(rows.rows(), threads, [&](std::size_t row) {
    predictions[row] =
        known == nullptr ? classifier->predict(rows, row) : classifier->predict_given(rows, labels, row);
  });
  return predictions;
}

std::vector<LabelPrediction> held_out_labels(const SavedRun& run) {
  const auto checkpoint = run.file().checkpoint(0);
  if (!run.complete() || !checkpoint) return {};
  const std::unique_ptr<Inference> inference = run.model().make_inference(run.setup().problem);
  inference->load(checkpoint->state);
  return inference->held_out_predictions();
}

LabeledPredictions with_truth(const Table& truth, std::span<const LabelPrediction> predictions) {
  LabeledPredictions all;
  all.labels = truth.columns.size();
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    const LabelPrediction& p = predictions[row];
    if (p.scores.empty()) continue;
    for (const Column& column : truth.columns) all.truth.push_back(column.values[row]);
    all.scores.insert(all.scores.end(), p.scores.begin(), p.scores.end());
    all.probabilities.insert(all.probabilities.end(), p.probabilities.begin(), p.probabilities.end());
    all.chosen.insert(all.chosen.end(), p.chosen.begin(), p.chosen.end());
  }
  return all;
}

std::vector<NumberedPattern> used_patterns(const SavedRun& run, const Classifier& classifier) {
  const double least = 0.5 / static_cast<double>(run.rows());
  std::vector<NumberedPattern> used;
  std::vector<LabelPattern> patterns = classifier.patterns();
  for (std::size_t k = 0; k < patterns.size(); ++k)
    if (patterns[k].weight >= least) used.push_back({k, std::move(patterns[k])});
  std::stable_sort(used.begin(), used.end(), [](const NumberedPattern& a, const NumberedPattern& b) {
    return a.pattern.weight > b.pattern.weight;
  });
  return used;
}

std::vector<std::size_t> largest(std::span<const double> values, std::size_t count) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto larger = [&](std::size_t a, std::size_t b) { return values[a] > values[b]; };
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), larger);
  order.resize(count);
  return order;
}

std::vector<double> distinctiveness(const LabelPattern& pattern, const Table& table) {
  const bool is_real = std::any_of(table.columns.begin(), table.columns.end(),
                                   [](const Column& column) { return column.kind == Kind::real; });
  std::vector<double> values(pattern.log_ratios.size());
  for (std::size_t d = 0; d < values.size(); ++d)
    values[d] = is_real ? std::abs(pattern.log_ratios[d]) : pattern.features[d] * pattern.log_ratios[d];
  return values;
}

}  // namespace coppice
