// coppice update: takes new rows into a finished run.
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>

#include "coppice/app/arguments.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/app/running.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/load.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/insert_rows.hpp"

namespace coppice::app {
namespace {

struct UpdateArguments {
  std::string run, data, output, labels_file;
  std::vector<std::string> truth, labels;
  bool unlabeled = false;
  std::size_t batch = 0;
  std::optional<std::size_t> warmup;
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
        fmt::format("{} of {} new rows inserted", *std::min_element(done_.begin(), done_.end()), rows_));
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
  reading.labels_only = true;
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

/// Notes labels that the new rows do not have, and labels that the run does not know yet.
void note_labels(const SavedRun& old, const Table& labels, const std::string& data, const Context& context) {
  for (const Column& known : old.contents().labels.columns)
    if (labels.find(known.name) == nullptr)
      context.note(
          fmt::format("note: {} has no label '{}': it is unknown for the new rows", data, known.name));
  for (const Column& column : labels.columns)
    if (old.contents().labels.find(column.name) == nullptr)
      context.note(fmt::format("note: label '{}' is new", column.name));
}

RunContents updated_labeled_contents(const UpdateArguments& arguments, const SavedRun& old,
                                     const Context& context) {
  if (!arguments.truth.empty() || arguments.draws != 0 || arguments.warmup)
    fail(ErrorCode::configuration, "{} is a classifier: --truth, --draws and --warmup belong to clusterings",
         arguments.run);
  DataFlags flags;
  flags.id = old.config().id;
  flags.drop = old.config().drop;
  flags.truth = old.config().truth;
  flags.labels_file = arguments.labels_file;
  const bool as_in_the_fit = arguments.labels.empty() && arguments.labels_file.empty();
  flags.labels_may_be_absent = as_in_the_fit;
  flags.as_in_a_fit = true;
  if (arguments.unlabeled && !as_in_the_fit)
    fail(ErrorCode::usage, "--unlabeled says that no label of the new rows is known: leave out {}",
         arguments.labels.empty() ? "--labels-file" : "--labels");
  if (flags.labels_file.empty())
    flags.labels = arguments.labels.empty() ? old.config().labels : arguments.labels;
  Dataset more = flags.read(arguments.data, context, true);
  if (arguments.unlabeled) {
    more.labels.columns.clear();
  } else {
    if (more.labels.columns.empty())
      fail(ErrorCode::configuration,
           "{}: the file has none of the labels; name them with --labels COL,COL or --labels-file FILE, or "
           "say --unlabeled if they are unknown",
           arguments.data);
    for (const std::string& name : as_in_the_fit ? flags.labels : std::vector<std::string>())
      if (!name.ends_with('*') && more.labels.find(name) == nullptr)
        fail(ErrorCode::configuration, "{}: the file has no label '{}'; name the labels it has with --labels",
             arguments.data, name);
  }
  const bool is_sparse = format_of_name(arguments.data).format == Format::svmlight;
  if (!arguments.unlabeled && !is_sparse) note_labels(old, more.labels, arguments.data, context);
  RunContents contents =
      contents_with_labels(old, more, is_sparse ? AbsentCells::zero : AbsentCells::unknown);
  contents.config.data = fmt::format("{} + {}", contents.config.data, arguments.data);
  return contents;
}

RunContents updated_contents(const UpdateArguments& arguments, const SavedRun& old, const Context& context) {
  if (old.model().learns_labels()) return updated_labeled_contents(arguments, old, context);
  if (!arguments.labels.empty() || !arguments.labels_file.empty() || arguments.unlabeled)
    fail(ErrorCode::configuration,
         "{} learned no labels; --labels, --labels-file and --unlabeled belong to classifiers",
         arguments.run);
  const FileBytes bytes = load_file(arguments.data);
  const std::string name = arguments.data == "-" ? "stdin" : arguments.data;
  const Table more = old.read_new_rows_bytes(bytes.view(), name, old.config().id);
  RunContents contents = contents_with(old, more, read_truth(arguments, old, bytes.view(), name, context));
  contents.config.data = fmt::format("{} + {}", contents.config.data, arguments.data);
  contents.config.warmup = arguments.warmup.value_or(kUpdateWarmup);
  if (arguments.draws != 0) contents.config.draws = arguments.draws;
  return contents;
}

/// Takes the new rows in and says how long it took.
void insert_rows(Fit& fit, const UpdateArguments& arguments, std::size_t added, const Context& context) {
  const RunConfig& config = fit.config();
  InsertOptions insertion;
  insertion.batch = arguments.batch;
  InsertionNotes notes(context, config.chains, added);
  insertion.on_rows = std::ref(notes);
  const auto begin = std::chrono::steady_clock::now();
  fit.insert_rows(insertion);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::string next = fit.model().learns_labels()
                               ? "the linear classifiers"
                               : fmt::format("{} + {} sweeps of {}", config.warmup,
                                             config.draws * config.thin, counted(config.chains, "chain"));
  context.note(
      fmt::format("{} inserted in {}; now {}", counted(added, "row"), duration_words(seconds), next));
}

/// The longer run, beside the old one: its rows and the exit code.
struct Updated {
  std::size_t rows = 0;
  int result = 0;
};

Updated update_to(const std::string& output, const UpdateArguments& arguments, const InterruptGuard& guard,
                  const Context& context) {
  const SavedRun old(arguments.run);
  RunContents contents = updated_contents(arguments, old, context);
  const std::size_t added = contents.table.rows() - old.rows();
  Fit fit = Fit::update({.run = &old,
                         .contents = std::move(contents),
                         .output = output,
                         .running = arguments.running.options(guard)});
  for (const std::string& note : fit.config().notes) context.note(note);
  const std::string family = fit.setup().plan.description();
  if (family != old.setup().plan.description())
    context.note(
        fmt::format("the new rows change the family, which was {}; to keep it, fit with --family and --set",
                    old.setup().plan.description()));
  context.note(fmt::format("{} on {}: {}; about {} of memory", fit.model().name, counted(fit.rows(), "row"),
                           family, size_words(fit.memory_bytes())));
  if (fit.why_from_scratch().empty())
    insert_rows(fit, arguments, added, context);
  else
    context.note(
        fmt::format("{}: everything is learned again, from all {} rows", fit.why_from_scratch(), fit.rows()));
  const bool in_place = arguments.output.empty();
  return {fit.rows(),
          run_to_completion(fit, context, in_place ? AtTheEnd::say_nothing : AtTheEnd::say_where)};
}

int update(const UpdateArguments& arguments, const Context& context) {
  const InterruptGuard guard;
  arguments.running.seconds();  // throws now, not after the data were read
  // Without -o the run itself is replaced, but only when the new one is complete.
  const bool in_place = arguments.output.empty();
  const std::string output = in_place ? arguments.run + ".part" : arguments.output;
  if (in_place && std::filesystem::exists(output))
    fail(ErrorCode::cannot_write,
         "{} is left over from an unfinished update: continue with coppice resume {} and rename it to {}, or "
         "delete it",
         output, output, arguments.run);
  RunFile::check_creatable(output, false);
  const auto [rows, result] = update_to(output, arguments, guard, context);
  if (!in_place) return result;
  if (result != 0) {
    context.note(fmt::format("{} is unchanged; when {} is complete, rename it", arguments.run, output));
    return result;
  }
  RunFile::replace(output, arguments.run);
  context.note(fmt::format("{} now has {}; look at it with: coppice summary {}", arguments.run,
                           counted(rows, "row"), arguments.run));
  return 0;
}

}  // namespace

void add_update(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("update", "add new rows to a finished run, and draw from all rows");
  auto arguments = std::make_shared<UpdateArguments>();
  command->add_option("run", arguments->run, "run file")->required();
  command->add_option("data", arguments->data, "new rows, with the columns of the data; - is stdin")
      ->required();
  command->add_option("-o,--output", arguments->output,
                      "run file to write; without it RUN itself is replaced at the end");
  command->add_option("--truth", arguments->truth, "column of known labels in the new rows")
      ->allow_extra_args(false);
  command
      ->add_option("--labels", arguments->labels,
                   "columns of labels in the new rows, separated by commas [as in the fit]")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--labels-file", arguments->labels_file, "file with these columns, for the new rows");
  command->add_flag("--unlabeled", arguments->unlabeled, "no label of the new rows is known");
  command
      ->add_option("--batch", arguments->batch,
                   "rows inserted between two checks for Ctrl-C [1; classifiers: 1000]")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--warmup", arguments->warmup, "sweeps over all rows before draws are kept [100]")
      ->check(CLI::Range(0, 1'000'000'000));
  command->add_option("--draws", arguments->draws, "draws per chain [as many as the run has]")
      ->check(CLI::Range(0, 1'000'000'000));
  arguments->running.add_to(*command);
  command->callback([=, &context] { context.run = [=, &context] { return update(*arguments, context); }; });
}

}  // namespace coppice::app
