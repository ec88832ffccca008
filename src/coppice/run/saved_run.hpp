// A run file opened for questions: its configuration, its data as the model saw them, its traces and draws.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coppice/run/problem_setup.hpp"
#include "coppice/run/run_file.hpp"

namespace coppice {

/// One kept draw of a chain.
struct SavedDraw {
  std::size_t chain = 0;
  std::size_t draw = 0;
  std::span<const Label> labels;  // of all levels, coarsest first
  std::span<const double> traces;
  std::string_view payload;
};

/// A run file, opened for reading.
class SavedRun {
 public:
  explicit SavedRun(const std::string& path);
  /// A run that has no name, or is open already.
  explicit SavedRun(RunFile file);

  const RunFile& file() const { return file_; }
  const RunContents& contents() const { return contents_; }
  const RunConfig& config() const { return contents_.config; }
  const Table& table() const { return contents_.table; }
  const ProblemSetup& setup() const { return *setup_; }
  const ModelEntry& model() const { return *setup_->model; }
  std::size_t rows() const { return contents_.table.rows(); }
  std::size_t levels() const { return setup_->levels; }
  const std::vector<std::string>& trace_names() const { return setup_->traces; }

  /// Draws that every chain has; answers are given on these, so that chains count equally.
  std::size_t draws_per_chain() const { return draws_; }
  /// The longest chain, for the note that a run is incomplete.
  std::size_t longest_chain() const { return longest_; }
  bool complete() const { return complete_; }

  /// values[trace][chain][draw].
  const std::vector<std::vector<std::vector<double>>>& traces() const { return traces_; }

  /// Throws Error{usage} if the model has no such level (1 = coarsest).
  void check_level(std::size_t level) const;

  /// Labels at a level (1 = coarsest) of the draws of all chains, one chain after the other; if there are
  /// more than `most_labels` labels, evenly spaced draws of each chain.
  LabelMatrix labels(std::size_t level, std::size_t most_labels = 400'000'000) const;

  /// Calls visit for evenly spaced draws, at most `most` in all (0: every one).
  void for_each_draw(std::size_t most, const std::function<void(const SavedDraw&)>& visit) const;

  /// New rows in the units the model works in: read like the data, transformed like the data. Without an id
  /// the column of row names is that of the fit, if the file has it.
  Table read_new_rows(const std::string& path, const std::string& id) const;
  /// The same from memory; the name decides the format and appears in messages.
  Table read_new_rows_bytes(std::string_view bytes, const std::string& name, const std::string& id) const;

 private:
  RunFile file_;
  RunContents contents_;
  std::unique_ptr<ProblemSetup> setup_;
  std::size_t draws_ = 0, longest_ = 0;
  bool complete_ = false;
  std::vector<std::vector<std::vector<double>>> traces_;
};

}  // namespace coppice
