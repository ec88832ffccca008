#include "coppice/post/crossvalidate_labels.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/post/label_scores.hpp"

namespace coppice {
namespace {

using Clock = std::chrono::steady_clock;

const std::vector<FoldFigure> kLabelFigures{{"micro_f1", "micro F1"},     {"macro_f1", "macro F1"},
                                            {"example_f1", "example F1"}, {"hamming_loss", "Hamming"},
                                            {"ranking_loss", "ranking"},  {"log_loss", "log loss"},
                                            {"fit_seconds", "fit, s"}};

/// Nothing if it was stopped.
std::unique_ptr<Classifier> fitted(const Contender& contender, const LabeledRows& rows, std::uint64_t seed,
                                   std::size_t threads, const std::atomic<bool>* stop) {
  if (contender.baseline != nullptr) {
    try {
      return contender.baseline->fit(rows, seed, threads, stop);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::stopped) return nullptr;
      throw;
    }
  }
  Problem problem;
  problem.parameters = ParameterValues(contender.model->parameters, contender.parameters);
  problem.labeled = &rows;
  const std::unique_ptr<Inference> inference = contender.model->make_inference(problem);
  inference->use_threads(threads);
  inference->init({seed, 0, 0});
  for (std::size_t step = 1; !inference->finished(); ++step) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return nullptr;
    inference->step({seed, 0, step});
  }
  return contender.model->make_classifier(problem, inference->payload());
}

LabelScores scores_of(const Classifier& classifier, const LabeledRows& rows, std::size_t threads) {
  std::vector<LabelPrediction> predictions(rows.features.rows());
  parallel_for(predictions.size(), threads,
               [&](std::size_t row) { predictions[row] = classifier.predict(rows.features, row); });
  LabeledPredictions all;
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

}  // namespace

Crossvalidation crossvalidate_labels(const CrossvalidationRequest& request) {
  for (const Contender& contender : request.contenders)
    if (contender.model != nullptr) contender.model->check_given(contender.parameters);
  const std::uint64_t seed = ParameterValues(run_parameters(), request.run_length).integer("seed");
  if (request.data.labels.columns.empty())
    fail(ErrorCode::configuration, "name the labels: --labels COL,COL or --labels-file FILE");
  const LabeledRows all = labeled_rows(request.data.table, request.data.labels);
  const std::size_t rows = all.features.rows();
  const std::size_t folds = request.folds;
  if (folds < 2) fail(ErrorCode::usage, "--folds {}: there must be at least two", folds);
  if (folds > rows) fail(ErrorCode::usage, "--folds {}: there are only {} rows", folds, rows);
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0u);
  Stream stream({seed, 0, 0}, Purpose::hold_out, 1);
  shuffle(stream, order);
  Crossvalidation answer{kLabelFigures, "rows", folds, folds, {}};
  if (request.most_folds != 0) answer.folds_wanted = std::min(request.most_folds, folds);
  for (const Contender& contender : request.contenders) answer.models.push_back({contender.name});
  for (std::size_t fold = 0; fold < answer.folds_wanted; ++fold) {
    std::vector<std::uint32_t> kept;
    std::vector<std::uint32_t> held_out;
    for (std::size_t i = 0; i < rows; ++i) (i % folds == fold ? held_out : kept).push_back(order[i]);
    std::sort(kept.begin(), kept.end());
    std::sort(held_out.begin(), held_out.end());
    const LabeledRows train = some_rows(all, kept);
    const LabeledRows test = some_rows(all, held_out);
    std::vector<FoldScores::Fold> results;
    for (const Contender& contender : request.contenders) {
      const Clock::time_point begin = Clock::now();
      const std::unique_ptr<Classifier> classifier =
          fitted(contender, train, seed, request.threads, request.stop);
      if (classifier == nullptr) return answer;
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      const LabelScores scores = scores_of(*classifier, test, request.threads);
      results.push_back({scores.rows,
                         {scores.micro_f1, scores.macro_f1, scores.example_f1, scores.hamming_loss,
                          scores.ranking_loss, scores.log_loss, seconds}});
      if (request.on_result) request.on_result(answer, {fold, contender.name, results.back()});
    }
    answer.add_fold(std::move(results));
  }
  return answer;
}

}  // namespace coppice
