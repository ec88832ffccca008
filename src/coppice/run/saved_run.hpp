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
  std::size_t chain = 0;           // counts from 0
  std::size_t draw = 0;            // within its chain, counts from 0
  std::span<const Label> labels;   // of all levels, coarsest first
  std::span<const double> traces;  // in the order of SavedRun::trace_names
  std::string_view payload;        // what the model's predictor needs besides labels and traces
};

/// A run file, opened for reading.
class SavedRun {
 public:
  /// Opens a run file. Throws Error{cannot_read, bad_data}.
  explicit SavedRun(const std::string& path);
  /// A run that has no file name, or is already open.
  explicit SavedRun(RunFile file);

  /// The file itself.
  const RunFile& file() const { return file_; }
  /// Configuration, data and labels as stored.
  const RunContents& contents() const { return contents_; }
  /// The settings of the run.
  const RunConfig& config() const { return contents_.config; }
  /// The data as modeled.
  const Table& table() const { return contents_.table; }
  /// Model, family and encoded rows.
  const ProblemSetup& setup() const { return *setup_; }
  /// The model of the run.
  const ModelEntry& model() const { return *setup_->model; }
  /// Number of rows.
  std::size_t rows() const { return contents_.table.rows(); }
  /// Number of nested levels of clusters.
  std::size_t levels() const { return setup_->levels; }
  /// Names of the traces, in the order in which draws store them.
  const std::vector<std::string>& trace_names() const { return setup_->traces; }

  /// The number of draws that every chain has; answers use only these, so that chains count equally.
  std::size_t draws_per_chain() const { return draws_; }
  /// The number of draws of the longest chain, for the note that a run is incomplete.
  std::size_t longest_chain() const { return longest_; }
  /// Whether every chain has all its draws.
  bool complete() const { return complete_; }

  /// All trace values: values[trace][chain][draw].
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
