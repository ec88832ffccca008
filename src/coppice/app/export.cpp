// coppice export: draws and answers in other programs' formats.
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <iostream>

#include "coppice/app/answering.hpp"
#include "coppice/app/classify.hpp"
#include "coppice/base/error.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/out/csv.hpp"
#include "coppice/out/inference_data.hpp"
#include "coppice/out/npy.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/linkage.hpp"
#include "coppice/post/row_trees.hpp"
#include "coppice/post/run_tree.hpp"
#include "coppice/post/views.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

struct ExportArguments {
  std::string path, what, to = "csv", output;
  std::size_t level = 0;    // 0: all, where that makes sense
  std::size_t view = 0;     // 0: the one with most columns
  bool of_columns = false;  // the linkage of the columns
  SelectionFlags selecting;
};

/// Writes to -o or stdout through one writer.
std::unique_ptr<CsvWriter> csv_to(const std::string& output) {
  if (output.empty() || output == "-") return std::make_unique<CsvWriter>(std::cout);
  return std::make_unique<CsvWriter>(std::filesystem::path(output));
}

template <typename Value>
void write_array(const ExportArguments& arguments, std::span<const Value> values,
                 const std::vector<std::size_t>& shape) {
  if (arguments.output.empty() || arguments.output == "-")
    write_output("", npy_bytes(values, shape));
  else
    write_npy(arguments.output, values, shape);
}

std::vector<std::size_t> wanted_levels(const ExportArguments& arguments, const SavedRun& run) {
  if (arguments.level != 0) {
    run.check_level(arguments.level);
    return {arguments.level};
  }
  std::vector<std::size_t> levels;
  for (std::size_t level = 1; level <= run.levels(); ++level) levels.push_back(level);
  return levels;
}

void export_labels(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  const std::vector<std::size_t> levels = wanted_levels(arguments, run);
  const std::size_t rows = run.rows();
  if (arguments.to == "csv") {
    const std::unique_ptr<CsvWriter> writer = csv_to(arguments.output);
    writer->cell("chain").cell("draw").cell("level");
    for (const std::string& id : run.table().row_ids) writer->cell(id);
    writer->end_row();
    run.for_each_draw(0, [&](const SavedDraw& saved) {
      for (const std::size_t level : levels) {
        writer->cell(saved.chain)
            .cell(saved.draw)
            .cell(level)
            .cells(saved.labels.subspan((level - 1) * rows, rows));
        writer->end_row();
      }
    });
    writer->close();
  } else if (arguments.to == "npy") {
    std::vector<std::int32_t> values;
    run.for_each_draw(0, [&](const SavedDraw& saved) {
      for (const std::size_t level : levels)
        values.insert(values.end(), saved.labels.begin() + static_cast<std::ptrdiff_t>((level - 1) * rows),
                      saved.labels.begin() + static_cast<std::ptrdiff_t>(level * rows));
    });
    std::vector<std::size_t> shape{run.config().chains, run.draws_per_chain(), rows};
    if (levels.size() > 1) shape.insert(shape.begin() + 2, levels.size());
    write_array<std::int32_t>(arguments, values, shape);
  } else {
    ordered_json draws = ordered_json::array();
    run.for_each_draw(0, [&](const SavedDraw& saved) {
      for (const std::size_t level : levels) {
        const auto part = saved.labels.subspan((level - 1) * rows, rows);
        draws.push_back({{"chain", saved.chain},
                         {"draw", saved.draw},
                         {"level", level},
                         {"labels", Labels(part.begin(), part.end())}});
      }
    });
    write_json(arguments.output, {{"rows", run.table().row_ids}, {"draws", draws}});
  }
}

void export_trace(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  const std::vector<std::string>& names = run.trace_names();
  const std::size_t chains = run.config().chains;
  const std::size_t draws = run.draws_per_chain();
  if (arguments.to == "csv") {
    const std::unique_ptr<CsvWriter> writer = csv_to(arguments.output);
    writer->cell("chain").cell("draw");
    for (const std::string& name : names) writer->cell(name);
    writer->end_row();
    for (std::size_t chain = 0; chain < chains; ++chain)
      for (std::size_t draw = 0; draw < draws; ++draw) {
        writer->cell(chain).cell(draw);
        for (std::size_t trace = 0; trace < names.size(); ++trace)
          writer->cell(run.traces()[trace][chain][draw]);
        writer->end_row();
      }
    writer->close();
  } else if (arguments.to == "npy") {
    std::vector<double> values;
    for (std::size_t chain = 0; chain < chains; ++chain)
      for (std::size_t draw = 0; draw < draws; ++draw)
        for (std::size_t trace = 0; trace < names.size(); ++trace)
          values.push_back(run.traces()[trace][chain][draw]);
    write_array<double>(arguments, values, {chains, draws, names.size()});
  } else {
    ordered_json answer = ordered_json::object();
    for (std::size_t trace = 0; trace < names.size(); ++trace) answer[names[trace]] = run.traces()[trace];
    write_json(arguments.output, answer);
  }
}

/// A square matrix over named rows or columns.
void write_square(const ExportArguments& arguments, std::span<const double> matrix, const char* things,
                  const std::vector<std::string>& names) {
  const std::size_t count = names.size();
  if (arguments.to == "csv") {
    const std::unique_ptr<CsvWriter> writer = csv_to(arguments.output);
    writer->cell(std::string_view(things).substr(0, std::string_view(things).size() - 1));
    for (const std::string& name : names) writer->cell(name);
    writer->end_row();
    for (std::size_t i = 0; i < count; ++i) {
      writer->cell(names[i]).cells(matrix.subspan(i * count, count));
      writer->end_row();
    }
    writer->close();
  } else if (arguments.to == "npy") {
    write_array<double>(arguments, matrix, {count, count});
  } else {
    ordered_json lines = ordered_json::array();
    for (std::size_t i = 0; i < count; ++i) {
      const auto line = matrix.subspan(i * count, count);
      lines.push_back(std::vector<double>(line.begin(), line.end()));
    }
    write_json(arguments.output, {{things, names}, {arguments.what, lines}});
  }
}

void export_columns(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  write_square(arguments, column_coassignment(run), "columns", column_names(run));
}

void export_matrix(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  constexpr std::size_t kMostRows = 20'000;
  if (run.rows() > kMostRows)
    fail(ErrorCode::configuration,
         "a co-clustering matrix of {} rows is more than {} x {}: export labels instead", run.rows(),
         kMostRows, kMostRows);
  const std::size_t level = std::max<std::size_t>(arguments.level, 1);
  run.check_level(level);
  const std::vector<double> matrix =
      analysis.is_greedy() ? TreePosterior(analysis.row_tree_of_view(arguments.view)).coclustering()
                           : coclustering(run.labels(level), 0);
  write_square(arguments, matrix, "rows", run.table().row_ids);
}

/// The linkage of a greedy tree with the log odds of its merges; none for other trees.
TreeLinkage linkage_of_run(const ExportArguments& arguments, const Analysis& analysis) {
  if (!analysis.is_greedy()) return {run_tree(analysis.run(), arguments.level), {}, {}};
  std::vector<TreeLinkage> trees = tree_linkages(
      arguments.of_columns ? analysis.cross_tree().columns : analysis.row_tree_of_view(arguments.view));
  if (trees.size() > 1)
    fail(ErrorCode::configuration,
         "the fit is not finished: it has {} trees, but a linkage describes one; continue with: coppice "
         "resume {}",
         trees.size(), arguments.path);
  return std::move(trees.front());
}

void export_linkage(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  const TreeLinkage tree = linkage_of_run(arguments, analysis);
  const std::vector<double> values = to_scipy(tree.linkage);
  if (arguments.to == "npy") {
    write_array<double>(arguments, values, {values.size() / 4, 4});
  } else if (arguments.to == "csv") {
    const std::unique_ptr<CsvWriter> writer = csv_to(arguments.output);
    for (const char* name : {"left", "right", "height", "size"}) writer->cell(name);
    if (!tree.log_odds.empty()) writer->cell("log_odds");
    writer->end_row();
    for (std::size_t i = 0; i < values.size(); i += 4) {
      writer->cells(std::span<const double>(values).subspan(i, 4));
      if (!tree.log_odds.empty()) writer->cell(tree.log_odds[i / 4]);
      writer->end_row();
    }
    writer->close();
  } else {
    ordered_json merges = ordered_json::array();
    for (std::size_t i = 0; i < values.size(); i += 4)
      merges.push_back({values[i], values[i + 1], values[i + 2], values[i + 3]});
    ordered_json answer{{arguments.of_columns ? "columns" : "rows",
                         arguments.of_columns ? column_names(run) : run.table().row_ids},
                        {"linkage", merges}};
    if (!tree.log_odds.empty()) answer["log_odds"] = tree.log_odds;
    write_json(arguments.output, answer);
  }
}

/// Columns of a flat model are `cluster` and `confidence`; those of a hierarchy carry their level.
void export_consensus(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  const std::vector<std::size_t> levels = wanted_levels(arguments, run);
  std::vector<Consensus> estimates;
  for (const std::size_t level : levels)
    estimates.push_back(analysis.consensus(level, arguments.selecting.selection()));
  if (arguments.to == "csv") {
    const std::unique_ptr<CsvWriter> writer = csv_to(arguments.output);
    writer->cell("row");
    for (const std::size_t level : levels) {
      const std::string suffix = levels.size() == 1 ? "" : fmt::format("_{}", level);
      writer->cell("cluster" + suffix).cell("confidence" + suffix);
    }
    writer->end_row();
    for (std::size_t row = 0; row < run.rows(); ++row) {
      writer->cell(run.table().row_ids[row]);
      for (const Consensus& estimate : estimates)
        writer->cell(estimate.labels[row]).cell(estimate.row_confidence[row]);
      writer->end_row();
    }
    writer->close();
  } else if (arguments.to == "json") {
    const auto entry = [](const Consensus& estimate) -> ordered_json {
      return {{"labels", estimate.labels},
              {"confidence", estimate.row_confidence},
              {"clusters", estimate.clusters},
              {"expected_loss", estimate.expected_loss}};
    };
    ordered_json answer{{"rows", run.table().row_ids}};
    if (levels.size() == 1) {
      answer.update(entry(estimates.front()));
    } else {
      answer["levels"] = ordered_json::array();
      for (std::size_t l = 0; l < levels.size(); ++l) {
        ordered_json level{{"level", levels[l]}};
        level.update(entry(estimates[l]));
        answer["levels"].push_back(level);
      }
    }
    write_json(arguments.output, answer);
  } else {
    std::vector<std::int32_t> values;
    for (const Consensus& estimate : estimates)
      values.insert(values.end(), estimate.labels.begin(), estimate.labels.end());
    const std::vector<std::size_t> shape = levels.size() == 1
                                               ? std::vector<std::size_t>{run.rows()}
                                               : std::vector<std::size_t>{levels.size(), run.rows()};
    write_array<std::int32_t>(arguments, values, shape);
  }
}

void export_draws(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  if (arguments.to == "netcdf") {
    if (arguments.output.empty() || arguments.output == "-")
      fail(ErrorCode::usage, "--to netcdf needs -o FILE");
    write_inference_data(run, arguments.output);
    return;
  }
  const std::vector<std::size_t> levels = wanted_levels(arguments, run);
  const std::unique_ptr<CsvWriter> writer = csv_to(arguments.output);
  writer->cell("chain").cell("draw");
  for (const std::string& name : run.trace_names()) writer->cell(name);
  for (const std::size_t level : levels)
    for (const std::string& id : run.table().row_ids)
      writer->cell(levels.size() == 1 ? id : fmt::format("{}:{}", level, id));
  writer->end_row();
  run.for_each_draw(0, [&](const SavedDraw& saved) {
    writer->cell(saved.chain).cell(saved.draw).cells(saved.traces);
    for (const std::size_t level : levels)
      writer->cells(saved.labels.subspan((level - 1) * run.rows(), run.rows()));
    writer->end_row();
  });
  writer->close();
}

void export_data(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  const Table& table = run.table();
  if (arguments.to == "npy") {
    std::vector<double> values;
    for (std::size_t row = 0; row < table.rows(); ++row)
      for (const Column& column : table.columns) values.push_back(column.values[row]);
    write_array<double>(arguments, values, {table.rows(), table.columns.size()});
    return;
  }
  const std::unique_ptr<CsvWriter> writer = csv_to(arguments.output);
  write_table(*writer, table);
  writer->close();
}

/// What can be exported.
struct ExportKind {
  const char* name;
  const char* help;
  std::vector<std::string> formats;
  void (*write)(const ExportArguments&, const Analysis&);
  bool of_clusters = false;    // a run that learned labels has none
  const char* elsewhere = "";  // where other formats are found
};

const std::vector<ExportKind>& export_kinds() {
  static const std::vector<std::string> tables{"csv", "json", "npy"};
  static const std::vector<ExportKind> kinds{
      {.name = "labels",
       .help = "clusters of the rows in every draw",
       .formats = tables,
       .write = export_labels,
       .elsewhere = " (netcdf: --what draws)"},
      {.name = "trace",
       .help = "traces of every chain",
       .formats = tables,
       .write = export_trace,
       .elsewhere = " (netcdf: --what draws)"},
      {.name = "consensus",
       .help = "the point estimate, with the confidence of each row",
       .formats = tables,
       .write = export_consensus,
       .of_clusters = true},
      {.name = "coclustering",
       .help = "probabilities that two rows share a cluster",
       .formats = tables,
       .write = export_matrix,
       .of_clusters = true},
      {.name = "columns",
       .help = "probabilities that two columns share a view",
       .formats = tables,
       .write = export_columns},
      {.name = "linkage",
       .help = "the tree of the rows, in SciPy's format",
       .formats = tables,
       .write = export_linkage,
       .of_clusters = true},
      {.name = "draws",
       .help = "traces and clusters of every draw",
       .formats = {"csv", "netcdf"},
       .write = export_draws,
       .elsewhere = " (arrays: --what labels and --what trace)"},
      {.name = "data", .help = "the table as modeled", .formats = {"csv", "npy"}, .write = export_data}};
  return kinds;
}

std::vector<std::string> export_names() {
  std::vector<std::string> names;
  for (const ExportKind& kind : export_kinds()) names.emplace_back(kind.name);
  return names;
}

/// "a, b or c".
std::string one_of(const std::vector<std::string>& names) {
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

void check_format(const ExportKind& kind, const std::string& format) {
  if (std::find(kind.formats.begin(), kind.formats.end(), format) != kind.formats.end()) return;
  fail(ErrorCode::usage, "--what {} can be written as {}{}, not as {}", kind.name, one_of(kind.formats),
       kind.elsewhere, format);
}

int export_run(const ExportArguments& arguments, const Context& context) {
  const Analysis analysis = open_run(arguments.path, context);
  const ExportKind& kind =
      *std::find_if(export_kinds().begin(), export_kinds().end(),
                    [&](const ExportKind& entry) { return entry.name == arguments.what; });
  if (kind.of_clusters) refuse_classifier(analysis, kind.name);
  if (arguments.of_columns && (!analysis.has_column_tree() || arguments.what != "linkage"))
    fail(ErrorCode::configuration, "--columns is for the linkage of a model with a tree over the columns");
  if (arguments.view > 0 && !analysis.has_column_tree())
    fail(ErrorCode::configuration, "--view: the model {} has no trees over the rows of views",
         analysis.run().model().name);
  note_caveat(analysis, context);
  check_format(kind, arguments.to);
  try {
    kind.write(arguments, analysis);
  } catch (const Error& error) {
    // A reader that has seen enough (head, less) is not an error.
    const bool to_stdout = arguments.output.empty() || arguments.output == "-";
    if (to_stdout && error.code() == ErrorCode::cannot_write && errno == EPIPE) return 0;
    throw;
  }
  return 0;
}

}  // namespace

void add_export(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("export", "draws and answers as CSV, JSON, NPY or NetCDF (ArviZ)");
  auto arguments = std::make_shared<ExportArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option("--what", arguments->what, one_of(export_names()))
      ->required()
      ->check(CLI::IsMember(export_names()));
  command->add_option("--to", arguments->to, "csv, json, npy or netcdf [csv]")
      ->check(CLI::IsMember({"csv", "json", "npy", "netcdf"}));
  command->add_option("-o,--output", arguments->output, "file to write [stdout]");
  add_level_option(*command, arguments->level, "all, coclustering: 1, linkage: their average");
  add_view_option(*command, arguments->view);
  command->add_flag("--columns", arguments->of_columns,
                    fmt::format("linkage: that of the tree over the columns ({})",
                                fmt::join(models_that(&ModelEntry::has_column_tree), ", ")));
  arguments->selecting.add_to(*command);
  std::string footer = "Contents and formats:\n";
  for (const ExportKind& kind : export_kinds())
    footer += fmt::format("  {:<14}{} ({})\n", kind.name, kind.help, fmt::join(kind.formats, ", "));
  command->footer(footer);
  command->callback(
      [=, &context] { context.run = [=, &context] { return export_run(*arguments, context); }; });
}

}  // namespace coppice::app
