// Answers of runs that learned labels.
#include "coppice/post/label_answers.hpp"
#include "run.hpp"

namespace coppice::python {
namespace {

/// Rows x labels and rows x clusters; NaN in rows without a prediction.
nb::dict arrays_of(const std::vector<LabelPrediction>& rows, std::size_t labels) {
  std::vector<std::int64_t> chosen;
  std::vector<double> probabilities;
  std::vector<double> scores;
  std::vector<double> clusters;
  std::vector<double> densities;
  for (const LabelPrediction& row : rows) {
    const bool is_there = !row.scores.empty();
    for (std::size_t c = 0; c < labels; ++c) {
      chosen.push_back(is_there && row.chosen[c] ? 1 : 0);
      probabilities.push_back(is_there ? row.probabilities[c] : kMissing);
      scores.push_back(is_there ? row.scores[c] : kMissing);
    }
    clusters.insert(clusters.end(), row.clusters.begin(), row.clusters.end());
    densities.push_back(is_there ? row.log_density : kMissing);
  }
  const std::size_t count = rows.size();
  const std::size_t width = count == 0 ? 0 : clusters.size() / count;
  nb::dict answer;
  answer["chosen"] = to_numpy(std::move(chosen), {count, labels});
  answer["probabilities"] = to_numpy(std::move(probabilities), {count, labels});
  answer["scores"] = to_numpy(std::move(scores), {count, labels});
  answer["clusters"] = to_numpy(std::move(clusters), {count, width});
  answer["log_density"] = to_numpy(std::move(densities), {count});
  return answer;
}

/// `given`, which may be null, has all labels of the run in its order.
nb::dict predicted_labels(const Run& run, const Frame& frame, const Frame* given, std::size_t threads) {
  const std::vector<LabelPrediction> rows = run.ask([&](const Analysis& analysis) {
    const Table known = given == nullptr ? Table() : label_table(*given);
    return predict_labels(analysis.run(), new_rows(analysis.run(), frame), threads,
                          given == nullptr ? nullptr : &known);
  });
  return arrays_of(rows, run.analysis().run().contents().labels.columns.size());
}

nb::dict own_rows(const Run& run, std::size_t threads) {
  const std::vector<LabelPrediction> rows = run.ask([&](const Analysis& analysis) {
    return predict_labels(analysis.run(), analysis.run().table(), threads);
  });
  return arrays_of(rows, run.analysis().run().contents().labels.columns.size());
}

/// None if the run keeps none.
nb::object held_out(const Run& run) {
  const std::vector<LabelPrediction> rows =
      run.ask([&](const Analysis& analysis) { return held_out_labels(analysis.run()); });
  if (rows.empty()) return nb::none();
  return arrays_of(rows, run.analysis().run().contents().labels.columns.size());
}

nb::ndarray<nb::numpy, double> thresholds(const Run& run) {
  std::vector<double> values =
      run.ask([&](const Analysis& analysis) { return classifier_of(analysis.run())->thresholds(); });
  const std::size_t count = values.size();
  return to_numpy(std::move(values), {count});
}

nb::list patterns(const Run& run) {
  std::vector<NumberedPattern> used = run.ask([&](const Analysis& analysis) {
    return used_patterns(analysis.run(), *classifier_of(analysis.run()));
  });
  nb::list list;
  for (NumberedPattern& entry : used) {
    nb::dict answer;
    answer["cluster"] = entry.cluster;
    answer["weight"] = entry.pattern.weight;
    for (auto [name, values] :
         {std::pair{"labels", &entry.pattern.labels}, std::pair{"features", &entry.pattern.features},
          std::pair{"log_ratios", &entry.pattern.log_ratios}}) {
      const std::size_t count = values->size();
      answer[name] = to_numpy(std::move(*values), {count});
    }
    list.append(answer);
  }
  return list;
}

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Choices = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The measures of coppice score.
nb::dict scores(const Matrix& truth, const Matrix& scores, const Matrix& probabilities,
                const Choices& chosen) {
  LabeledPredictions all;
  all.labels = truth.shape(1);
  const auto take = [](const Matrix& from) {
    return std::vector<double>(from.data(), from.data() + from.size());
  };
  all.truth = take(truth);
  all.scores = take(scores);
  all.probabilities = take(probabilities);
  for (std::size_t i = 0; i < chosen.size(); ++i) all.chosen.push_back(chosen.data()[i] != 0);
  const std::size_t depths[] = {1, 3, 5};
  const LabelScores answer = label_scores(all, depths);
  nb::dict result;
  result["rows"] = static_cast<double>(answer.rows);
  result["labels"] = static_cast<double>(answer.labels);
  for (const auto& [name, value] : named_measures(answer)) result[name.c_str()] = value;
  return result;
}

/// The labels that were learned from: 0, 1 or NaN, rows x labels.
nb::ndarray<nb::numpy, double> known_labels(const Run& run) {
  const Table& labels = run.analysis().run().contents().labels;
  std::vector<double> values(labels.rows() * labels.columns.size());
  for (std::size_t c = 0; c < labels.columns.size(); ++c)
    for (std::size_t row = 0; row < labels.rows(); ++row)
      values[row * labels.columns.size() + c] = labels.columns[c].values[row];
  return to_numpy(std::move(values), {labels.rows(), labels.columns.size()});
}

}  // namespace

void add_label_answers(nb::module_& module, nb::class_<Run>& run) {
  using nb::arg;
  module.def("label_scores", &scores, arg("truth"), arg("scores"), arg("probabilities"), arg("chosen"),
             "The measures of coppice score: rows x labels each.");
  run.def("predict_labels", &predicted_labels, arg("frame"), arg("given").none(), arg("threads"))
      .def("own_rows", &own_rows, arg("threads"))
      .def("held_out", &held_out)
      .def("thresholds", &thresholds)
      .def("patterns", &patterns)
      .def("known_labels", &known_labels);
}

}  // namespace coppice::python
