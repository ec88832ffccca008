#include "coppice/run/fit_service.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coppice/base/counted.hpp"
#include "coppice/base/error.hpp"
#include "coppice/family/adopt_kinds.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/new_run.hpp"

namespace coppice {
namespace {

bool is_stopped(const FitOptions& running) {
  return running.stop != nullptr && running.stop->load(std::memory_order_relaxed);
}

RunConfig config_of(const FitRequest& request) {
  RunConfig config;
  config.model = request.model;
  config.parameters = request.parameters;
  set_run_length(config, request.run_length);
  config.family = request.family;
  config.family_settings = request.family_settings;
  if (request.hyper != kLearnedHyper && request.hyper != kFixedHyper)
    fail(ErrorCode::usage, "hyper {}: it is {} or {}", request.hyper, kLearnedHyper, kFixedHyper);
  config.hyper = request.hyper;
  config.standardize = request.standardize;
  config.pca = request.pca;
  config.data = request.data_path;
  config.id = request.reading.id;
  config.truth = request.reading.truth;
  config.drop = request.reading.drop;
  config.weights = request.reading.weights;
  config.keep = request.reading.keep;
  config.na_values = request.reading.na_values;
  config.labels = request.reading.labels;
  config.labels_file = request.labels_file;
  return config;
}

Dataset read_data(const FitRequest& request) {
  ReadOptions reading = request.reading;
  if (reading.rules.overdispersed_family.empty())
    reading.rules.overdispersed_family = kind_rules().overdispersed_family;
  reading.plain_features = model_by_name(request.model).learns_labels();
  Dataset data = read_dataset(request.data_path, reading);
  if (reading.plain_features)
    take_bits_for_counts(data, request.reading.codebook != nullptr ? *request.reading.codebook : Codebook());
  return data;
}

std::size_t draws_of_longest(const RunFile& file, const RunConfig& config) {
  std::size_t longest = 0;
  for (std::size_t chain = 0; chain < config.chains; ++chain)
    longest = std::max(longest, file.draws_of(chain));
  return longest;
}

/// Parameters that the model is about to choose from the data.
std::vector<std::string> left_to_the_model(const ProblemSetup& setup) {
  std::vector<std::string> names;
  const ParameterValues& values = setup.problem.parameters;
  for (const Parameter& parameter : setup.model->parameters)
    if (parameter.type == Parameter::Type::real && values.has(parameter.name) &&
        values.is_word(parameter.name) && values.choice(parameter.name) == "auto")
      names.push_back(parameter.name);
  return names;
}

}  // namespace

double Fit::budget() const { return config_.is_until_trusted() ? budget_of(running_) : 0.0; }

void check_request(const FitRequest& request) {
  const ModelEntry& model = model_by_name(request.model);
  const bool learns = model.learns_labels();
  static_cast<void>(ParameterValues(model.parameters, request.parameters));
  model.check_given(request.parameters);
  if (model.runs_once())
    for (const auto& [name, value] : request.run_length)
      if (name != "seed")
        fail(ErrorCode::configuration, "--{} belongs to MCMC; {} {}, once", name, model.name,
             learns ? "is fitted" : "is greedy and makes one tree");
  if (learns && (request.family != "auto" || !request.family_settings.empty()))
    fail(ErrorCode::configuration,
         "--family and --set belong to mixtures; {} has --features and --label-model", model.name);
  static_cast<void>(config_of(request));
}

DrawTarget parse_draw_target(std::string_view text) {
  const bool is_additional = text.starts_with('+');
  const Setting number = parse_parameter(run_parameter("draws"), text.substr(is_additional ? 1 : 0));
  return {static_cast<std::size_t>(number.numbers[0]), is_additional};
}

Fit Fit::begin(FitRequest request) {
  check_request(request);
  Fit fit;
  RunConfig config = config_of(request);
  Dataset data = request.data ? *std::move(request.data) : read_data(request);
  fit.contents_ = contents_of(std::move(config), std::move(data));
  if (request.parts) fit.contents_->part.all_rows = request.parts->all_rows;
  fit.output_ = std::move(request.output);
  fit.overwrite_ = request.overwrite;
  fit.running_ = request.running;
  fit.running_.sketch = ParameterValues(run_parameters(), request.run_length).flag("quick");
  fit.plan(request.running.threads, request.on_choosing);
  if (request.parts) fit.keep_sample(*request.parts);
  std::vector<std::string>& notes = fit.contents_->config.notes;
  notes.insert(notes.end(), request.notes.begin(), request.notes.end());
  fit.config_ = fit.contents_->config;
  return fit;
}

Fit Fit::resume(const ResumeRequest& request) {
  Fit fit;
  fit.running_ = request.running;
  fit.file_.emplace(RunFile::open(request.path, RunFile::Access::write));
  const RunConfig config = fit.file_->config();
  if (config.merged)
    fail(ErrorCode::configuration, "{}: a merged run cannot be resumed; resume the runs it was made of",
         request.path);
  RunContents contents = fit.file_->contents();
  fit.rows_ = contents.rows();
  fit.columns_ = contents.table.columns.size();
  fit.setup_ = set_up_problem(contents);
  if (contents.part.all_rows != 0 && request.on_planned) request.on_planned(contents);
  fit.file_->set_limits(block_limits(*fit.setup_));
  // Whoever adds draws to damaged ones would notice at the end only. They are read, not kept.
  for (std::size_t chain = 0; chain < config.chains; ++chain)
    fit.file_->for_each_block(chain, true, [](const DrawBlock&) {});
  if (request.draws) {
    const std::string asked =
        fmt::format("--draws {}{}", request.draws->is_additional ? "+" : "", request.draws->number);
    if (fit.model().runs_once())
      fail(ErrorCode::configuration, "{}: {} has one fit and no draws", asked, config.model);
    const std::size_t had = config.is_until_trusted() ? draws_of_longest(*fit.file_, config) : config.draws;
    const std::size_t wanted = (request.draws->is_additional ? had : 0) + request.draws->number;
    if (wanted < had)
      fail(ErrorCode::usage, "{}: the run already has {} draws of each chain; draws are never removed", asked,
           had);
    if (config.is_until_trusted() || wanted > had) fit.file_->set_draws(wanted);
    contents.config = fit.file_->config();
  }
  fit.config_ = contents.config;
  fit.memory_bytes_ = estimate_bytes(*fit.setup_, fit.config_, contents.table);
  return fit;
}

Fit Fit::update(UpdateRequest request) {
  Fit fit;
  fit.contents_ = std::move(request.contents);
  fit.contents_->config.fix_length();
  fit.before_ = request.run;
  fit.output_ = std::move(request.output);
  fit.overwrite_ = request.overwrite;
  fit.running_ = request.running;
  const Settings settings = fit.contents_->config.parameters;
  fit.plan(request.running.threads, {});
  if (fit.model().method == Method::mcmc && fit.contents_->config.parameters != settings) {
    // Chains continue with the moves that they were begun with, however many rows there are now.
    fit.contents_->config.parameters = settings;
    fit.contents_->config.notes.clear();
    fit.setup_ = set_up_problem(*fit.contents_);
    fit.setup_->problem.stop = fit.running_.stop;
  }
  fit.contents_->config.notes.push_back(fmt::format("{} inserted into a run of {}",
                                                    counted(fit.rows_ - request.run->rows(), "row"),
                                                    counted(request.run->rows(), "row")));
  fit.config_ = fit.contents_->config;
  fit.why_from_scratch_ = cannot_continue(*request.run, *fit.contents_);
  return fit;
}

void Fit::plan(std::size_t threads, const std::function<void(const std::string&)>& on_choosing) {
  rows_ = contents_->rows();
  columns_ = contents_->table.columns.size();
  setup_ = set_up_problem(*contents_);
  setup_->problem.stop = running_.stop;
  if (!output_.empty()) RunFile::check_creatable(output_, overwrite_);
  if (on_choosing)
    for (const std::string& parameter : left_to_the_model(*setup_)) on_choosing(parameter);
  try {
    resolve_settings(*contents_, threads, setup_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::stopped) throw;
    fail(ErrorCode::stopped, "stopped while settings were being chosen; nothing was written");
  }
  if (is_stopped(running_)) fail(ErrorCode::stopped, "stopped before the first step; nothing was written");
  settle_run_length(contents_->config, *setup_);
  memory_bytes_ = estimate_bytes(*setup_, contents_->config, contents_->table);
}

void Fit::keep_sample(const FitRequest::Parts& parts) {
  contents_->effective = effective_config(*contents_, *setup_);
  contents_->table = parts.rows(*contents_);
  contents_->part.numbers = parts.numbers;
  contents_->source = parts.source;
  setup_ = set_up_problem(*contents_);
  setup_->problem.stop = running_.stop;
  memory_bytes_ = estimate_bytes(*setup_, contents_->config, contents_->table);
  parts.on_planned(*contents_);
}

bool Fit::is_complete() const {
  if (!file_) return false;
  if (config_.is_until_trusted()) return config_.end == kEndTrusted;
  for (std::size_t chain = 0; chain < config_.chains; ++chain)
    if (file_->status(chain).sweeps < config_.total_sweeps()) return false;
  return true;
}

void Fit::insert_rows(InsertOptions options) {
  if (!why_from_scratch_.empty()) return;
  options.threads = running_.threads;
  options.stop = running_.stop;
  states_ = coppice::insert_rows(*before_, *setup_, options);
  if (states_.empty())
    fail(ErrorCode::stopped,
         "stopped before all rows were inserted; {} is unchanged, and the update was discarded",
         before_->file().path());
}

void Fit::create_file() {
  contents_->effective = effective_config(*contents_, *setup_);
  if (output_.empty()) {
    file_.emplace(RunFile::create_unnamed(*contents_));
    if (!states_.empty()) file_->commit({}, states_, {});
  } else {
    file_.emplace(RunFile::create(output_, *contents_, overwrite_, {.checkpoints = states_}));
  }
  contents_.reset();  // the rows are encoded; the table is in the file
  states_.clear();
}

FitEnd Fit::run(FitObserver* observer) {
  if (!file_) create_file();
  if (is_complete()) {
    file_->finish();
    return FitEnd::finished;
  }
  FitOptions options = running_;
  if (observer != nullptr) options.observer = observer;
  setup_->problem.stop = options.stop;
  const FitEnd end = continue_run(*file_, *setup_, options);
  file_->finish();
  return end;
}

}  // namespace coppice
