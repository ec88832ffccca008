#include "coppice/post/crossvalidate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "coppice/base/error.hpp"
#include "coppice/data/held_out_cells.hpp"
#include "coppice/family/adopt_kinds.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/crossvalidate_labels.hpp"
#include "coppice/post/held_out_scores.hpp"
#include "coppice/post/views.hpp"
#include "coppice/run/new_run.hpp"

namespace coppice {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

const Parameter& parameter_of(const ModelEntry& model, const std::string& name,
                              const std::string& contender) {
  if (const Parameter* found = find_parameter(model.parameters, name)) return *found;
  fail(ErrorCode::usage, "--models {}: {} has no setting '{}' (coppice models {} lists them)", contender,
       model.name, name, model.name);
}

const std::vector<FoldFigure> kCellFigures{{"log_predictive", "log predictive"},
                                           {"rmse", "RMSE"},
                                           {"mae", "MAE"},
                                           {"mode_accuracy", "mode right"},
                                           {"fit_seconds", "fit, s"},
                                           {"predict_seconds", "predict, s"},
                                           {"views", "views"},
                                           {"lower_bound", "lower bound"}};

/// What the figures are made of.
struct CellResult {
  HeldOutScores scores;
  double fit_seconds = 0.0;
  double predict_seconds = 0.0;
  double views = kMissing;
  double lower_bound = kMissing;

  FoldScores::Fold figures() const {
    return {scores.cells,
            {scores.log_predictive, scores.rmse, scores.mae, scores.mode_accuracy, fit_seconds,
             predict_seconds, views, lower_bound}};
  }
};

FitRequest fit_request(const CrossvalidationRequest& request, const Contender& contender) {
  FitRequest fit;
  fit.model = contender.model->name;
  fit.parameters = contender.parameters;
  fit.run_length = request.run_length;
  for (const auto& [name, value] : kFoldRunLength)
    if (!fit.run_length.contains("until") || std::string_view(name) == "chains")
      fit.run_length.try_emplace(name, Setting::number(value));
  if (contender.model->runs_once())
    std::erase_if(fit.run_length, [](const auto& setting) { return setting.first != "seed"; });
  fit.family = request.family;
  fit.family_settings = request.family_settings;
  fit.hyper = request.hyper;
  fit.running.threads = request.threads;
  fit.running.stop = request.stop;
  return fit;
}

/// Fits the contender to the rest of the table and asks for the cells; nothing if the fit was stopped.
std::optional<CellResult> fit_and_score(const CrossvalidationRequest& request, const Contender& contender,
                                        const Dataset& rest, std::span<const HeldOutCell> cells) {
  CellResult result;
  const Clock::time_point begin = Clock::now();
  FitRequest wanted = fit_request(request, contender);
  wanted.data = rest;
  std::optional<Fit> fit;
  try {
    fit.emplace(Fit::begin(std::move(wanted)));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::stopped) return std::nullopt;
    throw;
  }
  {
    const std::unique_ptr<FitObserver> observer =
        request.make_observer ? request.make_observer(*fit) : nullptr;
    if (fit->run(observer.get()) != FitEnd::finished) return std::nullopt;
  }
  result.fit_seconds = seconds_since(begin);
  const Clock::time_point asked = Clock::now();
  const SavedRun run = Fit::take_run(*std::move(fit));
  result.scores = score_held_out(run, cells, 0, request.threads);
  result.predict_seconds = seconds_since(asked);
  if (run.model().has_views())
    result.views = static_cast<double>(report_views(run, Loss::vi, request.threads).views.size());
  if (run.model().runs_once()) result.lower_bound = run.traces().front().front().front();
  return result;
}

RunContents contents_of_first(const CrossvalidationRequest& request, const Dataset& data) {
  RunConfig config;
  config.model = request.contenders.front().model->name;
  config.parameters = request.contenders.front().parameters;
  config.family = request.family;
  config.family_settings = request.family_settings;
  config.hyper = request.hyper;
  return contents_of(std::move(config), data);
}

/// What values a column can take is a matter of all of its cells, not of those that a fold leaves.
void fix_supports(const CrossvalidationRequest& request, Dataset& data) {
  const std::unique_ptr<ProblemSetup> setup = set_up_problem(contents_of_first(request, data));
  for (const FamilyPlan::Block& block : setup->plan.blocks) {
    const std::string& bound = family_by_name(block.family).support_parameter;
    if (bound.empty()) continue;
    for (std::size_t j = 0; j < block.columns.size(); ++j) {
      const std::string& name = data.table.columns[block.columns[j]].name;
      const auto spec = std::find_if(data.codebook.columns.begin(), data.codebook.columns.end(),
                                     [&](const ColumnSpec& column) { return column.name == name; });
      if (spec != data.codebook.columns.end())
        spec->settings.try_emplace(bound, block.effective.columns.at(j).at(bound));
    }
  }
}

CellResult score_without_structure(const CrossvalidationRequest& request, const Dataset& rest,
                                   std::span<const HeldOutCell> cells) {
  const RunContents contents = contents_of_first(request, rest);
  const Clock::time_point begin = Clock::now();
  const std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
  CellResult result;
  result.scores = score_one_cluster(*setup, contents.table, cells, request.threads);
  result.predict_seconds = seconds_since(begin);
  return result;
}

Crossvalidation crossvalidate_cells(const CrossvalidationRequest& request) {
  for (const Contender& contender : request.contenders) check_request(fit_request(request, contender));
  Dataset data = request.data;
  adopt_kinds(data.table, data.codebook, request.family);  // from all cells, the same in every fold
  fix_supports(request, data);
  const std::uint64_t seed = ParameterValues(run_parameters(), request.run_length).integer("seed");
  const std::vector<std::vector<HeldOutCell>> folds = deal_cells(data.table, request.folds, seed);
  Crossvalidation answer{kCellFigures, "cells", folds.size(), folds.size(), {{"one cluster"}}};
  if (request.most_folds != 0) answer.folds_wanted = std::min(request.most_folds, folds.size());
  for (const Contender& contender : request.contenders) answer.models.push_back({contender.name});
  for (std::size_t fold = 0; fold < answer.folds_wanted; ++fold) {
    Dataset rest = data;
    rest.table = without_cells(std::move(rest.table), folds[fold]);
    std::vector<FoldScores::Fold> results{score_without_structure(request, rest, folds[fold]).figures()};
    for (const Contender& contender : request.contenders) {
      const std::optional<CellResult> result = fit_and_score(request, contender, rest, folds[fold]);
      if (!result) return answer;
      results.push_back(result->figures());
      if (request.on_result) request.on_result(answer, {fold, contender.name, results.back()});
    }
    answer.add_fold(std::move(results));
  }
  return answer;
}

}  // namespace

Contender parse_contender(const std::string& text) {
  Contender contender{text};
  contender.baseline = label_baseline_by_name(text);
  if (contender.baseline != nullptr) return contender;
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
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
    if (const auto value = parse_parameter(parameter, part.substr(0, equals), part.substr(equals + 1)))
      contender.parameters.insert_or_assign(parameter.name, *value);
    begin = end;
  }
  return contender;
}

bool predict_labels(std::span<const Contender> contenders) {
  std::size_t about_labels = 0;
  std::vector<std::string> names;
  for (const Contender& contender : contenders) {
    if (contender.baseline != nullptr || contender.model->learns_labels()) ++about_labels;
    names.push_back(contender.name);
  }
  if (about_labels != 0 && about_labels != contenders.size())
    fail(ErrorCode::configuration,
         "--models {}: some predict labels of rows and others predict cells; compare them separately",
         fmt::join(names, ","));
  return about_labels != 0;
}

Crossvalidation crossvalidate(const CrossvalidationRequest& request) {
  if (request.contenders.empty()) fail(ErrorCode::usage, "there is no model to cross-validate");
  return predict_labels(request.contenders) ? crossvalidate_labels(request) : crossvalidate_cells(request);
}

}  // namespace coppice
