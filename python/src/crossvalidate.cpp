// Crossvalidation from Python.
#include "coppice/post/crossvalidate.hpp"

#include <mutex>

#include "attend.hpp"
#include "coppice/base/error.hpp"

namespace coppice::python {
namespace {

/// A name, and a model as a text of the command line, or with the settings of an estimator.
using NamedModel = std::tuple<std::string, std::string, std::optional<nb::dict>>;

Contender contender_of(const NamedModel& named) {
  const auto& [name, text, settings] = named;
  Contender contender = parse_contender(text);
  if (settings) contender.parameters = checked_values(contender.model->parameters, *settings, text);
  contender.name = name;
  return contender;
}

/// Figures by key: models x folds.
nb::dict dict_of(const Crossvalidation& folds) {
  nb::dict figures;
  for (std::size_t figure = 0; figure < folds.figures.size(); ++figure) {
    std::vector<double> values;
    for (const FoldScores& model : folds.models)
      for (const FoldScores::Fold& fold : model.folds) values.push_back(fold.figures[figure]);
    figures[folds.figures[figure].key] =
        to_numpy(std::move(values), {folds.models.size(), folds.folds_complete()});
  }
  nb::list models;
  for (const FoldScores& model : folds.models) models.append(model.name);
  std::vector<std::int64_t> held_out;
  for (const FoldScores::Fold& fold : folds.models.front().folds)
    held_out.push_back(static_cast<std::int64_t>(fold.held_out));
  const std::size_t complete = held_out.size();
  nb::dict answer;
  answer["models"] = models;
  answer["unit"] = folds.unit;
  answer["figures"] = figures;
  answer["held_out"] = to_numpy(std::move(held_out), {complete});
  answer["folds_wanted"] = folds.folds_wanted;
  return answer;
}

nb::dict crossvalidate_frames(const Frame& frame, const Frame* labels, const std::vector<NamedModel>& models,
                              const nb::dict& run_length, const std::string& family, const std::string& hyper,
                              const std::vector<std::pair<std::string, std::string>>& family_settings,
                              const std::string& codebook, std::size_t folds, std::size_t most_folds,
                              std::size_t threads, const nb::object& progress) {
  CrossvalidationRequest request;
  for (const NamedModel& model : models) request.contenders.push_back(contender_of(model));
  if (predict_labels(request.contenders) != (labels != nullptr))
    fail(ErrorCode::configuration, "{}",
         labels != nullptr ? "labels belong to models that learn them; the others predict cells"
                           : "models that learn labels need them: give Y");
  request.run_length = checked_values(run_parameters(), run_length, "crossvalidate");
  request.family = family;
  request.hyper = hyper;
  request.family_settings = family_settings_of(family_settings);
  request.folds = folds;
  request.most_folds = most_folds;
  request.threads = threads;
  // Results arrive on the working thread; Python is notified of them on its own thread.
  std::mutex mutex;
  std::vector<std::tuple<std::size_t, std::size_t, std::string, double>> news;
  request.on_result = [&](const Crossvalidation& answer, const FoldResult& result) {
    const std::lock_guard lock(mutex);
    news.emplace_back(result.fold, answer.folds_wanted, result.contender, result.scores.figures.front());
  };
  Crossvalidation answer;
  attend(
      [&](const std::atomic<bool>& stop) {
        request.stop = &stop;
        request.data = read_frames(frame, labels, codebook, family != "auto");
        answer = crossvalidate(request);
        if (answer.folds_complete() == 0) fail(ErrorCode::stopped, "stopped before a fold was complete");
      },
      [&] {
        std::vector<std::tuple<std::size_t, std::size_t, std::string, double>> latest;
        {
          const std::lock_guard lock(mutex);
          latest.swap(news);
        }
        if (progress.is_none()) return;
        for (const auto& [fold, wanted, name, value] : latest) progress(fold + 1, wanted, name, value);
      });
  return dict_of(answer);
}

}  // namespace

void add_crossvalidate(nb::module_& module) {
  module.def("crossvalidate", &crossvalidate_frames, nb::arg("frame"), nb::arg("labels").none(),
             nb::arg("models"), nb::arg("run_length"), nb::arg("family"), nb::arg("hyper"),
             nb::arg("family_settings"), nb::arg("codebook"), nb::arg("folds"), nb::arg("most_folds"),
             nb::arg("threads"), nb::arg("progress").none(),
             "Figures of models on held-out cells or rows, fold by fold.");
}

}  // namespace coppice::python
