// coppice fit and resume: from a table to a run file.
#include "coppice/run/fit.hpp"

#include "coppice/app/arguments.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/app/running.hpp"
#include "coppice/base/error.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/new_run.hpp"

namespace coppice::app {

void RunFlags::add_to(CLI::App& command) {
  command.add_option("--threads", threads, "threads; 0: all cores [0]")->check(CLI::Range(0, 4096));
  command.add_option("--time-limit", time_limit,
                     "stop cleanly after this long (90s, 15m, 2h); resume goes on");
}

double RunFlags::seconds() const {
  return time_limit.empty() ? 0.0 : about("--time-limit", [&] { return parse_duration(time_limit); });
}

void choose_settings(RunContents& contents, std::unique_ptr<ProblemSetup>& setup, const RunFlags& flags,
                     const InterruptGuard& guard) {
  setup->problem.stop = guard.flag();
  try {
    resolve_settings(contents.config, contents.codebook, contents.table, flags.threads, setup);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::stopped) throw;
    fail(ErrorCode::stopped, "stopped while settings were being chosen; nothing was written");
  }
}

int run_to_completion(RunFile& file, ProblemSetup& setup, const RunFlags& flags, const InterruptGuard& guard,
                      const Context& context, bool says_where) {
  FitOptions options;
  options.threads = flags.threads;
  options.time_limit = flags.seconds();
  options.stop = guard.flag();
  setup.problem.stop = guard.flag();
  std::unique_ptr<FitObserver> progress =
      make_progress(context, file.config().chains, setup.model->greedy_steps != nullptr);
  options.observer = progress.get();
  const FitEnd end = continue_run(file, setup, options);
  progress.reset();
  file.finish();
  if (const std::string inexactness_note = setup.model->inexactness_note(setup.problem.parameters);
      !inexactness_note.empty())
    context.note(inexactness_note);
  if (end == FitEnd::finished) {
    if (says_where)
      context.note(fmt::format("wrote {}; look at it with: coppice summary {}", file.path(), file.path()));
    return 0;
  }
  context.note(fmt::format("{}: {} so far is in {}; go on with: coppice resume {}",
                           end == FitEnd::interrupted ? "stopped" : "time limit reached",
                           setup.model->make_classifier != nullptr ? "what was learned"
                           : setup.model->greedy_steps != nullptr  ? "the forest"
                                                                   : "everything drawn",
                           file.path(), file.path()));
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

/// A greedy model has no chains: refuses what only samplers have.
void refuse_sampler_flags(const FitArguments& arguments, const ModelEntry& model) {
  if (model.greedy_steps == nullptr) return;
  for (const auto& [name, value] : arguments.parameters.values(run_parameters()))
    if (name != "seed")
      fail(ErrorCode::configuration, "--{} belongs to samplers; {} {}, once", name, model.name,
           model.make_classifier != nullptr ? "is fitted" : "is greedy and makes one tree");
}

RunConfig make_config(const FitArguments& arguments, const ModelEntry& model) {
  RunConfig config;
  config.model = model.name;
  const std::vector<Parameter>* tables[] = {&model.parameters, &run_parameters()};
  arguments.parameters.check_all_known(tables, model.name);
  config.parameters = arguments.parameters.values(model.parameters);
  refuse_sampler_flags(arguments, model);
  if (model.make_classifier != nullptr &&
      (arguments.modeling.family != "auto" || !arguments.modeling.set.empty()))
    fail(ErrorCode::configuration,
         "--family and --set belong to mixtures; {} has --features and --label-model", model.name);
  set_run_length(config, arguments.parameters.values(run_parameters()));
  config.family = arguments.modeling.family;
  config.family_settings = arguments.modeling.settings();
  config.hyper = arguments.modeling.hyper;
  config.standardize = arguments.standardize;
  config.pca = arguments.pca;
  config.data = arguments.data;
  config.id = arguments.reading.id;
  config.truth = arguments.reading.truth;
  config.drop = arguments.reading.drop;
  config.labels = arguments.reading.labels;
  config.labels_file = arguments.reading.labels_file;
  return config;
}

int fit(const FitArguments& arguments, const InterruptGuard& guard, const Context& context) {
  if (arguments.model.empty() || arguments.data.empty())
    fail(ErrorCode::usage,
         "coppice fit needs a model and a data file: coppice fit nrmm DATA.csv -o RUN.coppice");
  if (arguments.output.empty()) fail(ErrorCode::usage, "coppice fit needs -o RUN.coppice, the file to write");
  arguments.running.seconds();  // throws now, not after the data were read
  const ModelEntry& model = model_by_name(arguments.model);
  RunContents contents =
      contents_of(make_config(arguments, model),
                  arguments.reading.read(arguments.data, context, model.make_classifier != nullptr));
  std::unique_ptr<ProblemSetup> setup =
      set_up_problem(contents.config, contents.codebook, contents.table, contents.labels);
  RunFile::check_creatable(arguments.output, arguments.overwrite);
  for (const Parameter& parameter : model.parameters)
    if (parameter.type == Parameter::Type::real && setup->problem.parameters.has(parameter.name) &&
        setup->problem.parameters.is_word(parameter.name) &&
        setup->problem.parameters.choice(parameter.name) == "auto")
      context.note(fmt::format("choosing --{} from the data", parameter.name));
  choose_settings(contents, setup, arguments.running, guard);
  settle_run_length(contents.config, *setup);
  for (const std::string& note : contents.config.notes) context.note(note);
  const std::string length =
      model.greedy_steps != nullptr
          ? (model.make_classifier != nullptr ? counted(setup->labeled.labels.columns, "label")
                                              : "one greedy fit")
          : fmt::format("{} chain{} of {} + {} sweeps", contents.config.chains,
                        contents.config.chains == 1 ? "" : "s", contents.config.warmup,
                        contents.config.draws * contents.config.thin);
  context.note(fmt::format("{} on {} rows: {}; {}; about {} of memory", model.name, contents.table.rows(),
                           model.make_classifier != nullptr
                               ? counted(contents.table.columns.size(), "feature")
                               : setup->plan.description(),
                           length, size_words(estimate_bytes(*setup, contents.config, contents.table))));
  RunFile file = RunFile::create(arguments.output, contents, arguments.overwrite);
  contents = {};  // the rows are encoded; the table is in the file
  return run_to_completion(file, *setup, arguments.running, guard, context);
}

bool is_complete(const RunFile& file) {
  const RunConfig config = file.config();
  for (std::size_t chain = 0; chain < config.chains; ++chain)
    if (file.status(chain).sweeps < config.total_sweeps()) return false;
  return true;
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
                      "TOML file with any of these settings; flags win over it");
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
  CLI::App* command = application.add_subcommand("resume", "go on with a run that was stopped, or draw more");
  auto path = std::make_shared<std::string>();
  auto draws = std::make_shared<std::string>();
  auto flags = std::make_shared<RunFlags>();
  command->add_option("run", *path, "run file")->required();
  command->add_option("--draws", *draws, "+N: so many more draws of each chain; N: so many in all");
  flags->add_to(*command);
  command->callback([=, &context] {
    context.run = [=, &context] {
      const InterruptGuard guard;
      flags->seconds();
      RunFile file = RunFile::open(*path, true);
      const RunConfig config = file.config();
      if (config.merged)
        fail(ErrorCode::configuration, "{}: a merged run cannot be resumed; resume the runs it was made of",
             *path);
      if (!draws->empty() && model_by_name(config.model).greedy_steps != nullptr)
        fail(ErrorCode::configuration, "--draws {}: {} has one fit and no draws", *draws, config.model);
      if (!draws->empty()) {
        const bool more = draws->starts_with('+');
        const Parameter& parameter = run_parameters()[2];
        const auto number = static_cast<std::size_t>(
            parse_parameter(parameter, std::string_view(*draws).substr(more ? 1 : 0)).numbers[0]);
        const std::size_t wanted = more ? config.draws + number : number;
        if (wanted < config.draws)
          fail(ErrorCode::usage,
               "--draws {}: the run already has {} draws of each chain; draws are never taken away", *draws,
               config.draws);
        file.set_draws(wanted);
      }
      if (is_complete(file)) {
        file.finish();
        context.note(
            fmt::format("{}: nothing is left to do; look at it with: coppice summary {}", *path, *path));
        return 0;
      }
      const RunContents contents = file.contents();
      const std::unique_ptr<ProblemSetup> setup =
          set_up_problem(contents.config, contents.codebook, contents.table, contents.labels);
      return run_to_completion(file, *setup, *flags, guard, context);
    };
  });
}

}  // namespace coppice::app
