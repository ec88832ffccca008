// coppice fit and resume: from a table to a run file.
#include <optional>
#include <utility>

#include "coppice/app/arguments.hpp"
#include "coppice/app/fit_words.hpp"
#include "coppice/app/output_files.hpp"
#include "coppice/app/preflight.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/app/ranks.hpp"
#include "coppice/app/running.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/file_parts.hpp"
#include "coppice/run/fit_service.hpp"

namespace coppice::app {

void RunFlags::add_to(CLI::App& command) {
  command.add_option("--threads", threads, "threads; 0: all cores [0]")->check(CLI::Range(0, 4096));
  command.add_option("--time-limit", time_limit,
                     "stop cleanly after this long (90s, 15m, 2h); resume continues [60s until trusted]");
}

double RunFlags::seconds() const {
  return time_limit.empty() ? 0.0 : about("--time-limit", [&] { return parse_duration(time_limit); });
}

FitOptions RunFlags::options(const InterruptGuard& guard) const {
  return {.threads = threads, .time_limit = seconds(), .stop = guard.flag()};
}

int run_to_completion(Fit& fit, const Context& context, AtTheEnd at_the_end) {
  const ModelEntry& model = fit.model();
  std::unique_ptr<FitObserver> progress = make_progress(context, fit);
  const FitEnd end = fit.run(progress.get());
  progress.reset();
  if (const std::string inexactness_note = model.inexactness_note(fit.setup().problem.parameters);
      !inexactness_note.empty())
    context.note(inexactness_note);
  const std::string& path = fit.file().path();
  if (end == FitEnd::budget_used && fit.is_sketch())
    context.note(
        fmt::format("this is a sketch; for an answer to rely on, continue with: coppice resume {}", path));
  else if (end == FitEnd::budget_used)
    context.note(
        fmt::format("{} are used and the run is not trusted yet; coppice summary {} says why, and whether "
                    "more time (coppice resume {} --time-limit 10m) can help",
                    duration_words(fit.budget()), path, path));
  if (end == FitEnd::finished || end == FitEnd::budget_used) {
    if (at_the_end == AtTheEnd::say_where)
      context.note(fmt::format("wrote {}; look at it with: coppice summary {}", path, path));
    return 0;
  }
  context.note(fmt::format("{}: {} so far is in {}; continue with: coppice resume {}",
                           end == FitEnd::interrupted ? "stopped" : "time limit reached",
                           model.learns_labels() ? "what was learned"
                           : model.is_greedy()   ? "the forest"
                                                 : "everything drawn",
                           path, path));
  return static_cast<int>(ErrorCode::stopped);
}

namespace {

struct FitArguments {
  std::string config, model, output;
  std::vector<std::string> data;  // one file, or several that are one table
  std::string why_model;          // of a model that was chosen here
  bool standardize = false;
  std::size_t pca = 0;
  bool overwrite = false;
  DataFlags reading;
  FamilyFlags modeling;
  ParameterFlags parameters;
  RunFlags running;
};

FitRequest request_of(const FitArguments& arguments, const ModelEntry& model) {
  const std::vector<Parameter>* tables[] = {&model.parameters, &run_parameters()};
  arguments.parameters.check_all_known(tables, model.name);
  FitRequest request;
  request.model = model.name;
  request.parameters = arguments.parameters.values(model.parameters);
  request.run_length = arguments.parameters.values(run_parameters());
  request.family = arguments.modeling.family;
  request.hyper = arguments.modeling.hyper_choice();
  request.family_settings = arguments.modeling.settings();
  request.standardize = arguments.standardize;
  request.pca = arguments.pca;
  request.data_path = arguments.data.front();
  if (arguments.data.size() > 1)
    request.data_path += fmt::format(" and {}", counted(arguments.data.size() - 1, "more file"));
  request.reading.id = arguments.reading.id;
  request.reading.weights = arguments.reading.weights;
  request.reading.truth = arguments.reading.truth;
  request.reading.drop = arguments.reading.drop;
  request.reading.keep = arguments.reading.keep;
  request.reading.na_values = arguments.reading.na_values;
  request.reading.labels = arguments.reading.labels;
  request.labels_file = arguments.reading.labels_file;
  request.output = arguments.output;
  request.overwrite = arguments.overwrite;
  return request;
}

/// How long the chains run, in words.
std::string length_words(const Fit& fit) {
  const RunConfig& config = fit.config();
  const std::string chains = counted(config.chains, "chain");
  if (fit.is_sketch())
    return fmt::format("a sketch by {}, {} or little more", chains, duration_words(fit.budget()));
  if (config.is_until_trusted())
    return fmt::format("{} until trusted, {} at most (--time-limit)", chains, duration_words(fit.budget()));
  return fmt::format("{} of {} + {} sweeps", chains, config.warmup, config.draws * config.thin);
}

/// What is about to be done, in one line.
std::string announcement(const Fit& fit) {
  const ModelEntry& model = fit.model();
  const bool learns = model.learns_labels();
  const std::string length =
      model.runs_once() ? (learns ? counted(fit.setup().labeled.labels.columns, "label") : "one greedy fit")
                        : length_words(fit);
  const Rows& rows = fit.setup().rows;
  const std::string weights = rows.has_copies ? fmt::format(" of weight {:.0f} in all", rows.copies()) : "";
  return fmt::format("{} on {}{}: {}; {}; about {} of memory", model.name, counted(fit.rows(), "row"),
                     weights, learns ? counted(fit.columns(), "feature") : fit.setup().plan.description(),
                     length, size_words(fit.memory_bytes()));
}

/// Fills in what was left out: the model, and the name of the run.
void complete(FitArguments& arguments) {
  std::vector<std::string>& data = arguments.data;
  const FitWords words =
      complete_fit_words({arguments.model, data.empty() ? "" : data.front(), arguments.output},
                         !(arguments.reading.labels.empty() && arguments.reading.labels_file.empty()));
  arguments.model = words.model;
  if (data.empty()) data = {words.data};
  arguments.output = words.output;
  arguments.why_model = words.why_model;
}

/// Of a process that does not drive: an error ends the whole job.
int serve(Ranks& ranks) {
  try {
    serve_run(ranks);
  } catch (const Error& error) {
    write_error_stream(fmt::format("error: {}\n", error.what()));
    ranks.abort(static_cast<int>(error.code()));
  } catch (const std::exception& error) {
    write_error_stream(fmt::format("error: {}\n", error.what()));
    ranks.abort(static_cast<int>(ErrorCode::bug));
  }
  return 0;
}

/// The threads or processes that work on a run.
class Workers {
 public:
  Workers(Ranks* ranks, std::size_t threads, const std::string& run) : threads_(threads) {
    if (ranks != nullptr) ranks_ = &ranks->engine(run);
  }
  /// Null: threads, one for each chain if there are several.
  Engine* engine() { return files_ ? &*files_ : ranks_; }
  /// From now on they read the rows from files.
  FileEngine& read_files(TableFiles files) {
    return files_.emplace(std::move(files), ranks_ != nullptr ? *ranks_ : threads_);
  }

 private:
  ThreadEngine threads_;
  Engine* ranks_ = nullptr;
  std::optional<FileEngine> files_;
};

/// Several files are planned from some of their rows; the others stay where they are.
void plan_files(const FitArguments& arguments, const DataFlags& reading, FitRequest& request,
                Workers& workers, std::vector<std::string>& first_lines) {
  const auto sampler = request.parameters.find("sampler");
  if (sampler == request.parameters.end() || sampler->second.text != "data-parallel")
    fail(ErrorCode::configuration,
         "{} and {} more: several files are one table for nrmm --sampler data-parallel only; put the rows "
         "into one "
         "file, or use that sampler",
         arguments.data.front(), arguments.data.size() - 1);
  Codebook book;
  const ReadOptions options = reading.options(book, false);
  const TableFiles files(arguments.data, options);
  request.data = files.sample(planning_rows(files.rows()), options);
  first_lines = coppice::app::first_lines(*request.data, arguments.data.front(), false);
  const std::size_t most =
      ParameterValues(model_by_name(request.model).parameters, request.parameters).integer("answer-rows");
  FitRequest::Parts parts;
  parts.all_rows = files.rows();
  parts.numbers = answer_rows(files.rows(), most == 0 ? files.rows() : most);
  parts.source = files.source();
  parts.rows = [files, numbers = parts.numbers](const RunContents& contents) {
    return apply(transform_from_json(contents.transform), files.rows_like(numbers, contents.input_codebook));
  };
  parts.on_planned = [&engine = workers.read_files(files)](const RunContents& contents) {
    engine.begin(contents);
  };
  request.parts = std::move(parts);
}

int fit(const FitArguments& arguments, const InterruptGuard& guard, Ranks* ranks, const Context& context) {
  // A configuration file may have named the data.
  std::vector<std::string> inputs = arguments.data;
  inputs.push_back(arguments.reading.labels_file);
  check_outputs({arguments.output}, inputs);
  arguments.running.seconds();  // throws now, not after the data were read
  const ModelEntry& model = model_by_name(arguments.model);
  FitRequest request = request_of(arguments, model);
  check_request(request);
  DataFlags reading = arguments.reading;
  reading.family_is_named = arguments.modeling.family != "auto" || !model.family.empty();
  std::vector<std::string> first_lines;
  Workers workers(ranks, arguments.running.threads, arguments.output);
  if (arguments.data.size() > 1)
    plan_files(arguments, reading, request, workers, first_lines);
  else
    request.data = reading.read(arguments.data.front(), first_lines, model.learns_labels());
  if (!arguments.why_model.empty()) first_lines.push_back(arguments.why_model);
  // Only now: before, a signal ends the program at once, also where it waits for the data.
  request.running = arguments.running.options(guard);
  request.running.engine = workers.engine();
  // What was assumed is said before anything takes long, but not before a mistake in the settings.
  const auto say_first_lines = [&] {
    for (const std::string& line : std::exchange(first_lines, {})) context.note(line);
  };
  request.on_choosing = [&](const std::string& parameter) {
    say_first_lines();
    context.note(fmt::format("choosing --{} from the data", parameter));
  };
  Fit fit = Fit::begin(std::move(request));
  say_first_lines();
  for (const std::string& note : fit.config().notes) context.note(note);
  context.note(announcement(fit));
  return run_to_completion(fit, context);
}

int fit(FitArguments& arguments, CLI::App& command, const Context& context) {
  const InterruptGuard guard;
  const std::unique_ptr<Ranks> ranks = Ranks::join();
  if (ranks && !ranks->drives()) return serve(*ranks);
  ConfigPlaces places;
  if (!arguments.config.empty()) places = apply_config_file(command, arguments.config);
  try {
    complete(arguments);
    return fit(arguments, guard, ranks.get(), context);
  } catch (const Error& error) {
    throw_with_place(error, places);
  }
}

}  // namespace

void add_fit(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand("fit", "fit a model to a table and write a run file");
  auto arguments = std::make_shared<FitArguments>();
  command->add_option("model", arguments->model, "model (coppice models lists them); may be left out");
  command->add_option(
      "data", arguments->data,
      "table: .csv .tsv .npy .svm .parquet .arrow, also .gz .zst; - is stdin; several files are "
      "one table for nrmm --sampler data-parallel");
  command->add_option("-o,--output", arguments->output,
                      "run file to write [the name of the data with .coppice, in the current folder]");
  command->add_option("--config", arguments->config,
                      "TOML file with any of these settings; flags override it");
  command->add_flag("--overwrite", arguments->overwrite, "replace an existing run file");
  arguments->reading.add_to(*command);
  arguments->modeling.add_to(*command);
  command
      ->add_flag("--standardize", arguments->standardize,
                 "scale real columns to mean 0 and standard deviation 1")
      ->group("Data");
  command
      ->add_option("--pca", arguments->pca, "replace the numeric columns by this many principal components")
      ->check(CLI::Range(0, 1'000'000))
      ->group("Data");
  arguments->parameters.add_to(*command, run_parameters(), "Run");
  for (const ModelEntry& model : all_models())
    if (context.shows_flags_of(model.name))
      arguments->parameters.add_to(*command, model.parameters, "Model " + model.name);
  arguments->running.add_to(*command);
  command->footer("coppice fit MODEL --help adds the flags of a model.");
  command->callback(
      [=, &context] { context.run = [=, &context] { return fit(*arguments, *command, context); }; });
}

void add_resume(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand("resume", "continue a run that was stopped, or draw more");
  auto path = std::make_shared<std::string>();
  auto draws = std::make_shared<std::string>();
  auto flags = std::make_shared<RunFlags>();
  command->add_option("run", *path, "run file")->required();
  command->add_option("--draws", *draws,
                      "+N: N additional draws in each chain; N: N draws in all; then the run ends");
  flags->add_to(*command);
  command->callback([=, &context] {
    context.run = [=, &context] {
      const InterruptGuard guard;
      const std::unique_ptr<Ranks> ranks = Ranks::join();
      if (ranks && !ranks->drives()) return serve(*ranks);
      flags->seconds();  // throws before the run is looked at
      ResumeRequest request{.path = *path};
      if (!draws->empty()) request.draws = parse_draw_target(*draws);
      request.running = flags->options(guard);
      Workers workers(ranks.get(), request.running.threads, *path);
      if (std::optional<TableFiles> files = files_of_run(*path)) {
        files->verify();
        request.on_planned = [&engine = workers.read_files(*std::move(files))](const RunContents& contents) {
          engine.begin(contents);
        };
      }
      request.running.engine = workers.engine();
      Fit fit = Fit::resume(request);
      if (fit.is_complete()) {
        fit.run();
        context.note(
            fmt::format("{}: nothing is left to do; look at it with: coppice summary {}", *path, *path));
        return 0;
      }
      if (fit.config().is_until_trusted()) context.note(fmt::format("{}: {}", *path, length_words(fit)));
      return run_to_completion(fit, context);
    };
  });
}

}  // namespace coppice::app
