// coppice fit and resume: from a table to a run file.
#include <utility>

#include "coppice/app/arguments.hpp"
#include "coppice/app/output_files.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/app/running.hpp"
#include "coppice/base/error.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/fit_service.hpp"

namespace coppice::app {

void RunFlags::add_to(CLI::App& command) {
  command.add_option("--threads", threads, "threads; 0: all cores [0]")->check(CLI::Range(0, 4096));
  command.add_option("--time-limit", time_limit,
                     "stop cleanly after this long (90s, 15m, 2h); resume continues");
}

double RunFlags::seconds() const {
  return time_limit.empty() ? 0.0 : about("--time-limit", [&] { return parse_duration(time_limit); });
}

FitOptions RunFlags::options(const InterruptGuard& guard) const {
  return {.threads = threads, .time_limit = seconds(), .stop = guard.flag()};
}

int run_to_completion(Fit& fit, const Context& context, AtTheEnd at_the_end) {
  const ModelEntry& model = fit.model();
  std::unique_ptr<FitObserver> progress = make_progress(context, fit.config().chains, model.runs_once());
  const FitEnd end = fit.run(progress.get());
  progress.reset();
  if (const std::string inexactness_note = model.inexactness_note(fit.setup().problem.parameters);
      !inexactness_note.empty())
    context.note(inexactness_note);
  const std::string& path = fit.file().path();
  if (end == FitEnd::finished) {
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
  std::string config, model, data, output;
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
  request.data_path = arguments.data;
  request.reading.id = arguments.reading.id;
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

/// What is about to be done, in one line.
std::string announcement(const Fit& fit) {
  const ModelEntry& model = fit.model();
  const RunConfig& config = fit.config();
  const bool learns = model.learns_labels();
  const std::string length =
      model.runs_once() ? (learns ? counted(fit.setup().labeled.labels.columns, "label") : "one greedy fit")
                        : fmt::format("{} of {} + {} sweeps", counted(config.chains, "chain"), config.warmup,
                                      config.draws * config.thin);
  return fmt::format("{} on {} rows: {}; {}; about {} of memory", model.name, fit.rows(),
                     learns ? counted(fit.columns(), "feature") : fit.setup().plan.description(), length,
                     size_words(fit.memory_bytes()));
}

int fit(const FitArguments& arguments, const InterruptGuard& guard, const Context& context) {
  if (arguments.model.empty() || arguments.data.empty())
    fail(ErrorCode::usage,
         "coppice fit needs a model and a data file: coppice fit nrmm DATA.csv -o RUN.coppice");
  if (arguments.output.empty()) fail(ErrorCode::usage, "coppice fit needs -o RUN.coppice, the file to write");
  // A configuration file may have named the data.
  check_outputs({arguments.output}, {arguments.data, arguments.reading.labels_file});
  arguments.running.seconds();  // throws now, not after the data were read
  const ModelEntry& model = model_by_name(arguments.model);
  FitRequest request = request_of(arguments, model);
  check_request(request);
  DataFlags reading = arguments.reading;
  reading.family_is_named = arguments.modeling.family != "auto" || !model.family.empty();
  std::vector<std::string> first_lines;
  request.data = reading.read(arguments.data, first_lines, model.learns_labels());
  request.running = arguments.running.options(guard);
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
  ConfigPlaces places;
  if (!arguments.config.empty()) places = apply_config_file(command, arguments.config);
  try {
    return fit(arguments, guard, context);
  } catch (const Error& error) {
    throw_with_place(error, places);
  }
}

}  // namespace

void add_fit(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand("fit", "fit a model to a table and write a run file");
  auto arguments = std::make_shared<FitArguments>();
  command->add_option("model", arguments->model, "model (coppice models lists them)");
  command->add_option("data", arguments->data, "table: .csv .tsv .npy .svm, also .gz .zst; - is stdin");
  command->add_option("-o,--output", arguments->output, "run file to write");
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
  command->add_option("--draws", *draws, "+N: N additional draws in each chain; N: N draws in all");
  flags->add_to(*command);
  command->callback([=, &context] {
    context.run = [=, &context] {
      const InterruptGuard guard;
      flags->seconds();  // throws before the run is looked at
      ResumeRequest request{.path = *path};
      if (!draws->empty()) request.draws = parse_draw_target(*draws);
      request.running = flags->options(guard);
      Fit fit = Fit::resume(request);
      if (fit.is_complete()) {
        fit.run();
        context.note(
            fmt::format("{}: nothing is left to do; look at it with: coppice summary {}", *path, *path));
        return 0;
      }
      return run_to_completion(fit, context);
    };
  });
}

}  // namespace coppice::app
