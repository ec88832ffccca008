// coppice predict, impute and profile: new rows, missing cells, and what makes each cluster different.
#include "coppice/post/predict.hpp"

#include <cmath>

#include "coppice/app/answering.hpp"
#include "coppice/app/arguments.hpp"
#include "coppice/app/classify.hpp"
#include "coppice/app/table_answer.hpp"
#include "coppice/family/adopt_kinds.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/out/ask_json.hpp"
#include "coppice/out/csv.hpp"
#include "coppice/post/cluster_names.hpp"
#include "coppice/post/impute.hpp"
#include "coppice/post/new_columns.hpp"
#include "coppice/post/row_order.hpp"
#include "coppice/post/row_trees.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

struct PredictArguments {
  std::string path, data, output, id, codebook, labels_file;
  bool columns = false, given_labels = false;
  std::size_t threads = 0;
  SelectionFlags selecting;
};

double probability_of(const Prediction& p) {
  return p.cluster == kNewCluster ? p.new_probability : p.probabilities[static_cast<std::size_t>(p.cluster)];
}

int predict_paths(const PredictArguments& arguments, const Analysis& analysis, const Table& table,
                  const Context& context) {
  const SavedRun& run = analysis.run();
  const Rows rows = encode(run.setup().plan, table);
  std::vector<Labels> estimates;
  std::vector<std::vector<Prediction>> levels;
  for (std::size_t level = 1; level <= run.levels(); ++level) {
    estimates.push_back(analysis.consensus(level, arguments.selecting.selection()).labels);
    levels.push_back(predict(run, rows, estimates.back(), {0, arguments.threads, level}));
  }
  follow_paths(levels, estimates);
  if (context.json) {
    ordered_json list = ordered_json::array();
    for (std::size_t row = 0; row < table.rows(); ++row) {
      ordered_json path = ordered_json::array();
      for (std::size_t l = 0; l < levels.size(); ++l) {
        const Prediction& p = levels[l][row];
        path.push_back({{"level", l + 1},
                        {"cluster", p.cluster},
                        {"probability", probability_of(p)},
                        {"probabilities", p.probabilities},
                        {"new", p.new_probability},
                        {"entropy", p.entropy}});
      }
      list.push_back(
          {{"row", table.row_ids[row]}, {"path", path}, {"log_density", levels.back()[row].log_density}});
    }
    write_json(arguments.output, list);
    return 0;
  }
  std::string text;
  CsvWriter writer(&text);
  writer.protect_texts(context.csv_safe);
  writer.cell("row");
  for (std::size_t level = 1; level <= levels.size(); ++level)
    for (const char* name : {"cluster", "probability", "new"}) writer.cell(fmt::format("{}_{}", name, level));
  writer.cell("log_density").end_row();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    writer.cell(table.row_ids[row]);
    for (const std::vector<Prediction>& level : levels)
      writer.cell(level[row].cluster).cell(probability_of(level[row])).cell(level[row].new_probability);
    writer.cell(levels.back()[row].log_density).end_row();
  }
  writer.close();
  write_output(arguments.output, text);
  return 0;
}

/// Columns that were not in the fit, for the same rows.
int predict_columns(const PredictArguments& arguments, const Context& context) {
  const Analysis analysis = open_run(arguments.path, context, ShownRows::all);
  refuse_classifier(analysis, "probabilities of new columns");
  const SavedRun& run = analysis.run();
  Codebook book;
  ReadOptions options;
  options.id = arguments.id.empty() ? run.config().id : arguments.id;
  options.leave_out = false;
  options.rules = kind_rules();
  if (!arguments.codebook.empty()) {
    book = parse_codebook(read_text(arguments.codebook), arguments.codebook);
    options.codebook = &book;
  }
  Dataset data = read_dataset(arguments.data, options);
  for (const std::string& remark : data.notes) context.note("note: " + remark);
  adopt_kinds(data.table, data.codebook, "auto");
  const Table table = in_order_of(data.table, run.table().row_ids, arguments.data);
  note_caveat(analysis, context);
  const std::vector<NewColumnAnswer> answers =
      score_new_columns(run, table, data.codebook, arguments.threads);
  if (context.json) {
    ordered_json list = ordered_json::array();
    for (std::size_t c = 0; c < answers.size(); ++c)
      list.push_back({{"column", table.columns[c].name},
                      {"log_density", answers[c].log_density},
                      {"new_view", answers[c].new_view}});
    write_json(arguments.output, list);
    return 0;
  }
  std::string text;
  CsvWriter writer(&text);
  writer.protect_texts(context.csv_safe);
  writer.cell("column").cell("log_density").cell("new_view").end_row();
  for (std::size_t c = 0; c < answers.size(); ++c)
    writer.cell(table.columns[c].name).cell(answers[c].log_density).cell(answers[c].new_view).end_row();
  writer.close();
  write_output(arguments.output, text);
  return 0;
}

int predict_rows(const PredictArguments& arguments, const Context& context) {
  if (arguments.columns) return predict_columns(arguments, context);
  if (!arguments.codebook.empty()) fail(ErrorCode::usage, "--codebook belongs to --columns");
  const Analysis analysis = open_run(arguments.path, context, ShownRows::all);
  if (analysis.is_classifier())
    return predict_labels(analysis,
                          {arguments.data, arguments.id, arguments.labels_file, arguments.output,
                           arguments.given_labels, arguments.threads},
                          context);
  if (arguments.given_labels || !arguments.labels_file.empty())
    fail(ErrorCode::usage,
         "the run learned no labels: --given-labels and --labels-file belong to classifiers");
  const SavedRun& run = analysis.run();
  const Table table = run.read_new_rows(arguments.data, arguments.id);
  note_caveat(analysis, context);
  if (run.levels() > 1) return predict_paths(arguments, analysis, table, context);
  const Consensus estimate = analysis.consensus(1, arguments.selecting.selection());
  const std::vector<Prediction> predictions =
      predict(run, encode(run.setup().plan, table), estimate.labels, {0, arguments.threads, 1});
  if (context.json) {
    ordered_json list = ordered_json::array();
    for (std::size_t row = 0; row < predictions.size(); ++row) {
      const Prediction& p = predictions[row];
      list.push_back({{"row", table.row_ids[row]},
                      {"cluster", p.cluster},
                      {"probabilities", p.probabilities},
                      {"new", p.new_probability},
                      {"log_density", p.log_density},
                      {"entropy", p.entropy}});
    }
    write_json(arguments.output, list);
    return 0;
  }
  std::string text;
  CsvWriter writer(&text);
  writer.protect_texts(context.csv_safe);
  writer.cell("row").cell("cluster").cell("probability").cell("log_density").cell("entropy");
  for (std::size_t group = 0; group < estimate.clusters; ++group) writer.cell(fmt::format("p{}", group));
  writer.cell("new").end_row();
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    const Prediction& p = predictions[row];
    writer.cell(table.row_ids[row]).cell(p.cluster).cell(probability_of(p));
    writer.cell(p.log_density).cell(p.entropy);
    for (const double probability : p.probabilities) writer.cell(probability);
    writer.cell(p.new_probability).end_row();
  }
  writer.close();
  write_output(arguments.output, text);
  return 0;
}

struct ImputeArguments {
  std::string path, data, output, id;
  bool completed = false;
};

int impute_run(const ImputeArguments& arguments, const Context& context) {
  const std::string& output = arguments.output;
  const Analysis analysis = open_run(arguments.path, context, ShownRows::all);
  refuse_classifier(analysis, "predictions of missing cells");
  const SavedRun& run = analysis.run();
  note_caveat(analysis, context);
  if (!arguments.id.empty() && arguments.data.empty())
    fail(ErrorCode::usage, "--id belongs to a table of new rows");
  const Imputation imputation =
      arguments.data.empty() ? impute(run) : impute(run, run.read_new_rows(arguments.data, arguments.id));
  const Table& table = imputation.completed;
  if (imputation.cells.empty())
    context.note(fmt::format("note: {} no missing cells",
                             arguments.data.empty() ? "the data have" : "the new rows have"));
  if (arguments.completed) {
    write_table_answer(output, table, context);
    return 0;
  }
  if (context.json) {
    ordered_json list = ordered_json::array();
    for (const ImputedCell& cell : imputation.cells) {
      const Column& column = table.columns[cell.column];
      list.push_back({{"row", table.row_ids[cell.row]},
                      {"column", column.name},
                      {"mean", number_json(column, cell.mean)},
                      {"sd", cell.sd},
                      {"median", number_json(column, cell.median)},
                      {"low", number_json(column, cell.low)},
                      {"high", number_json(column, cell.high)},
                      {"mode", cell.level},
                      {"probability", cell.probability},
                      {"probabilities", cell.probabilities}});
    }
    write_json(output, list);
    return 0;
  }
  std::string text;
  CsvWriter writer(&text);
  writer.protect_texts(context.csv_safe);
  for (const char* name : {"row", "column", "mean", "sd", "low", "high", "mode", "probability", "median"})
    writer.cell(name);
  writer.end_row();
  for (const ImputedCell& cell : imputation.cells) {
    const Column& column = table.columns[cell.column];
    const auto add_number = [&](double value) {
      if (column.dates)
        writer.cell(column.number_text(value));
      else
        writer.cell(value);
    };
    writer.cell(table.row_ids[cell.row]).cell(column.name);
    add_number(cell.mean);
    writer.cell(cell.sd);
    add_number(cell.low);
    add_number(cell.high);
    writer.cell(cell.level).cell(cell.probability);
    add_number(cell.median);
    writer.end_row();
  }
  writer.close();
  write_output(output, text);
  return 0;
}

struct ProfileArguments {
  std::string path;
  std::size_t level = 1, traits = 5, ambiguous = 8;
  SelectionFlags selecting;
};

std::vector<std::string> names_of(std::span<const std::uint32_t> rows, const std::vector<std::string>& ids) {
  std::vector<std::string> names;
  for (const std::uint32_t row : rows) names.push_back(ids[row]);
  return names;
}

/// Rows with less chance to be elsewhere are not called ambiguous_rows.
constexpr double kLeastRival = 0.01;

int profile(const ProfileArguments& arguments, const Context& context) {
  const Analysis analysis = open_run(arguments.path, context, ShownRows::all);
  const SavedRun& run = analysis.run();
  if (analysis.is_classifier()) {
    if (context.json)
      write_json("", {{"clusters", patterns_json(run, arguments.traits)}});
    else
      write_text("", patterns_text(run, arguments.traits, context));
    return 0;
  }
  const Consensus estimate = analysis.consensus(arguments.level, arguments.selecting.selection());
  const std::vector<ClusterProfile> profiles =
      profile_level(run, arguments.level, estimate, arguments.traits);
  const std::vector<AmbiguousRow> ambiguous_rows = most_ambiguous(
      analysis.is_greedy() ? tree_membership(analysis.row_tree(), estimate.labels)
                           : membership(run.labels(arguments.level, 20'000'000), estimate.labels),
      arguments.ambiguous);
  const std::vector<std::string>& ids = run.table().row_ids;
  if (context.json) {
    ordered_json clusters = ordered_json::array();
    for (const ClusterProfile& entry : profiles) {
      ordered_json traits = ordered_json::array();
      for (const Trait& trait : entry.traits) traits.push_back(to_json(trait));
      clusters.push_back({{"cluster", entry.cluster},
                          {"size", entry.size},
                          {"confidence", entry.confidence},
                          {"name", entry.name},
                          {"described_as", entry.words},
                          {"traits", traits},
                          {"exemplars", names_of(entry.exemplars, ids)},
                          {"outliers", names_of(entry.outliers, ids)}});
    }
    ordered_json rows = ordered_json::array();
    for (const AmbiguousRow& row : ambiguous_rows)
      rows.push_back({{"row", ids[row.row]},
                      {"cluster", row.cluster},
                      {"probability", row.probability},
                      {"rival", row.rival},
                      {"rival_probability", row.rival_probability}});
    ordered_json answer{{"level", arguments.level}, {"clusters", clusters}, {"ambiguous", rows}};
    add_exactness(analysis, answer);
    write_json("", answer);
    return 0;
  }
  std::string text = caveat_line(analysis, context);
  for (const ClusterProfile& entry : profiles) {
    text += context.bold(fmt::format("Cluster {}{}", entry.cluster,
                                     entry.name == entry.words ? "" : fmt::format(", {}", entry.name))) +
            fmt::format(" ({} row{}, confidence {:.0f} %)\n", entry.size, entry.size == 1 ? "" : "s",
                        100.0 * entry.confidence);
    for (const Trait& trait : entry.traits) text += fmt::format("  {}\n", trait.words);
    text += context.dim(fmt::format(
        "  typical: {}{}\n", fmt::join(names_of(entry.exemplars, ids), ", "),
        entry.outliers.empty()
            ? ""
            : fmt::format("; least typical: {}", fmt::join(names_of(entry.outliers, ids), ", "))));
  }
  std::string elsewhere;
  for (const AmbiguousRow& row : ambiguous_rows) {
    if (row.rival_probability < kLeastRival) continue;
    elsewhere += fmt::format("  {}: cluster {} ({:.0f} %), {} ({:.0f} %)\n", ids[row.row], row.cluster,
                             100.0 * row.probability,
                             row.rival == kNewCluster ? "on its own" : fmt::format("cluster {}", row.rival),
                             100.0 * row.rival_probability);
  }
  if (!elsewhere.empty()) text += context.bold("\nRows that could belong elsewhere\n") + elsewhere;
  write_text("", text);
  return 0;
}

}  // namespace

void add_predict(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand(
      "predict", "cluster probabilities and density of new rows; density of new columns");
  auto arguments = std::make_shared<PredictArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command
      ->add_option("data", arguments->data,
                   "table of new rows with the columns of the fit; with --columns: new columns for its rows")
      ->required();
  command->add_flag("--columns", arguments->columns,
                    "the table has new columns: score their cells given the clusters of the rows");
  command->add_option("--codebook", arguments->codebook,
                      "TOML file with kinds, families and hyper-parameters of new columns");
  command->add_flag("--given-labels", arguments->given_labels,
                    "for a classifier: labels given in the table are known, empty cells are predicted");
  command->add_option("--labels-file", arguments->labels_file,
                      "file of the known labels, if not in the table");
  command->add_option("-o,--output", arguments->output, "CSV file to write [stdout]");
  command->add_option("--id", arguments->id, "column of row names [as in the fit, if it is there]");
  command->add_option("--threads", arguments->threads, "threads; 0: all cores [0]");
  arguments->selecting.add_to(*command);
  command->callback(
      [=, &context] { context.run = [=, &context] { return predict_rows(*arguments, context); }; });
}

void add_impute(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand("impute", "imputed values with uncertainty");
  auto arguments = std::make_shared<ImputeArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option("data", arguments->data,
                      "table of new rows: impute their missing cells given the others [the data of "
                      "the run]");
  command->add_option("-o,--output", arguments->output, "CSV file to write [stdout]");
  command->add_option("--id", arguments->id, "column of row names of the new rows [as in the fit]");
  command->add_flag("--completed", arguments->completed,
                    "write the whole table with missing cells filled in instead of a list of cells");
  command->callback(
      [=, &context] { context.run = [=, &context] { return impute_run(*arguments, context); }; });
}

void add_profile(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand(
      "profile", "what makes each cluster different, and which rows are ambiguous");
  auto arguments = std::make_shared<ProfileArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option("--traits", arguments->traits, "traits to name for each cluster; 0: all [5]");
  command->add_option("--ambiguous", arguments->ambiguous, "ambiguous rows to list [8]");
  add_level_option(*command, arguments->level);
  arguments->selecting.add_to(*command);
  command->callback([=, &context] { context.run = [=, &context] { return profile(*arguments, context); }; });
}

}  // namespace coppice::app
