// coppice codebook: what the columns of a table are taken for and why, as a table to look at or a TOML file
// to edit.
#include "coppice/data/codebook.hpp"

#include <algorithm>

#include "coppice/app/arguments.hpp"
#include "coppice/app/preflight.hpp"
#include "coppice/app/text_table.hpp"
#include "coppice/base/counted.hpp"
#include "coppice/data/kinds/closer_look.hpp"
#include "coppice/data/kinds/decide.hpp"
#include "coppice/data/kinds/histogram.hpp"
#include "coppice/data/load.hpp"
#include "coppice/data/text.hpp"
#include "coppice/out/column_json.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kBars = 12;

/// Characters, not bytes: all that is shown here is one column wide each.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

/// What is said beside the kind: family, scale, spike, rounding, unit.
std::string model_of(const ColumnSpec& spec) {
  std::vector<std::string> parts;
  if (!spec.family.empty()) parts.push_back(spec.family);
  if (!spec.transform.empty()) parts.push_back(spec.transform);
  if (spec.hurdle) parts.push_back(fmt::format("hurdle {}", short_number(*spec.hurdle)));
  if (spec.resolution) parts.push_back(fmt::format("step {}", short_number(*spec.resolution)));
  if (!spec.unit.empty()) parts.push_back(spec.unit);
  if (spec.kind == Kind::category) parts.push_back(fmt::format("{} levels", spec.levels.size()));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string table_text(const Dataset& data, const Context& context) {
  std::vector<std::vector<std::string>> rows{{"column", "kind", "modeled as", "missing", "cells", "why"}};
  bool any_ambiguous = false;
  for (const ColumnReport& report : data.report) {
    const ColumnSpec& spec = report.spec;
    const std::string name = text::display(spec.name, 30);
    if (!report.left_out.empty()) {
      rows.push_back({name, "-", report.left_out, "", "", text::display(spec.reason, 120)});
      continue;
    }
    any_ambiguous = any_ambiguous || !report.ambiguous.empty();
    rows.push_back({name, std::string(kind_name(spec.kind)) + (report.ambiguous.empty() ? "" : " ?"),
                    model_of(spec), report.missing == 0 ? "" : fmt::format("{}", report.missing),
                    bars_of(small_histogram(*data.table.find(spec.name), spec, kBars)),
                    text::display(spec.reason.empty() ? "from the codebook" : spec.reason, 120)});
  }
  for (const ColumnSpec& spec : data.codebook.columns)
    if (std::none_of(data.report.begin(), data.report.end(),
                     [&](const ColumnReport& report) { return report.spec.name == spec.name; }))
      rows.push_back({text::display(spec.name, 30), std::string(kind_name(spec.kind)), model_of(spec), "",
                      bars_of(small_histogram(*data.table.find(spec.name), spec, kBars)), spec.reason});
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i + 1 < rows[r].size(); ++i) line += padded(rows[r][i], widths[i]) + "  ";
    line += rows[r].back();
    line.erase(line.find_last_not_of(' ') + 1);
    out += (r == 0 ? context.bold(line) : line) + "\n";
  }
  out += fmt::format("{}; {}\n", counted(data.table.rows(), "row"), kinds_in_words(data.codebook));
  if (any_ambiguous)
    for (const ColumnReport& report : data.report)
      if (!report.ambiguous.empty() && report.left_out.empty())
        out += fmt::format("? {}: {}\n", text::display(report.spec.name, 30), report.ambiguous);
  return out;
}

/// The codebook, and as comments the columns that are not in it.
std::string file_text(const Dataset& data) {
  std::string out = to_toml(data.codebook, Reasons::comments);
  for (const ColumnReport& report : data.report)
    if (!report.left_out.empty())
      out += fmt::format("\n# Column '{}' is left out ({}: {}); --keep-column it, or describe it here.\n",
                         text::display(report.spec.name), report.left_out,
                         text::display(report.spec.reason, 200));
  return out;
}

ordered_json json_of(const Dataset& data) {
  ordered_json columns = ordered_json::array();
  for (const Column& column : data.table.columns) {
    const ColumnSpec& spec = *data.codebook.find(column.name);
    const auto report = std::find_if(data.report.begin(), data.report.end(),
                                     [&](const ColumnReport& r) { return r.spec.name == column.name; });
    ordered_json entry = column_json(spec);
    entry["missing"] = std::count_if(column.values.begin(), column.values.end(), is_missing);
    entry["ambiguous"] = report == data.report.end() || report->ambiguous.empty()
                             ? ordered_json()
                             : ordered_json(report->ambiguous);
    entry["histogram"] = small_histogram(column, spec, kBars);
    columns.push_back(std::move(entry));
  }
  ordered_json left_out = ordered_json::array();
  for (const ColumnReport& report : data.report)
    if (!report.left_out.empty())
      left_out.push_back(
          {{"name", report.spec.name}, {"why", report.left_out}, {"reason", report.spec.reason}});
  return {{"rows", data.table.rows()}, {"columns", columns},  {"left_out", left_out},
          {"digest", data.digest},     {"notes", data.notes}, {"findings", findings_json(data.findings)}};
}

int codebook(const std::string& path, const std::string& output, const DataFlags& flags,
             const Context& context) {
  const FileBytes bytes = load_file(path);
  Dataset data = flags.read_silently(bytes.view(), path == "-" ? "stdin" : path);
  look_closer(data);
  for (const std::string& note : data.notes) context.note("note: " + note);
  for (const Finding& finding : data.findings)
    if (finding.severity == Severity::warning)
      context.note(fmt::format("note: {}; {}", sentence_of(finding), finding.remedy));
  if (context.json)
    write_json(output, json_of(data));
  else
    output.empty() ? write_text("", table_text(data, context)) : write_output(output, file_text(data));
  return 0;
}

}  // namespace

void add_codebook(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand(
      "codebook", "how the columns are interpreted and why; with -o as a TOML file to edit");
  auto path = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  auto flags = std::make_shared<DataFlags>();
  command->add_option("data", *path, "table")->required();
  command->add_option("-o,--output", *output, "TOML file to write; - is stdout [prints a table]");
  flags->add_to(*command);
  command->callback(
      [=, &context] { context.run = [=, &context] { return codebook(*path, *output, *flags, context); }; });
}

}  // namespace coppice::app
