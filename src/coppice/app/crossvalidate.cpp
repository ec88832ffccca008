// coppice crossvalidate: how well models foretell cells that they have not seen, fold after fold.
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>

#include "coppice/app/arguments.hpp"
#include "coppice/app/crossvalidate_labels.hpp"
#include "coppice/app/fold_table.hpp"
#include "coppice/app/interrupt.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/held_out_cells.hpp"
#include "coppice/family/adopt_kinds.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/held_out_scores.hpp"
#include "coppice/post/views.hpp"
#include "coppice/run/fit.hpp"
#include "coppice/run/new_run.hpp"

namespace coppice::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct CrossvalidateArguments {
  std::string data, output;
  std::vector<std::string> models;
  std::size_t folds = 10;
  std::size_t most_folds = 0;
  std::size_t threads = 0;
  DataFlags reading;
  FamilyFlags modeling;
  ParameterFlags parameters;
};

/// Chains of a fold are shorter than those of a fit: there are many folds, and they are averaged.
const std::pair<const char*, double> kRunLength[] = {{"chains", 2}, {"warmup", 250}, {"draws", 250}};

/// A folder for the runs of the folds, gone with them.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "coppice-folds-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) fail(ErrorCode::cannot_write, "{}: {}", name, std::strerror(errno));
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;  // nobody is harmed by a folder that stays in the folder of temporary files
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// A model and settings of its own: NAME, NAME-FLAG for a flag of the model, NAME:SETTING=VALUE:...
struct Contender {
  std::string name;  // as the user wrote it
  const ModelEntry* model = nullptr;
  Settings parameters;
};

const Parameter& parameter_of(const ModelEntry& model, const std::string& name,
                              const std::string& contender) {
  for (const Parameter& parameter : model.parameters)
    if (parameter.name == name) return parameter;
  fail(ErrorCode::usage, "--models {}: {} has no setting '{}' (coppice models {} lists them)", contender,
       model.name, name, model.name);
}

Contender contender_of(const std::string& text) {
  Contender contender{text, nullptr, {}};
  const std::size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  for (const ModelEntry& model : all_models()) {
    if (name == model.name) contender.model = &model;
    if (!name.starts_with(model.name + "-")) continue;
    const std::string flag = name.substr(model.name.size() + 1);
    for (const Parameter& parameter : model.parameters) {
      if (parameter.name != flag || parameter.type != Parameter::Type::flag) continue;
      contender.model = &model;
      contender.parameters.insert_or_assign(flag, parse_parameter(parameter, "true"));
    }
  }
  if (contender.model == nullptr) contender.model = &model_by_name(name);
  for (std::size_t begin = colon; begin != std::string::npos;) {
    const std::size_t end = text.find(':', begin + 1);
    const std::string part = text.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos)
      fail(ErrorCode::usage, "--models {}: '{}' is not SETTING=VALUE", text, part);
    const Parameter& parameter = parameter_of(*contender.model, part.substr(0, equals), text);
    contender.parameters.insert_or_assign(parameter.name,
                                          parse_parameter(parameter, part.substr(equals + 1)));
    begin = end;
  }
  return contender;
}

struct FoldResult {
  HeldOutScores scores;
  double fit_seconds = 0.0;
  double predict_seconds = 0.0;
  double views = kMissing;
  double lower_bound = kMissing;
};

RunConfig config_of(const CrossvalidateArguments& arguments, const Contender& contender) {
  RunConfig config;
  config.model = contender.model->name;
  config.parameters = arguments.parameters.values(contender.model->parameters);
  for (const auto& [name, value] : contender.parameters) config.parameters.insert_or_assign(name, value);
  Settings length = arguments.parameters.values(run_parameters());
  for (const auto& [name, value] : kRunLength) length.try_emplace(name, Setting::number(value));
  set_run_length(config, length);
  config.family = arguments.modeling.family;
  config.family_settings = arguments.modeling.settings();
  config.data = arguments.data;
  return config;
}

/// Fits the contender to a table and asks for the cells; nothing if the fit was stopped.
std::optional<FoldResult> run_fold(const CrossvalidateArguments& arguments, const Contender& contender,
                                   const Dataset& data, std::span<const HeldOutCell> cells,
                                   const TemporaryDirectory& folder, const std::atomic<bool>* stop,
                                   const Context& context) {
  FoldResult result;
  const std::string path = folder.file("fold.coppice");
  const Clock::time_point begin = Clock::now();
  {
    RunContents contents = contents_of(config_of(arguments, contender), data);
    std::unique_ptr<ProblemSetup> setup = set_up_problem(contents.config, contents.codebook, contents.table);
    setup->problem.stop = stop;
    try {
      resolve_settings(contents.config, contents.codebook, contents.table, arguments.threads, setup);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::stopped) throw;
      return std::nullopt;
    }
    settle_run_length(contents.config, *setup);
    RunFile file = RunFile::create(path, contents, true);
    FitOptions options;
    options.threads = arguments.threads;
    options.stop = stop;
    std::unique_ptr<FitObserver> progress;
    if (context.stderr_is_terminal())
      progress = make_progress(context, contents.config.chains, setup->model->runs_once());
    options.observer = progress.get();
    if (continue_run(file, *setup, options) != FitEnd::finished) return std::nullopt;
    file.finish();
  }
  result.fit_seconds = seconds_since(begin);
  const Clock::time_point asked = Clock::now();
  const SavedRun run(path);
  result.scores = score_held_out(run, cells, 0, arguments.threads);
  result.predict_seconds = seconds_since(asked);
  if (run.model().has_views())
    result.views = static_cast<double>(report_views(run, Loss::vi, arguments.threads).views.size());
  if (run.model().runs_once()) result.lower_bound = run.traces().front().front().front();
  return result;
}

FoldResult run_one_cluster(const CrossvalidateArguments& arguments, const Contender& contender,
                           const Dataset& data, std::span<const HeldOutCell> cells) {
  RunContents contents = contents_of(config_of(arguments, contender), data);
  const Clock::time_point begin = Clock::now();
  const std::unique_ptr<ProblemSetup> setup =
      set_up_problem(contents.config, contents.codebook, contents.table);
  FoldResult result;
  result.scores = score_one_cluster(*setup, contents.table, cells, arguments.threads);
  result.predict_seconds = seconds_since(begin);
  return result;
}

const std::vector<FoldFigure> kFigures{{"log_predictive", "log predictive"},
                                       {"rmse", "RMSE"},
                                       {"mae", "MAE"},
                                       {"mode_accuracy", "mode right"},
                                       {"fit_seconds", "fit, s"},
                                       {"predict_seconds", "predict, s"},
                                       {"views", "views"},
                                       {"lower_bound", "lower bound"}};

FoldScores::Fold entry_of(const FoldResult& result) {
  const HeldOutScores& scores = result.scores;
  return {scores.cells,
          {scores.log_predictive, scores.rmse, scores.mae, scores.mode_accuracy, result.fit_seconds,
           result.predict_seconds, result.views, result.lower_bound}};
}

std::uint64_t seed_of(const CrossvalidateArguments& arguments) {
  return ParameterValues(run_parameters(), arguments.parameters.values(run_parameters())).integer("seed");
}

std::string label_contender_names() {
  std::vector<std::string> names = models_that(&ModelEntry::learns_labels);
  for (const ModelEntry& model : all_models())
    for (const LabelBaseline& baseline : model.label_baselines) names.push_back(baseline.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Models that learn labels, and what they are measured against; none if the models are about cells.
std::vector<LabelContender> label_contenders(const CrossvalidateArguments& arguments) {
  std::vector<LabelContender> contenders;
  std::size_t about_cells = 0;
  for (const std::string& text : arguments.models) {
    if (const LabelBaseline* baseline = label_baseline_by_name(text)) {
      contenders.push_back({text, nullptr, {}, baseline});
      continue;
    }
    const Contender contender = contender_of(text);
    if (!contender.model->learns_labels()) {
      ++about_cells;
      continue;
    }
    Settings parameters = arguments.parameters.values(contender.model->parameters);
    for (const auto& [name, value] : contender.parameters) parameters.insert_or_assign(name, value);
    contender.model->check_given(with_present_names(contender.model->parameters, parameters));
    contenders.push_back({text, contender.model, std::move(parameters)});
  }
  if (about_cells != 0 && !contenders.empty())
    fail(ErrorCode::configuration,
         "--models {}: some foretell labels of rows and others cells; compare them apart from each other",
         fmt::join(arguments.models, ","));
  return contenders;
}

int crossvalidate(const CrossvalidateArguments& arguments, const Context& context) {
  const InterruptGuard guard;
  if (const std::vector<LabelContender> about_labels = label_contenders(arguments); !about_labels.empty()) {
    std::vector<const std::vector<Parameter>*> known{&run_parameters()};
    for (const LabelContender& contender : about_labels)
      if (contender.model != nullptr) known.push_back(&contender.model->parameters);
    arguments.parameters.check_all_known(known, fmt::format("{}", fmt::join(arguments.models, ", ")));
    const Dataset data = arguments.reading.read(arguments.data, context, true);
    if (data.labels.columns.empty())
      fail(ErrorCode::configuration, "name the labels: --labels COL,COL or --labels-file FILE");
    return crossvalidate_labels(
        data, about_labels,
        {arguments.folds, arguments.most_folds, seed_of(arguments), arguments.threads, arguments.output},
        guard.flag(), context);
  }
  std::vector<Contender> contenders;
  std::vector<const std::vector<Parameter>*> tables{&run_parameters()};
  for (const std::string& text : arguments.models) {
    contenders.push_back(contender_of(text));
    tables.push_back(&contenders.back().model->parameters);
  }
  arguments.parameters.check_all_known(tables, fmt::format("{}", fmt::join(arguments.models, ", ")));
  Dataset data = arguments.reading.read(arguments.data, context);
  adopt_kinds(data.table, data.codebook,
              arguments.modeling.family);  // from all cells, the same in every fold
  const std::vector<std::vector<HeldOutCell>> folds =
      deal_cells(data.table, arguments.folds, seed_of(arguments));
  const std::size_t wanted =
      arguments.most_folds == 0 ? folds.size() : std::min(arguments.most_folds, folds.size());
  const std::atomic<bool>* stop = guard.flag();
  const TemporaryDirectory folder;
  FoldTable table(kFigures, "cells");
  table.enter("one cluster");
  for (const Contender& contender : contenders) table.enter(contender.name);
  for (std::size_t fold = 0; fold < wanted; ++fold) {
    Dataset rest = data;
    rest.table = without_cells(std::move(rest.table), folds[fold]);
    std::vector<FoldScores::Fold> results{
        entry_of(run_one_cluster(arguments, contenders.front(), rest, folds[fold]))};
    for (const Contender& contender : contenders) {
      const std::optional<FoldResult> result =
          run_fold(arguments, contender, rest, folds[fold], folder, stop, context);
      if (!result) break;
      results.push_back(entry_of(*result));
      context.note(fmt::format("fold {} of {}, {}: log predictive {:.4f} over {} cells, fitted in {}",
                               fold + 1, wanted, contender.name, result->scores.log_predictive,
                               result->scores.cells, duration_words(result->fit_seconds)));
    }
    if (results.size() != table.models()) break;
    table.add_fold(std::move(results));
  }
  return table.finish(arguments.output, wanted, folds.size(), context);
}

}  // namespace

void add_crossvalidate(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand(
      "crossvalidate", "take cells out of a table, and see how well models foretell them");
  auto arguments = std::make_shared<CrossvalidateArguments>();
  command->add_option("data", arguments->data, "table: .csv .tsv .npy .svm, also .gz .zst; - is stdin")
      ->required();
  command
      ->add_option(
          "--models", arguments->models,
          "models by comma: NAME, NAME-FLAG (bhc-randomized), or NAME:SETTING=VALUE:...; with labels " +
              label_contender_names())
      ->delimiter(',')
      ->required();
  command->add_option("--folds", arguments->folds, "parts into which the observed cells are dealt [10]")
      ->check(CLI::Range(2, 1'000'000));
  command->add_option("--most-folds", arguments->most_folds, "take only the first so many; 0: all [0]");
  command->add_option("-o,--output", arguments->output, "CSV file with a line for each fold and model");
  arguments->reading.add_to(*command);
  arguments->modeling.add_to(*command);
  arguments->parameters.add_to(*command, run_parameters(),
                               "Run (chains 2, warmup 250, draws 250 if not given)");
  for (const ModelEntry& model : all_models())
    if (context.shows_flags_of(model.name))
      arguments->parameters.add_to(*command, model.parameters, "Model " + model.name);
  command->add_option("--threads", arguments->threads, "threads; 0: all cores [0]")
      ->check(CLI::Range(0, 4096));
  command->callback(
      [=, &context] { context.run = [=, &context] { return crossvalidate(*arguments, context); }; });
}

}  // namespace coppice::app
