// coppice export: draws and answers in other programs' formats. What can be exported is one list.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>

#include "coppice/app/classify.hpp"
#include "coppice/app/exporting.hpp"
#include "coppice/base/error.hpp"
#include "coppice/model/registry.hpp"

namespace coppice::app {

std::unique_ptr<CsvWriter> csv_to(const ExportArguments& arguments) {
  const std::string& output = arguments.output;
  const bool to_stdout = output.empty() || output == "-";
  auto writer = to_stdout ? std::make_unique<CsvWriter>(std::cout)
                          : std::make_unique<CsvWriter>(std::filesystem::path(output));
  writer->escape_texts(to_stdout && ::isatty(STDOUT_FILENO) != 0);
  writer->protect_texts(arguments.csv_safe);
  return writer;
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

namespace {

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
      {.name = "partition",
       .help = "the reported clusters: number, name and confidence of each row",
       .formats = tables,
       .write = export_partition,
       .of_clusters = true},
      {.name = "labels",
       .help = "clusters of the rows in every draw; their numbers mean nothing across draws",
       .formats = tables,
       .write = export_labels,
       .elsewhere = " (netcdf: --what draws)"},
      {.name = "trace",
       .help = "traces of every chain",
       .formats = tables,
       .write = export_trace,
       .elsewhere = " (netcdf: --what draws)"},
      {.name = "consensus",
       .help = "the partition without names",
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
  const ExportKind& kind =
      *std::find_if(export_kinds().begin(), export_kinds().end(),
                    [&](const ExportKind& entry) { return entry.name == arguments.what; });
  if (arguments.draw && arguments.what != "labels") fail(ErrorCode::usage, "--draw is for --what labels");
  const Analysis analysis =
      open_run(arguments.path, context, kind.of_clusters ? ShownRows::sample : ShownRows::all);
  if (kind.of_clusters) refuse_classifier(analysis, kind.name);
  if (arguments.of_columns && (!analysis.has_column_tree() || arguments.what != "linkage"))
    fail(ErrorCode::configuration, "--columns is for the linkage of a model with a tree over the columns");
  if (arguments.view > 0 && !analysis.has_column_tree())
    fail(ErrorCode::configuration, "--view: the model {} has no trees over the rows of views",
         analysis.run().model().name);
  if (arguments.what != "partition" && arguments.what != "consensus" &&
      (!arguments.selecting.request().is_plain() || arguments.selecting.assign_all))
    fail(ErrorCode::usage,
         "--clusters, --cost-ratio and --assign-all are for --what partition and --what consensus");
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
  command->add_option("-o,--output", arguments->output, "file to write [stdout]; labels --draw: or a folder");
  command->add_option(
      "--draw", arguments->draw,
      "labels: only of this draw (from 0), one line for each row; to a folder by blocks of rows");
  command->add_option("--chain", arguments->chain, "the chain of that draw, from 0 [0]");
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
  command->callback([=, &context] {
    context.run = [=, &context] {
      arguments->csv_safe = context.csv_safe;
      return export_run(*arguments, context);
    };
  });
}

}  // namespace coppice::app
