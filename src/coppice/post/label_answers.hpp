// What a run that learned labels says of rows and of its clusters: one place for the command line, the report
// and Python.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coppice/post/label_scores.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

/// Throws Error{configuration} for a run that learned no labels.
std::unique_ptr<Classifier> classifier_of(const SavedRun& run);

/// New rows as SavedRun::read_new_rows gives them. `known`, which may be null, has the labels of the run in
/// its order, for the same rows: those that are not missing are taken as given.
std::vector<LabelPrediction> predict_labels(const SavedRun& run, const Table& rows, std::size_t threads,
                                            const Table* known = nullptr);

/// The rows of the run, each as predicted by a fit that had not seen it; rows that have no such prediction
/// have no scores. Empty if the run keeps none: it was not calibrated, is not finished, or took in rows.
std::vector<LabelPrediction> held_out_labels(const SavedRun& run);

/// Predictions beside the truth, for scores; rows without a prediction are left out.
LabeledPredictions with_truth(const Table& truth, std::span<const LabelPrediction> predictions);

/// A cluster that has rows, under the number that predictions give it.
struct NumberedPattern {
  std::size_t cluster = 0;
  LabelPattern pattern;
};

/// Clusters that have rows, largest first.
std::vector<NumberedPattern> used_patterns(const SavedRun& run, const Classifier& classifier);

/// Indices of the largest values, largest first.
std::vector<std::size_t> largest(std::span<const double> values, std::size_t count);

/// How distinctive each feature is for a cluster: how much of it there is times how unusual that is.
std::vector<double> distinctiveness(const LabelPattern& pattern, const Table& table);

}  // namespace coppice
