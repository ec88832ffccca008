// Fits from Python: the service of the library, on threads of its own.
#include <mutex>

#include "attend.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/fit_service.hpp"
#include "coppice/run/in_memory.hpp"
#include "coppice/run/table_parts.hpp"
#include "parts.hpp"

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

/// Prepares a fit and runs it; what was drawn is in its file, whatever stopped it.
std::string run_fit(const std::function<Fit(const FitOptions&)>& prepare, std::size_t threads,
                    double time_limit, const nb::object& progress) {
  FitEnd end = FitEnd::finished;
  LatestProgress latest;
  attend(
      [&](const std::atomic<bool>& stop) {
        Fit fit = prepare({.threads = threads, .time_limit = time_limit, .stop = &stop, .observer = &latest});
        end = fit.run();
      },
      [&] {
        if (progress.is_none()) return;
        const LatestProgress::State state = latest.state();
        progress(state.done, state.total, state.clusters, state.log_joint);
      });
  switch (end) {
    case FitEnd::finished:
      return "finished";
    case FitEnd::interrupted:
      return "interrupted";
    case FitEnd::budget_used:
      return "budget_used";
    case FitEnd::out_of_time:
      break;
  }
  return "out_of_time";
}

using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The processes that have the rows of a table in parts, by the methods ask and describe of a Python object;
/// None: there are none.
class Connection {
 public:
  explicit Connection(const nb::object& parts) {
    if (parts.is_none()) return;
    ask_ = parts.attr("ask");
    describe_ = parts.attr("describe");
    engine_ = std::make_unique<PythonEngine>(ask_);
  }
  bool is_there() const { return engine_ != nullptr; }
  Engine* engine() const { return engine_.get(); }
  void describe(const std::string& description, const std::string* source) const {
    const nb::gil_scoped_acquire acquire;
    describe_(description, source == nullptr ? nb::object(nb::none()) : nb::object(nb::str(source->c_str())));
  }

 private:
  nb::object ask_, describe_;
  std::unique_ptr<PythonEngine> engine_;
};

std::string fit(const std::string& model_name, const Frame& frame, const Frame* labels,
                const std::optional<Weights>& weights, const nb::dict& parameters, const nb::dict& run_length,
                const std::string& family, const std::string& hyper,
                const std::vector<std::pair<std::string, std::string>>& family_settings,
                const std::string& codebook, bool standardize, std::size_t pca, const std::string& path,
                bool overwrite, std::size_t threads, double time_limit, const nb::object& progress,
                const nb::object& parts) {
  const ModelEntry& model = model_by_name(model_name);
  FitRequest request;
  request.model = model.name;
  request.parameters = checked_values(model.parameters, parameters, model.name);
  request.run_length = checked_values(run_parameters(), run_length, model.name);
  request.family = family;
  request.hyper = hyper;
  request.family_settings = family_settings_of(family_settings);
  request.standardize = standardize;
  request.pca = pca;
  request.data_path = "X";
  request.output = path;
  request.overwrite = overwrite;
  check_request(request);
  std::vector<double> copies;
  if (weights) copies.assign(weights->data(), weights->data() + weights->size());
  const Connection connection(parts);
  if (connection.is_there()) {
    FitRequest::Parts in_parts;
    in_parts.all_rows = nb::cast<std::size_t>(parts.attr("all_rows"));
    in_parts.numbers = nb::cast<std::vector<std::uint64_t>>(parts.attr("numbers"));
    in_parts.rows = [kept = nb::cast<const Frame&>(parts.attr("kept"))](const RunContents& contents) {
      Table rows = rows_like(kept, contents);
      rows.row_ids = kept.row_ids;
      return rows;
    };
    in_parts.source = nb::cast<std::string>(parts.attr("source"));
    in_parts.on_planned = [&](const RunContents& contents) {
      connection.describe(describe_problem(contents), nullptr);
    };
    request.parts = std::move(in_parts);
  }
  return run_fit(
      [&](const FitOptions& running) {
        Dataset data = read_frames(frame, labels, codebook, family != "auto" || !model.family.empty(),
                                   std::move(copies));
        if (!data.weights.columns.empty()) request.reading.weights = data.weights.columns.front().name;
        for (const Column& label : data.labels.columns) request.reading.labels.push_back(label.name);
        request.notes = std::move(data.notes);
        request.data = std::move(data);
        request.running = running;
        request.running.engine = connection.engine();
        return Fit::begin(std::move(request));
      },
      threads, time_limit, progress);
}

std::string resume(const std::string& path, const std::optional<std::size_t>& draws, std::size_t threads,
                   double time_limit, const nb::object& progress, const nb::object& parts) {
  const Connection connection(parts);
  return run_fit(
      [&](const FitOptions& running) {
        ResumeRequest request{.path = path, .running = running};
        request.running.engine = connection.engine();
        if (connection.is_there())
          request.on_planned = [&](const RunContents& contents) {
            connection.describe(describe_problem(contents), &contents.source);
          };
        if (draws) request.draws = DrawTarget{*draws};
        return Fit::resume(request);
      },
      threads, time_limit, progress);
}

void name_new_rows(const Frame& frame, RunContents& contents) {
  std::copy(frame.row_ids.begin(), frame.row_ids.end(),
            contents.table.row_ids.end() - static_cast<std::ptrdiff_t>(frame.row_ids.size()));
}

/// The contents of a run and more rows.
RunContents contents_with_frame(const SavedRun& old, const Frame& frame, const Frame* labels) {
  if (labels == nullptr) {
    Table more = new_rows(old, frame);
    more.row_ids = frame.row_ids;
    RunContents contents = contents_with(old, more, {});
    contents.config.warmup = kUpdateWarmup;
    name_new_rows(frame, contents);
    return contents;
  }
  const Dataset more = read_frames(frame, labels, to_toml(old.contents().input_codebook));
  RunContents contents = contents_with_labels(old, more, AbsentCells::unknown);
  name_new_rows(frame, contents);
  contents.labels.row_ids = contents.table.row_ids;
  return contents;
}

/// Takes rows into a finished run, which stays as it is; the longer run goes to `output`. Stopped before all
/// rows are in, it has written nothing.
std::string update(const std::string& path, const Frame& frame, const Frame* labels,
                   const std::string& output, bool overwrite, std::size_t threads, double time_limit,
                   const nb::object& progress) {
  return run_fit(
      [&](const FitOptions& running) {
        const SavedRun old(path);
        Fit fit = Fit::update({.run = &old,
                               .contents = contents_with_frame(old, frame, labels),
                               .output = output,
                               .overwrite = overwrite,
                               .running = running});
        if (fit.why_from_scratch().empty()) fit.insert_rows({});
        return fit;
      },
      threads, time_limit, progress);
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
  module.def("fit", &fit, nb::arg("model"), nb::arg("frame"), nb::arg("labels").none(),
             nb::arg("weights").none(), nb::arg("parameters"), nb::arg("run_length"), nb::arg("family"),
             nb::arg("hyper"), nb::arg("family_settings"), nb::arg("codebook"), nb::arg("standardize"),
             nb::arg("pca"), nb::arg("path"), nb::arg("overwrite"), nb::arg("threads"), nb::arg("time_limit"),
             nb::arg("progress").none(), nb::arg("parts").none() = nb::none(),
             "Fits a model and writes the run to a file; 'finished', 'interrupted', 'out_of_time' or "
             "'budget_used'.");
  module.def("resume", &resume, nb::arg("path"), nb::arg("draws").none(), nb::arg("threads"),
             nb::arg("time_limit"), nb::arg("progress").none(), nb::arg("parts").none() = nb::none(),
             "Continues a run to its end, or until each chain has this many draws.");
  module.def("update", &update, nb::arg("path"), nb::arg("frame"), nb::arg("labels").none(),
             nb::arg("output"), nb::arg("overwrite"), nb::arg("threads"), nb::arg("time_limit"),
             nb::arg("progress").none(),
             "Takes more rows into a run and writes the longer run to another file.");
  module.def("replace_run", &RunFile::replace, nb::arg("from"), nb::arg("to"),
             "Puts a run file in the place of another.");
}

}  // namespace coppice::python
