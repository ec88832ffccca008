// A fit on threads of its own, while the calling thread listens for Ctrl-C and reports progress.
#include "coppice/run/fit.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "bindings.hpp"
#include "coppice/base/error.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/insert_rows.hpp"
#include "coppice/run/new_run.hpp"

namespace coppice::python {
namespace {

/// Keeps the latest word of the chains for the thread that shows it.
class LatestProgress final : public FitObserver {
 public:
  struct State {
    std::size_t done = 0, total = 0;
    double log_joint = 0.0, clusters = 0.0;
  };

  void on_progress(std::span<const ChainProgress> chains, std::size_t total) override {
    State state;
    double begun = 0.0;
    for (const ChainProgress& chain : chains) {
      state.done += chain.sweeps;
      if (chain.clusters == 0.0) continue;
      state.log_joint += chain.log_joint;
      state.clusters += chain.clusters;
      begun += 1.0;
    }
    state.total = total * chains.size();
    if (begun > 0.0) {
      state.log_joint /= begun;
      state.clusters /= begun;
    }
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  void on_draws(std::size_t, std::size_t, std::size_t, std::span<const double>) override {}

  State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

 private:
  mutable std::mutex mutex_;
  State state_;
};

/// Long work on another thread. Python's signals are heard by the thread that calls, which must be free to
/// hear them.
class Worker {
 public:
  using Task = std::function<void(const std::atomic<bool>& stop)>;

  explicit Worker(const Task& task) {
    thread_ = std::thread([this, &task] {
      try {
        task(stop_);
      } catch (...) {
        problem_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_ = true;
      wake_.notify_all();
    });
  }
  ~Worker() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void stop() { stop_ = true; }
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, time, [this] { return done_; });
  }
  void end() {
    thread_.join();
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
  std::exception_ptr problem_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
};

/// Does the task; the first Ctrl-C asks it to stop, a second one is KeyboardInterrupt. If anything is thrown
/// here, the worker stops the task before it goes. `on_beat` is called by the calling thread now and then.
void attend(const Worker::Task& task, const std::function<void()>& on_beat) {
  constexpr std::chrono::milliseconds kBeat(100);
  Worker worker(task);
  bool stopping = false;
  for (bool done = false; !done;) {
    {
      const nb::gil_scoped_release release;
      done = worker.wait(kBeat);
    }
    if (PyErr_CheckSignals() != 0) {
      if (stopping || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw nb::python_error();
      PyErr_Clear();
      worker.stop();
      stopping = true;
    }
    on_beat();
  }
  worker.end();
}

Settings checked_values(const std::vector<Parameter>& table, const nb::dict& given,
                        const std::string& model) {
  Settings settings;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    const Parameter* found = find_parameter(table, name);
    if (found == nullptr) fail(ErrorCode::usage, "{} has no parameter '{}'", model, name);
    const std::optional<Setting> meant = parse_parameter(*found, name, nb::cast<std::string>(value));
    if (meant && !settings.emplace(found->name, *meant).second)
      fail(ErrorCode::usage, "{} is given twice, once under an earlier name", found->name);
  }
  return settings;
}

/// The columns with their kinds, and the labels if there are any to learn.
Dataset read_frames(const Frame& frame, const Frame* labels, const std::string& codebook_text) {
  ReadOptions reading;
  Codebook codebook;
  if (!codebook_text.empty()) {
    codebook = parse_codebook(codebook_text, "codebook");
    codebook.source.clear();
    reading.codebook = &codebook;
  }
  RawTable raw = frame.raw;
  raw.locate = [&frame](std::size_t row, std::size_t column) { return place_of(frame, row, column); };
  Dataset data = dataset_of(std::move(raw), reading);
  data.table.row_ids = frame.row_ids;
  if (labels != nullptr) {
    take_bits_for_counts(data, codebook);
    data.labels = label_table(*labels);
  }
  return data;
}

/// Runs the chains; what they drew is in the file, whatever stopped them.
std::string run_chains(RunFile& file, ProblemSetup& setup, std::size_t threads, double time_limit,
                       const nb::object& progress) {
  FitEnd end = FitEnd::finished;
  LatestProgress latest;
  attend(
      [&](const std::atomic<bool>& stop) {
        FitOptions options;
        options.threads = threads;
        options.time_limit = time_limit;
        options.stop = &stop;
        options.observer = &latest;
        setup.problem.stop = &stop;
        end = continue_run(file, setup, options);
      },
      [&] {
        if (progress.is_none()) return;
        const LatestProgress::State state = latest.state();
        progress(state.done, state.total, state.clusters, state.log_joint);
      });
  file.finish();
  return end == FitEnd::finished ? "finished" : end == FitEnd::interrupted ? "interrupted" : "out_of_time";
}

std::string fit(const std::string& model_name, const Frame& frame, const Frame* labels,
                const nb::dict& parameters, const nb::dict& run_length, const std::string& family,
                const std::vector<std::pair<std::string, std::string>>& family_settings,
                const std::string& codebook, bool standardize, std::size_t pca, const std::string& path,
                bool overwrite, std::size_t threads, double time_limit, const nb::object& progress) {
  const ModelEntry& model = model_by_name(model_name);
  RunConfig config;
  config.model = model.name;
  config.parameters = checked_values(model.parameters, parameters, model.name);
  set_run_length(config, checked_values(run_parameters(), run_length, model.name));
  config.family = family;
  for (const auto& [name, toml] : family_settings) config.family_settings[name] = parse_setting(toml);
  config.standardize = standardize;
  config.pca = pca;
  config.data = "X";

  std::optional<RunFile> file;
  std::unique_ptr<ProblemSetup> setup;
  {
    const nb::gil_scoped_release release;
    Dataset data = read_frames(frame, labels, codebook);
    for (const Column& label : data.labels.columns) config.labels.push_back(label.name);
    const std::vector<std::string> notes = std::move(data.notes);
    RunContents contents = contents_of(std::move(config), std::move(data));
    setup = set_up_problem(contents.config, contents.codebook, contents.table, contents.labels);
    RunFile::check_creatable(path, overwrite);
    resolve_settings(contents.config, contents.codebook, contents.table, threads, setup);
    settle_run_length(contents.config, *setup);
    std::vector<std::string>& all_notes = contents.config.notes;
    all_notes.insert(all_notes.end(), notes.begin(), notes.end());
    file.emplace(RunFile::create(path, contents, overwrite));
  }
  return run_chains(*file, *setup, threads, time_limit, progress);
}

std::string resume(const std::string& path, std::size_t draws, std::size_t threads, double time_limit,
                   const nb::object& progress) {
  std::optional<RunFile> file;
  std::unique_ptr<ProblemSetup> setup;
  {
    const nb::gil_scoped_release release;
    file.emplace(RunFile::open(path, true));
    const RunConfig config = file->config();
    if (config.merged)
      fail(ErrorCode::configuration, "{}: a merged run cannot be resumed; resume the runs it was made of",
           path);
    if (draws > config.draws) file->set_draws(draws);
    const RunContents contents = file->contents();
    setup = set_up_problem(contents.config, contents.codebook, contents.table, contents.labels);
  }
  return run_chains(*file, *setup, threads, time_limit, progress);
}

/// Takes labeled rows into a finished run, which stays as it is; the longer run goes to `output`. Stopped
/// before all rows are in, it has written nothing.
std::string update(const std::string& path, const Frame& frame, const Frame& labels,
                   const std::string& output, bool overwrite, std::size_t threads, double time_limit,
                   const nb::object& progress) {
  std::optional<RunFile> file;
  std::unique_ptr<ProblemSetup> setup;
  attend(
      [&](const std::atomic<bool>& stop) {
        const SavedRun old(path);
        const Dataset more = read_frames(frame, &labels, to_toml(old.contents().input_codebook));
        RunContents contents = contents_with_labels(old, more, false);
        std::copy(frame.row_ids.begin(), frame.row_ids.end(),
                  contents.table.row_ids.end() - static_cast<std::ptrdiff_t>(frame.row_ids.size()));
        contents.labels.row_ids = contents.table.row_ids;
        contents.config.notes.push_back(
            fmt::format("{} rows were taken into a run of {} rows", frame.row_ids.size(), old.rows()));
        setup = set_up_problem(contents.config, contents.codebook, contents.table, contents.labels);
        settle_run_length(contents.config, *setup);
        std::vector<Checkpoint> states;
        if (cannot_continue(old, contents).empty()) {
          InsertOptions options;
          options.threads = threads;
          options.stop = &stop;
          states = insert_rows(old, *setup, options);
          if (states.empty()) return;
        }
        file.emplace(RunFile::create(output, contents, overwrite));
        if (!states.empty()) file->commit({}, states, {});
      },
      [] {});
  if (!file) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
  return run_chains(*file, *setup, threads, time_limit, progress);
}

}  // namespace

Table label_table(const Frame& frame) {
  Table labels;
  labels.row_ids = frame.row_ids;
  for (const RawColumn& column : frame.raw.columns)
    labels.columns.push_back({column.name, Kind::binary, column.values, {}});
  return labels;
}

void add_fit(nb::module_& module) {
  module.def("fit", &fit, nb::arg("model"), nb::arg("frame"), nb::arg("labels").none(), nb::arg("parameters"),
             nb::arg("run_length"), nb::arg("family"), nb::arg("family_settings"), nb::arg("codebook"),
             nb::arg("standardize"), nb::arg("pca"), nb::arg("path"), nb::arg("overwrite"),
             nb::arg("threads"), nb::arg("time_limit"), nb::arg("progress").none(),
             "Fits a model and writes the run to a file; 'finished', 'interrupted' or 'out_of_time'.");
  module.def("resume", &resume, nb::arg("path"), nb::arg("draws"), nb::arg("threads"), nb::arg("time_limit"),
             nb::arg("progress").none(),
             "Goes on with a run to its end, or to this many draws of each chain if that is more.");
  module.def("update", &update, nb::arg("path"), nb::arg("frame"), nb::arg("labels"), nb::arg("output"),
             nb::arg("overwrite"), nb::arg("threads"), nb::arg("time_limit"), nb::arg("progress").none(),
             "Takes more rows into a run that learned labels and writes the longer run to another file.");
  module.def("replace_run", &RunFile::replace, nb::arg("from"), nb::arg("to"),
             "Puts a run file in the place of another.");
}

}  // namespace coppice::python
