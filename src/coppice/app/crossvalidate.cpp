// coppice crossvalidate: how well models predict what they have not seen, fold after fold.
#include "coppice/post/crossvalidate.hpp"

#include <fmt/ranges.h>

#include "coppice/app/arguments.hpp"
#include "coppice/app/fold_table.hpp"
#include "coppice/app/interrupt.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/model/registry.hpp"

namespace coppice::app {
namespace {

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

/// The models with their own settings over those that were given to all.
std::vector<Contender> contenders_of(const CrossvalidateArguments& arguments) {
  std::vector<Contender> contenders;
  std::vector<const std::vector<Parameter>*> known{&run_parameters()};
  for (const std::string& text : arguments.models) {
    Contender contender = parse_contender(text);
    if (contender.model != nullptr) {
      Settings parameters = arguments.parameters.values(contender.model->parameters);
      for (const auto& [name, value] : contender.parameters) parameters.insert_or_assign(name, value);
      contender.parameters = std::move(parameters);
      known.push_back(&contender.model->parameters);
    }
    contenders.push_back(std::move(contender));
  }
  arguments.parameters.check_all_known(known, fmt::format("{}", fmt::join(arguments.models, ", ")));
  return contenders;
}

int crossvalidate(const CrossvalidateArguments& arguments, const Context& context) {
  const InterruptGuard guard;
  CrossvalidationRequest request;
  request.contenders = contenders_of(arguments);
  request.run_length = arguments.parameters.values(run_parameters());
  request.family = arguments.modeling.family;
  request.family_settings = arguments.modeling.settings();
  request.hyper = arguments.modeling.hyper_choice();
  request.folds = arguments.folds;
  request.most_folds = arguments.most_folds;
  request.threads = arguments.threads;
  DataFlags reading = arguments.reading;
  reading.family_is_named = arguments.modeling.family != "auto";
  request.data = reading.read(arguments.data, context, predict_labels(request.contenders));
  request.stop = guard.flag();
  request.on_result = [&](const Crossvalidation& answer, const FoldResult& result) {
    context.note(fmt::format("fold {} of {}, {}: {} {:.4f} over {} {}, fitted in {}", result.fold + 1,
                             answer.folds_wanted, result.contender, answer.figures.front().heading,
                             result.scores.figures.front(), result.scores.held_out, answer.unit,
                             duration_words(result.scores.figures[answer.figure("fit_seconds")])));
  };
  if (context.stderr_is_terminal())
    request.make_observer = [&](const Fit& fit) { return make_progress(context, fit); };
  return write_folds(coppice::crossvalidate(request), arguments.output, context);
}

std::string label_contender_names() {
  std::vector<std::string> names = models_that(&ModelEntry::learns_labels);
  for (const ModelEntry& model : all_models())
    for (const LabelBaseline& baseline : model.label_baselines) names.push_back(baseline.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void add_crossvalidate(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand(
      "crossvalidate", "hold out cells of a table and score how well models predict them");
  auto arguments = std::make_shared<CrossvalidateArguments>();
  command->add_option("data", arguments->data, "table: .csv .tsv .npy .svm, also .gz .zst; - is stdin")
      ->required();
  command
      ->add_option("--models", arguments->models,
                   "models, separated by commas: NAME, NAME-FLAG (bhc-randomized), or "
                   "NAME:SETTING=VALUE:...; with labels " +
                       label_contender_names())
      ->delimiter(',')
      ->required();
  command->add_option("--folds", arguments->folds, "folds into which the observed cells are dealt [10]")
      ->check(CLI::Range(2, 1'000'000));
  command->add_option("--most-folds", arguments->most_folds, "use only the first N folds; 0: all [0]");
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
