// Fits from R: the library's service on a thread of its own, while R's thread shows progress and listens to
// the user.
#include <R_ext/Utils.h>

#include <mutex>
#include <optional>

#include "engine.hpp"

namespace coppice_r {
namespace {

/// Keeps the latest word of the chains for the thread that shows it.
class LatestProgress final : public coppice::FitObserver {
 public:
  void on_progress(std::span<const coppice::ChainProgress> chains, std::size_t total) override {
    std::size_t done = 0;
    for (const coppice::ChainProgress& chain : chains) done += chain.sweeps;
    const std::lock_guard lock(mutex_);
    done_ = done;
    total_ = total * chains.size();
  }
  void on_draws(std::size_t, std::size_t, std::size_t, std::span<const double>) override {}

  /// The fraction of the sweeps that is done.
  double fraction() const {
    const std::lock_guard lock(mutex_);
    return total_ == 0 ? 0.0 : static_cast<double>(done_) / static_cast<double>(total_);
  }

 private:
  mutable std::mutex mutex_;
  std::size_t done_ = 0, total_ = 0;
};

/// R_CheckUserInterrupt jumps; inside of R_ToplevelExec the jump ends here.
bool is_interrupted() {
  return R_ToplevelExec([](void*) { R_CheckUserInterrupt(); }, nullptr) == FALSE;
}

/// Prepares a fit and runs it; what was drawn is in its file, whatever stopped it.
std::string run_fit(const std::function<coppice::Fit(const coppice::FitOptions&)>& prepare, int threads,
                    double time_limit, SEXP progress) {
  constexpr std::chrono::milliseconds kBeat(100);
  coppice::FitEnd end = coppice::FitEnd::finished;
  LatestProgress latest;
  const coppice::Worker::Task task = [&](const std::atomic<bool>& stop) {
    coppice::Fit fit = prepare({.threads = static_cast<std::size_t>(threads),
                                .time_limit = time_limit,
                                .stop = &stop,
                                .observer = &latest});
    end = fit.run();
  };
  coppice::Worker worker(task);
  bool stopping = false;
  while (!worker.wait(kBeat)) {
    if (!stopping && is_interrupted()) {
      worker.stop();
      stopping = true;
    }
    if (Rf_isNull(progress)) continue;
    const cpp11::function show(progress);
    show(latest.fraction());
  }
  worker.end();
  switch (end) {
    case coppice::FitEnd::finished:
      return "finished";
    case coppice::FitEnd::interrupted:
      return "interrupted";
    default:
      return "out of time";
  }
}

}  // namespace
}  // namespace coppice_r

[[cpp11::register]] std::string fit_(std::string model_name, cpp11::list columns, cpp11::strings row_names,
                                     cpp11::strings parameters, cpp11::strings run_length,
                                     cpp11::list settings, cpp11::strings family_settings, std::string path,
                                     bool overwrite, int threads, double time_limit, SEXP progress) {
  using namespace coppice;
  const ModelEntry& model = model_by_name(model_name);
  FitRequest request;
  request.model = model.name;
  request.parameters = checked_settings(model.parameters, coppice_r::typed(parameters), model.name);
  request.run_length = checked_settings(run_parameters(), coppice_r::typed(run_length), model.name);
  request.family = cpp11::as_cpp<std::string>(settings["family"]);
  request.hyper = cpp11::as_cpp<std::string>(settings["hyper"]);
  request.family_settings = family_settings_of(coppice_r::typed(family_settings));
  request.standardize = cpp11::as_cpp<bool>(settings["standardize"]);
  request.pca = static_cast<std::size_t>(cpp11::as_cpp<int>(settings["pca"]));
  request.data_path = "data";
  request.output = path;
  request.overwrite = overwrite;
  check_request(request);
  const std::string codebook = cpp11::as_cpp<std::string>(settings["codebook"]);
  const auto weights = cpp11::as_cpp<std::vector<double>>(settings["weights"]);
  const MemoryTable table = coppice_r::table_of(columns, row_names);
  return coppice_r::run_fit(
      [&](const FitOptions& running) {
        Dataset data = read_memory(
            table, {nullptr, codebook, request.family != "auto" || !model.family.empty(), weights});
        if (!weights.empty()) request.reading.weights = data.weights.columns.front().name;
        request.notes = std::move(data.notes);
        request.data = std::move(data);
        request.running = running;
        return Fit::begin(std::move(request));
      },
      threads, time_limit, progress);
}

[[cpp11::register]] std::string resume_(std::string path, int draws, int threads, double time_limit,
                                        SEXP progress) {
  return coppice_r::run_fit(
      [&](const coppice::FitOptions& running) {
        coppice::ResumeRequest request{.path = path, .running = running};
        if (draws > 0) request.draws = coppice::DrawTarget{static_cast<std::size_t>(draws)};
        return coppice::Fit::resume(request);
      },
      threads, time_limit, progress);
}
