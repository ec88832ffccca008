// What models reached in the folds of a crossvalidation, as text, JSON and CSV: the same for cells and
// labels.
#pragma once

#include <string>
#include <vector>

#include "coppice/app/context.hpp"

namespace coppice::app {

struct FoldFigure {
  const char* key;
  const char* heading;
};

/// One model: for each complete fold how much was held out, and its figures in the order of the table's.
struct FoldScores {
  struct Fold {
    std::size_t held_out = 0;
    std::vector<double> figures;  // NaN where a fold has nothing of the kind
  };
  std::string name;
  std::vector<Fold> folds = {};
};

class FoldTable {
 public:
  /// `unit` is what is held out: "cells" or "rows".
  FoldTable(std::vector<FoldFigure> figures, std::string unit)
      : figures_(std::move(figures)), unit_(std::move(unit)) {}

  void enter(const std::string& name) { scores_.push_back({name}); }
  std::size_t models() const { return scores_.size(); }
  /// A fold is complete with one entry for each model, in the order in which they entered.
  void add_fold(std::vector<FoldScores::Fold> results);

  /// Writes the folds to `output` if it is named, and the table or JSON to stdout. `asked` folds of `dealt`
  /// were wanted; the exit code is 75 if some are missing.
  int finish(const std::string& output, std::size_t asked, std::size_t dealt, const Context& context) const;

 private:
  std::size_t complete() const { return scores_.front().folds.size(); }
  std::string text(const Context& context) const;
  nlohmann::ordered_json json() const;
  std::string csv() const;

  std::vector<FoldFigure> figures_;
  std::string unit_;
  std::vector<FoldScores> scores_;
};

}  // namespace coppice::app
