// coppice fit, resume and update: from a table to a run file.
#include "coppice/run/fit.hpp"

#include <chrono>
#include <filesystem>
#include <mutex>

#include "coppice/app/arguments.hpp"
#include "coppice/app/interrupt.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/load.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/insert_rows.hpp"
#include "coppice/run/new_run.hpp"

namespace coppice::app {
namespace {

struct RunFlags {
  std::size_t threads = 0;
  std::string time_limit;

  void add_to(CLI::App& command) {
    command.add_option("--threads", threads, "threads; 0: all cores [0]")->check(CLI::Range(0, 4096));
    command.add_option("--time-limit", time_limit,
                       "stop cleanly after this long (90s, 15m, 2h); resume goes on");
  }
};

/// Runs the chains to their end or to a stop; says where things stand; 0 or 75.
int carry_on(RunFile& file, ProblemSetup& setup, const RunFlags& flags, const InterruptGuard& guard,
             const Context& context, bool says_where = true) {
  FitOptions options;
  options.threads = flags.threads;
  if (!flags.time_limit.empty()) options.time_limit = parse_duration(flags.time_limit);
  options.stop = guard.flag();
  setup.problem.stop = guard.flag();
  std::unique_ptr<FitObserver> progress =
      make_progress(context, file.config().chains, setup.model->greedy_steps != nullptr);
  options.observer = progress.get();
  const FitEnd end = continue_run(file, setup, options);
  progress.reset();
  file.finish();
  if (const std::string caveat = setup.model->caveat(setup.problem.parameters); !caveat.empty())
    context.note(caveat);
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

struct FitArguments {
  std::string config, model, data, output, family = "auto";
  std::vector<std::string> set;
  bool standardize = false;
  std::size_t pca = 0;
  bool overwrite = false;
  DataFlags reading;
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
  if (model.make_classifier != nullptr && (arguments.family != "auto" || !arguments.set.empty()))
    fail(ErrorCode::configuration,
         "--family and --set belong to mixtures; {} has --features and --label-model", model.name);
  set_run_length(config, arguments.parameters.values(run_parameters()));
  config.family = arguments.family;
  for (const std::string& assignment : arguments.set) parse_assignment(assignment, config.family_settings);
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

int fit(const FitArguments& arguments, const Context& context) {
  if (arguments.model.empty() || arguments.data.empty())
    fail(ErrorCode::usage,
         "coppice fit needs a model and a data file: coppice fit nrmm DATA.csv -o RUN.coppice");
  if (arguments.output.empty()) fail(ErrorCode::usage, "coppice fit needs -o RUN.coppice, the file to write");
  if (!arguments.running.time_limit.empty()) parse_duration(arguments.running.time_limit);
  const ModelEntry& model = model_by_name(arguments.model);
  RunConfig config = make_config(arguments, model);
  std::vector<Kind> kinds = kinds_asked_for(model, config.family);
  RunContents contents = contents_of(
      std::move(config),
      arguments.reading.read(arguments.data, context, model.make_classifier != nullptr, std::move(kinds)));
  std::unique_ptr<ProblemSetup> setup =
      set_up_problem(contents.config, contents.codebook, contents.table, contents.labels);
  RunFile::check_creatable(arguments.output, arguments.overwrite);
  for (const Parameter& parameter : model.parameters)
    if (parameter.type == Parameter::Type::real && setup->problem.parameters.has(parameter.name) &&
        setup->problem.parameters.is_word(parameter.name))
      context.note(fmt::format("choosing --{} from the data", parameter.name));
  const InterruptGuard guard;
  setup->problem.stop = guard.flag();
  try {
    resolve_settings(contents.config, contents.codebook, contents.table, arguments.running.threads, setup);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::stopped) throw;
    fail(ErrorCode::stopped, "stopped while settings were being chosen; nothing was written");
  }
  settle_run_length(contents.config, *setup);
  for (const std::string& note : contents.config.notes) context.note(note);
  const std::string length =
      model.greedy_steps != nullptr
          ? (model.make_classifier != nullptr ? fmt::format("{} labels", setup->labelled.labels.columns)
                                              : "one greedy fit")
          : fmt::format("{} chain{} of {} + {} sweeps", contents.config.chains,
                        contents.config.chains == 1 ? "" : "s", contents.config.warmup,
                        contents.config.draws * contents.config.thin);
  context.note(fmt::format("{} on {} rows: {}; {}; about {} of memory", model.name, contents.table.rows(),
                           model.make_classifier != nullptr
                               ? fmt::format("{} features", contents.table.columns.size())
                               : setup->plan.description(),
                           length, size_words(estimate_bytes(*setup, contents.config, contents.table))));
  RunFile file = RunFile::create(arguments.output, contents, arguments.overwrite);
  contents = {};  // the rows are encoded; the table is in the file
  return carry_on(file, *setup, arguments.running, guard, context);
}

int fit(FitArguments& arguments, CLI::App& command, const Context& context) {
  ConfigPlaces places;
  if (!arguments.config.empty()) places = apply_config_file(command, arguments.config);
  try {
    return fit(arguments, context);
  } catch (const Error& error) {
    throw_with_place(error, places);
  }
}

struct UpdateArguments {
  std::string run, data, output, labels_file;
  std::vector<std::string> truth, labels;
  bool unlabelled = false;
  std::size_t batch = 1;
  std::size_t warmup = 100;
  std::size_t draws = 0;
  RunFlags running;
};

/// One line every few seconds while rows come in.
class InsertionNotes {
 public:
  InsertionNotes(const Context& context, std::size_t chains, std::size_t rows)
      : context_(context), done_(chains, 0), rows_(rows) {}
  void operator()(std::size_t chain, std::size_t rows) {
    const std::lock_guard lock(mutex_);
    done_[chain] = rows;
    const auto now = std::chrono::steady_clock::now();
    if (context_.progress == "none" || context_.progress == "json" || now - last_ < std::chrono::seconds(5))
      return;
    last_ = now;
    context_.note(
        fmt::format("{} of {} new rows are in", *std::min_element(done_.begin(), done_.end()), rows_));
  }

 private:
  const Context& context_;
  std::mutex mutex_;
  std::vector<std::size_t> done_;
  std::size_t rows_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// The known labels of the new rows: of the columns that were asked for, else of those of the run that the
/// file has.
Table read_truth(const UpdateArguments& arguments, const SavedRun& run, std::string_view bytes,
                 const std::string& name, const Context& context) {
  for (const std::string& column : arguments.truth)
    if (run.contents().truth.find(column) == nullptr)
      fail(ErrorCode::configuration, "--truth {}: the run has no such column of known labels", column);
  ReadOptions reading;
  reading.id = run.config().id;
  if (!arguments.truth.empty()) {
    reading.truth = arguments.truth;
    return read_dataset_bytes(bytes, name, reading).truth;
  }
  for (const Column& column : run.contents().truth.columns) reading.truth.push_back(column.name);
  if (reading.truth.empty()) return {};
  try {
    return read_dataset_bytes(bytes, name, reading).truth;
  } catch (const Error& error) {
    context.note(fmt::format("the new rows have no known labels ({})", error.what()));
    return {};
  }
}

/// Rows a model that learns labels takes in at once, unless asked otherwise.
constexpr std::size_t kLabelledBatch = 1000;

RunContents updated_labelled_contents(const UpdateArguments& arguments, const SavedRun& old,
                                      const Context& context) {
  DataFlags flags;
  flags.id = old.config().id;
  flags.drop = old.config().drop;
  flags.truth = old.config().truth;
  flags.labels_file = arguments.labels_file;
  const bool as_in_the_fit = arguments.labels.empty() && arguments.labels_file.empty();
  flags.labels_may_be_absent = as_in_the_fit;
  if (arguments.unlabelled && !as_in_the_fit)
    fail(ErrorCode::usage, "--unlabelled says that no label of the new rows is known: leave out {}",
         arguments.labels.empty() ? "--labels-file" : "--labels");
  if (flags.labels_file.empty())
    flags.labels = arguments.labels.empty() ? old.config().labels : arguments.labels;
  Dataset more = flags.read(arguments.data, context, true);
  if (arguments.unlabelled) {
    more.labels.columns.clear();
  } else {
    if (more.labels.columns.empty())
      fail(ErrorCode::configuration,
           "{}: none of the labels is there; name them with --labels COL,COL or --labels-file FILE, or say "
           "--unlabelled if nobody knows them",
           arguments.data);
    for (const std::string& name : as_in_the_fit ? flags.labels : std::vector<std::string>())
      if (!name.ends_with('*') && more.labels.find(name) == nullptr)
        fail(ErrorCode::configuration, "{}: label '{}' is not there; --labels names those that are",
             arguments.data, name);
  }
  const bool is_sparse = format_of_name(arguments.data).format == Format::svmlight;
  RunContents contents = contents_with_labels(old, more, is_sparse);
  contents.config.data = fmt::format("{} + {}", contents.config.data, arguments.data);
  return contents;
}

RunContents updated_contents(const UpdateArguments& arguments, const SavedRun& old, const Context& context) {
  if (old.model().make_classifier != nullptr) return updated_labelled_contents(arguments, old, context);
  if (!arguments.labels.empty() || !arguments.labels_file.empty() || arguments.unlabelled)
    fail(ErrorCode::configuration,
         "{} learned no labels; --labels, --labels-file and --unlabelled belong to classifiers",
         arguments.run);
  const FileBytes bytes = load_file(arguments.data);
  const std::string name = arguments.data == "-" ? "stdin" : arguments.data;
  const Table more = old.read_new_rows_bytes(bytes.view(), name, old.config().id);
  RunContents contents = contents_with(old, more, read_truth(arguments, old, bytes.view(), name, context));
  contents.config.data = fmt::format("{} + {}", contents.config.data, arguments.data);
  contents.config.warmup = arguments.warmup;
  if (arguments.draws != 0) contents.config.draws = arguments.draws;
  return contents;
}

/// The states of the chains with the new rows in them; none if it was stopped.
std::vector<Checkpoint> inserted(const UpdateArguments& arguments, const SavedRun& old,
                                 const ProblemSetup& setup, const RunConfig& config,
                                 const InterruptGuard& guard, const Context& context) {
  const bool learns = setup.model->make_classifier != nullptr;
  const std::size_t added = setup.rows.size() - old.rows();
  InsertOptions insertion;
  insertion.batch = learns && arguments.batch == 1 ? kLabelledBatch : arguments.batch;
  insertion.threads = arguments.running.threads;
  InsertionNotes notes(context, config.chains, added);
  insertion.on_rows = std::ref(notes);
  insertion.stop = guard.flag();
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Checkpoint> states = insert_rows(old, setup, insertion);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (states.empty())
    context.note(
        fmt::format("stopped before all rows were in; {} is as it was, and nothing was kept of the update",
                    arguments.run));
  else if (learns)
    context.note(
        fmt::format("{} rows are in after {}; now the linear classifiers", added, duration_words(seconds)));
  else
    context.note(fmt::format("{} rows are in after {}; now {} + {} sweeps of {} chains", added,
                             duration_words(seconds), config.warmup, config.draws * config.thin,
                             config.chains));
  return states;
}

int update(const UpdateArguments& arguments, const Context& context) {
  if (!arguments.running.time_limit.empty()) parse_duration(arguments.running.time_limit);
  // Without -o the run itself is replaced, but only when the new one is complete.
  const bool in_place = arguments.output.empty();
  const std::string output = in_place ? arguments.run + ".part" : arguments.output;
  if (in_place && std::filesystem::exists(output))
    fail(ErrorCode::cannot_write,
         "{} is there from an update that was not finished: go on with coppice resume {} and rename it to "
         "{}, or "
         "delete it",
         output, output, arguments.run);
  RunFile::check_creatable(output, false);
  int result = 0;
  std::size_t rows = 0;
  {
    const SavedRun old(arguments.run);
    RunContents contents = updated_contents(arguments, old, context);
    const std::size_t added = contents.table.rows() - old.rows();
    rows = contents.table.rows();
    std::unique_ptr<ProblemSetup> setup =
        set_up_problem(contents.config, contents.codebook, contents.table, contents.labels);
    resolve_settings(contents.config, contents.codebook, contents.table, arguments.running.threads, setup);
    settle_run_length(contents.config, *setup);
    contents.config.notes.push_back(
        fmt::format("{} rows were taken into a run of {} rows", added, old.rows()));
    for (const std::string& note : contents.config.notes) context.note(note);
    if (setup->plan.description() != old.setup().plan.description())
      context.note(
          fmt::format("the new rows change the family, which was {}; give --family and --set to a fit to "
                      "keep it",
                      old.setup().plan.description()));
    context.note(fmt::format("{} on {} rows: {}; about {} of memory", setup->model->name, rows,
                             setup->plan.description(),
                             size_words(estimate_bytes(*setup, contents.config, contents.table))));
    const InterruptGuard guard;
    std::vector<Checkpoint> states;
    if (const std::string why = cannot_continue(old, contents); why.empty()) {
      states = inserted(arguments, old, *setup, contents.config, guard, context);
      if (states.empty()) return static_cast<int>(ErrorCode::stopped);
    } else {
      context.note(fmt::format("{}: everything is learned again, from all {} rows", why, rows));
    }
    RunFile file = RunFile::create(output, contents);
    if (!states.empty()) file.commit({}, states, {});
    contents = {};
    result = carry_on(file, *setup, arguments.running, guard, context, !in_place);
  }
  if (!in_place) return result;
  if (result != 0) {
    context.note(fmt::format("{} stays as it was; when {} is complete, rename it", arguments.run, output));
    return result;
  }
  RunFile::replace(output, arguments.run);
  context.note(fmt::format("{} now has {} rows; look at it with: coppice summary {}", arguments.run, rows,
                           arguments.run));
  return 0;
}

}  // namespace

void add_update(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("update", "take new rows into a finished run, and draw from all of them");
  auto arguments = std::make_shared<UpdateArguments>();
  command->add_option("run", arguments->run, "run file")->required();
  command->add_option("data", arguments->data, "new rows, with the columns of the data; - is stdin")
      ->required();
  command->add_option("-o,--output", arguments->output,
                      "run file to write; without it RUN itself is replaced when all is done");
  command->add_option("--truth", arguments->truth, "column of known labels in the new rows")
      ->allow_extra_args(false);
  command
      ->add_option("--labels", arguments->labels,
                   "columns of labels in the new rows, with commas [as in the fit]")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--labels-file", arguments->labels_file, "file of such columns, for the new rows");
  command->add_flag("--unlabelled", arguments->unlabelled, "no label of the new rows is known");
  command->add_option("--batch", arguments->batch, "rows that come in before Ctrl-C is heard [1]")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--warmup", arguments->warmup, "sweeps over all rows before draws are kept [100]")
      ->check(CLI::Range(0, 1'000'000'000));
  command->add_option("--draws", arguments->draws, "draws of each chain [as many as the run has]")
      ->check(CLI::Range(0, 1'000'000'000));
  arguments->running.add_to(*command);
  command->callback([=, &context] { context.run = [=, &context] { return update(*arguments, context); }; });
}

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
  command
      ->add_option("--family", arguments->family, "family of all columns; auto: by the kind of each [auto]")
      ->group("Data");
  command->add_option("--set", arguments->set, "hyper-parameter NAME=VALUE of the families (TOML values)")
      ->allow_extra_args(false)
      ->group("Data");
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
      if (!flags->time_limit.empty()) parse_duration(flags->time_limit);
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
      const RunContents contents = file.contents();
      const std::unique_ptr<ProblemSetup> setup =
          set_up_problem(contents.config, contents.codebook, contents.table, contents.labels);
      const InterruptGuard guard;
      return carry_on(file, *setup, *flags, guard, context);
    };
  });
}

}  // namespace coppice::app
