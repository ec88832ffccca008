// How well predicted labels agree with known ones, by the measures that multi-label classification is judged
// by. Cells whose truth is not known are left out of every measure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coppice {

/// Rows x labels, row by row.
struct LabeledPredictions {
  std::size_t labels = 0;
  std::vector<double> truth;  // 0, 1 or NaN
  std::vector<double> scores;
  std::vector<double> probabilities;
  std::vector<bool> chosen;

  std::size_t rows() const { return labels == 0 ? 0 : truth.size() / labels; }
};

struct LabelScores {
  std::size_t rows = 0, labels = 0;
  double hamming_loss = 0.0;
  double subset_accuracy = 0.0;  // rows whose labels are all right
  double micro_f1 = 0.0;         // of all cells together
  double macro_f1 = 0.0;         // mean over labels; 0 for one neither true nor chosen
  double example_f1 = 0.0;       // mean over rows; 0 for one with neither
  double example_jaccard = 0.0;
  double ranking_loss = 0.0;  // pairs of a true and a false label in the wrong order; a tie is wrong
  double lrap = 0.0;          // label ranking average precision; 1 for rows with all labels or none
  double coverage = 0.0;      // how far down the ranking all true labels are found
  double log_loss = 0.0;      // of a cell, in nats
  std::vector<std::pair<std::size_t, double>> precision_at = {};  // of the k labels ranked first
};

/// Of the rows whose truth is known for one label.
struct SingleLabelScores {
  double known = 0.0;             // rows
  double positives = 0.0;         // of them have it
  double chosen = 0.0;            // are said to have it
  double hits = 0.0;              // both
  double mean_probability = 0.0;  // of having it
  double log_loss = 0.0;

  double precision() const { return chosen > 0.0 ? hits / chosen : 0.0; }
  double recall() const { return positives > 0.0 ? hits / positives : 0.0; }
  double f1() const { return positives + chosen > 0.0 ? 2.0 * hits / (positives + chosen) : 0.0; }
};

std::vector<SingleLabelScores> scores_by_label(const LabeledPredictions& predictions);

/// Cells whose probability lies in one part of [0, 1]: what was said, and how often it was so.
struct ReliabilityBin {
  double cells = 0.0;
  double mean_probability = 0.0;
  double share_true = 0.0;
};

/// Parts of equal width, of all labels or of one; a part without cells has zeros.
std::vector<ReliabilityBin> reliability(const LabeledPredictions& predictions, std::size_t bins,
                                        std::optional<std::size_t> label = std::nullopt);
/// Mean distance between what was said and how often it was so, over all cells.
double calibration_error(std::span<const ReliabilityBin> bins);

LabelScores label_scores(const LabeledPredictions& predictions, std::span<const std::size_t> precision_at);

/// The measures under the names that every answer gives them: micro_f1, ..., precision_at_3.
std::vector<std::pair<std::string, double>> named_measures(const LabelScores& scores);

}  // namespace coppice
