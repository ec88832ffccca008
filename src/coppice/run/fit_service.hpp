// The one way to fit a model, for the command line, Python, cross-validation and embedding programs.
// A request says what is wanted; from it comes a Fit, which has been checked, planned and given the settings
// that were left to the model; run() then writes the run and takes its chains to their end.
//
//   FitRequest request;
//   request.model = "nrmm";
//   request.data_path = "animals.csv";
//   request.output = "animals.coppice";
//   const FitEnd end = Fit::begin(std::move(request)).run();
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coppice/data/read.hpp"
#include "coppice/run/fit.hpp"
#include "coppice/run/insert_rows.hpp"
#include "coppice/run/problem_setup.hpp"
#include "coppice/run/run_file.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

/// A new run. Settings are as given: values that were checked one by one, without the defaults.
struct FitRequest {
  std::string model;
  Settings parameters = {};  // of the model
  Settings run_length = {};  // chains, until, warmup, draws, thin, seed
  std::string family = "auto";
  Settings family_settings = {};
  std::string hyper = kLearnedHyper;  // or kFixedHyper
  bool standardize = false;
  std::size_t pca = 0;

  /// The data, or else the file to read them from. `data_path`, `reading` and `labels_file` are kept with the
  /// run in either case: they say how the data were read.
  std::optional<Dataset> data = {};
  std::string data_path = {};
  ReadOptions reading = {};
  std::string labels_file = {};
  std::vector<std::string> notes = {};  // remarks on the data that the run is to keep

  /// Of a table in parts: `data` are the planning_rows() of it, and the engine knows all rows.
  struct Parts {
    std::size_t all_rows = 0;            // of the table
    std::vector<std::uint64_t> numbers;  // of the rows that the run keeps: answer_rows()
    /// These, in the units the model works in, with their names.
    std::function<Table(const RunContents&)> rows;
    std::string source;  // what rows are read from, as JSON
    /// Gets the planned run before the first question is asked.
    std::function<void(const RunContents&)> on_planned;
  };
  std::optional<Parts> parts = {};

  std::string output = {};  // the run file; empty: the run has none and goes with the Fit
  bool overwrite = false;
  FitOptions running = {};
  /// Is notified of a parameter before it is chosen from the data, which may take long.
  std::function<void(const std::string& parameter)> on_choosing = {};
};

/// Throws Error{usage or configuration} for settings that contradict each other or the model; data are not
/// looked at, so that a mistake is found before they are read.
void check_request(const FitRequest& request);

/// How many draws each chain is to have.
struct DrawTarget {
  std::size_t number = 0;
  bool is_additional = false;  // to those the run has; else in all
};
/// "+N" or "N"; throws Error{usage}.
DrawTarget parse_draw_target(std::string_view text);

/// A run that was stopped, or is to be longer.
struct ResumeRequest {
  std::string path;
  std::optional<DrawTarget> draws = {};
  FitOptions running = {};
  /// Of a table in parts: gets the run before the first question is asked.
  std::function<void(const RunContents&)> on_planned = {};
};

/// New rows for a run that is complete and stays as it is.
struct UpdateRequest {
  const SavedRun* run = nullptr;
  RunContents contents;  // of contents_with or contents_with_labels
  std::string output;
  bool overwrite = false;
  FitOptions running = {};
};

/// One fit, from the request to the run file: begin, resume or update says what is to be drawn, and the run
/// follows.
class Fit {
 public:
  /// Reads the data if need be, plans families and resolves settings. Nothing is written. Throws
  /// Error{stopped} if it is stopped meanwhile, and whatever a mistake in request or data calls for.
  static Fit begin(FitRequest request);
  /// Throws Error{configuration} for a merged run, and for draws of a model that has one fit; Error{usage} if
  /// the run has more draws than that already.
  static Fit resume(const ResumeRequest& request);
  /// The run of old and new rows; insert_rows takes the new ones in.
  static Fit update(UpdateRequest request);

  const ModelEntry& model() const { return *setup_->model; }
  const RunConfig& config() const { return config_; }
  const ProblemSetup& setup() const { return *setup_; }
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  /// Bytes the fit will hold, about.
  std::size_t memory_bytes() const { return memory_bytes_; }
  /// Seconds a run until trusted may take; 0 of a run of fixed length.
  double budget() const;
  /// Whether no more than a sketch was asked for.
  bool is_sketch() const { return running_.sketch; }
  /// Whether nothing is left to do.
  bool is_complete() const;

  /// Of an update: why what was learned cannot be continued with the new rows, and all is learned again from
  /// all rows; empty if it can.
  const std::string& why_from_scratch() const { return why_from_scratch_; }
  /// Takes the new rows of an update into the chains' last states; run() begins from there. Throws
  /// Error{stopped} if it is stopped before all are in: nothing has been written by then.
  void insert_rows(InsertOptions options);

  /// Writes the run if it is new, and takes it to its end or until it is stopped. The observer is that of the
  /// request unless another one is given.
  FitEnd run(FitObserver* observer = nullptr);

  /// The run as a file; only after run() or of a run that was resumed.
  const RunFile& file() const { return *file_; }
  /// The run for questions; the way to one that has no file of its own.
  static SavedRun take_run(Fit fit) { return SavedRun(std::move(*fit.file_)); }

 private:
  Fit() = default;
  void plan(std::size_t threads, const std::function<void(const std::string&)>& on_choosing);
  void create_file();
  void keep_sample(const FitRequest::Parts& parts);

  RunConfig config_;
  std::unique_ptr<ProblemSetup> setup_;
  std::optional<RunContents> contents_;  // until they are written
  const SavedRun* before_ = nullptr;     // the run that an update takes its states from
  std::vector<Checkpoint> states_;       // where chains begin, if not at their start
  std::string why_from_scratch_;
  std::string output_;
  bool overwrite_ = false;
  FitOptions running_;
  std::optional<RunFile> file_;
  std::size_t rows_ = 0, columns_ = 0, memory_bytes_ = 0;
};

}  // namespace coppice
