// How well predicted labels agree with known ones, by the measures that multi-label classification is judged
// by. Cells whose truth is not known are left out of every measure.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace coppice {

/// Rows x labels, row by row.
struct LabelledPredictions {
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

LabelScores label_scores(const LabelledPredictions& predictions, std::span<const std::size_t> precision_at);

}  // namespace coppice
