// The draws of a run file with their labels, whether the run is under way or has ended. Draws that are kept
// as parameters are turned into labels where they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "coppice/model/parameter_draws.hpp"
#include "coppice/run/problem_setup.hpp"
#include "coppice/run/run_file.hpp"

namespace coppice {

/// One kept draw of a chain.
struct SavedDraw {
  std::size_t chain = 0;           // counts from 0
  std::size_t draw = 0;            // within its chain, counts from 0
  std::span<const Label> labels;   // of all levels, coarsest first
  std::span<const double> traces;  // in the order of ProblemSetup::traces
  std::string_view payload;        // what the model's predictor needs besides labels and traces
};

/// Rows of a table that answers are about, if these are not all of its rows.
struct RowSample {
  std::vector<std::uint64_t> numbers;  // in the table, ascending; none: all rows
  Rows rows;                           // their cells
  std::size_t all_rows = 0;            // of the table

  bool is_all() const { return numbers.empty(); }
};

/// The rows that answers are about in a run whose draws are kept as parameters (--answer-rows).
RowSample answer_sample(const RunFile& file, const ProblemSetup& setup);

class StoredDraws {
 public:
  /// Draws from number `first` on that every chain has, which then count from 0; labels of the rows of the
  /// sample. All three must outlive it.
  StoredDraws(const RunFile& file, const ProblemSetup& setup, const RowSample& sample, std::size_t first = 0);

  const ProblemSetup& setup() const { return *setup_; }
  std::size_t chains() const { return chains_; }
  std::size_t draws_per_chain() const { return draws_; }
  std::size_t rows() const { return rows_; }
  std::size_t levels() const { return setup_->levels; }

  /// Calls visit for evenly spaced draws, at most `most` in all (0: every one).
  void for_each(std::size_t most, const std::function<void(const SavedDraw&)>& visit) const;
  /// Calls visit for the draws of a chain that are wanted. Throws Error{bad_data} if labels do not fit.
  void visit(std::size_t chain, const std::function<bool(std::size_t draw)>& is_wanted,
             const std::function<void(const SavedDraw&)>& visit) const;
  /// Makes labels from parameters. Throws Error{bad_data} if the model does not.
  ParameterDraws& maker() const;

 private:
  const RunFile* file_;
  const ProblemSetup* setup_;
  const RowSample* sample_;
  std::size_t first_, rows_, chains_, draws_;
  mutable std::unique_ptr<Inference> maker_;  // of labels from parameters
};

}  // namespace coppice
