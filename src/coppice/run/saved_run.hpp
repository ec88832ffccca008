// A run file opened for questions: its configuration, its data as the model saw them, its traces and draws.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coppice/run/problem_setup.hpp"
#include "coppice/run/run_file.hpp"
#include "coppice/run/stored_draws.hpp"

namespace coppice {

/// Which rows of a run are shown. A run whose draws are kept as parameters (--sampler data-parallel) may have
/// too many for answers about pairs of rows: then a random sample, the same for all runs of a table.
enum class ShownRows { all, sample };

/// A run file, opened for reading.
class SavedRun {
 public:
  /// Opens a run file. Throws Error{cannot_read, bad_data}.
  explicit SavedRun(const std::string& path, ShownRows shown = ShownRows::all);
  /// A run that has no file name, or is already open.
  explicit SavedRun(RunFile file, ShownRows shown = ShownRows::all);

  /// The file itself.
  const RunFile& file() const { return *file_; }
  /// Configuration, data and labels as stored.
  const RunContents& contents() const { return contents_; }
  /// The settings of the run; of a run until trusted, the length it has reached.
  const RunConfig& config() const { return contents_.config; }
  /// The data as modeled.
  const Table& table() const { return contents_.table; }
  /// Model, family and encoded rows.
  const ProblemSetup& setup() const { return *setup_; }
  /// The model of the run.
  const ModelEntry& model() const { return *setup_->model; }
  /// Number of rows that are shown: of tables, labels and answers.
  std::size_t rows() const { return contents_.table.rows(); }
  /// Number of rows of the data.
  std::size_t all_rows() const { return sample_->is_all() ? contents_.rows() : sample_->all_rows; }
  /// Whether the run has only a sample of the rows, the others being elsewhere.
  bool is_in_parts() const { return contents_.part.all_rows != 0; }
  /// "Answers are about a random sample of ...", or nothing if all rows are shown.
  std::string sample_note() const;
  /// Number of nested levels of clusters.
  std::size_t levels() const { return setup_->levels; }
  /// Names of the traces, in the order in which draws store them.
  const std::vector<std::string>& trace_names() const { return setup_->traces; }

  /// The number of draws that every chain has; answers use only these, so that chains count equally.
  std::size_t draws_per_chain() const { return draws_; }
  /// The number of draws of the longest chain, for the note that a run is incomplete.
  std::size_t longest_chain() const { return longest_; }
  /// Whether every chain has all its draws; a run until trusted is complete when it has ended, also because
  /// its time was used.
  bool complete() const { return complete_; }

  /// All trace values: values[trace][chain][draw].
  const std::vector<TraceValues>& traces() const { return traces_; }

  /// Throws Error{usage} if the model has no such level (1 = coarsest).
  void check_level(std::size_t level) const;

  /// Labels at a level (1 = coarsest) of the draws of all chains, one chain after the other; if there are
  /// more than `most_labels` labels, evenly spaced draws of each chain.
  LabelMatrix labels(std::size_t level, std::size_t most_labels = 400'000'000) const;

  /// The draws themselves.
  const StoredDraws& draws() const { return *stored_; }
  /// Calls visit for evenly spaced draws, at most `most` in all (0: every one).
  void for_each_draw(std::size_t most, const std::function<void(const SavedDraw&)>& visit) const {
    stored_->for_each(most, visit);
  }
  /// Calls visit for one draw. Throws Error{usage} if there is none.
  void visit_draw(std::size_t chain, std::size_t draw,
                  const std::function<void(const SavedDraw&)>& visit) const;

  /// Of a run in parts: the message to which blocks of rows answer with their labels in this draw.
  std::string label_question(std::size_t chain, std::size_t draw) const;

  /// New rows in the units the model works in: read like the data, transformed like the data. Without an id
  /// the column of row names is that of the fit, if the file has it.
  Table read_new_rows(const std::string& path, const std::string& id) const;
  /// The same from memory; the name decides the format and appears in messages.
  Table read_new_rows_bytes(std::string_view bytes, const std::string& name, const std::string& id) const;

 private:
  void check_draw(std::size_t chain, std::size_t draw) const;
  void show_sample();

  std::unique_ptr<RunFile> file_;
  RunContents contents_;
  std::unique_ptr<ProblemSetup> setup_;
  std::unique_ptr<RowSample> sample_;  // the shown rows
  std::unique_ptr<StoredDraws> stored_;
  std::size_t draws_ = 0, longest_ = 0;
  bool complete_ = false;
  std::vector<TraceValues> traces_;
};

}  // namespace coppice
