// What models reached in the folds of a crossvalidation: figures by fold, and their means with standard
// errors.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/data/table.hpp"

namespace coppice {

/// A figure by its key (JSON, CSV, Python) and its heading in a printed table.
struct FoldFigure {
  const char* key;
  const char* heading;
};

/// One model: for each complete fold how much was held out, and its figures in the order of the
/// crossvalidation's.
struct FoldScores {
  struct Fold {
    std::size_t held_out = 0;
    std::vector<double> figures;  // NaN where a fold has nothing of the kind
  };
  std::string name;
  std::vector<Fold> folds = {};
};

struct MeanAndError {
  double mean = kMissing;
  double error = kMissing;  // of one fold: NaN
};
/// Over the folds that have the figure.
MeanAndError mean_over_folds(const FoldScores& scores, std::size_t figure);
/// In how many folds the figure is infinite.
std::size_t infinite_folds(const FoldScores& scores, std::size_t figure);

struct Crossvalidation {
  std::vector<FoldFigure> figures;  // the first is the one to compare by
  std::string unit;                 // what is held out: "cells" or "rows"
  std::size_t folds_dealt = 0;      // parts that the data were dealt into
  std::size_t folds_wanted = 0;     // of them were to be used
  std::vector<FoldScores> models;   // all with the same folds

  std::size_t folds_complete() const { return models.empty() ? 0 : models.front().folds.size(); }
  /// The place of a figure.
  std::size_t figure(std::string_view key) const;
  /// A fold is complete with one entry for each model, in their order.
  void add_fold(std::vector<FoldScores::Fold> results);
};

}  // namespace coppice
