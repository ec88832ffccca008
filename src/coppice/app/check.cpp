// coppice check: everything worth knowing about a table before minutes are spent on it.
#include <algorithm>

#include "coppice/app/arguments.hpp"
#include "coppice/app/preflight.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/data/kinds/closer_look.hpp"
#include "coppice/data/load.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/out/column_json.hpp"
#include "coppice/run/new_run.hpp"
#include "coppice/run/problem_setup.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

struct CheckArguments {
  std::string data, model = "nrmm", output;
  bool strict = false;
  DataFlags reading;
};

/// What a fit with the default settings would use: its families and its memory.
struct Prospect {
  std::string families;
  std::size_t bytes = 0;
};

Prospect prospect_of(const CheckArguments& arguments, const Dataset& data) {
  RunConfig config;
  config.model = arguments.model;
  config.data = arguments.data;
  const RunContents contents = contents_of(config, data);
  const std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
  return {setup->plan.description(), estimate_bytes(*setup, contents.config, contents.table)};
}

std::size_t missing_cells(const Dataset& data) {
  std::size_t missing = 0;
  for (const ColumnReport& report : data.report)
    if (report.left_out.empty()) missing += report.missing;
  return missing;
}

/// Findings that say the same of several columns in one.
std::vector<Finding> gathered(const std::vector<Finding>& findings) {
  std::vector<Finding> result;
  for (const Finding& finding : findings) {
    const auto same = std::find_if(result.begin(), result.end(), [&](const Finding& other) {
      return other.severity == finding.severity && other.topic == finding.topic &&
             other.what == finding.what && other.remedy == finding.remedy;
    });
    if (same == result.end())
      result.push_back(finding);
    else
      same->columns.insert(same->columns.end(), finding.columns.begin(), finding.columns.end());
  }
  return result;
}

std::string text_of(const Dataset& data, const Prospect& prospect, const std::string& model,
                    const Context& context) {
  const double cells =
      static_cast<double>(data.table.rows()) * static_cast<double>(data.table.columns.size());
  std::string out = fmt::format("{}: {} rows, {} column{} ({}), {:.1f} % of the cells missing\n",
                                context.bold("size"), data.table.rows(), data.table.columns.size(),
                                data.table.columns.size() == 1 ? "" : "s", kinds_in_words(data.codebook),
                                cells > 0.0 ? 100.0 * static_cast<double>(missing_cells(data)) / cells : 0.0);
  if (!prospect.families.empty())
    out += fmt::format("{}: {} would model {}; about {} of memory\n", context.bold("fit"), model,
                       prospect.families, size_words(prospect.bytes));
  for (const std::string& note : data.notes)
    if (note.find("left out") == std::string::npos)
      out += fmt::format("{}: {}\n", context.bold("note"), note);
  for (const Finding& finding : gathered(data.findings))
    out += fmt::format("{}: {}{}\n", context.bold(severity_name(finding.severity)), sentence_of(finding),
                       finding.remedy.empty() ? "" : fmt::format("\n    {}", finding.remedy));
  if (data.findings.empty()) out += "nothing needs attention\n";
  return out;
}

int check(const CheckArguments& arguments, const Context& context) {
  const ModelEntry& model = model_by_name(arguments.model);
  const bool learns_labels = model.learns_labels();
  const FileBytes bytes = load_file(arguments.data);
  Dataset data = arguments.reading.read_silently(
      bytes.view(), arguments.data == "-" ? "stdin" : arguments.data, learns_labels);
  if (!learns_labels) look_closer(data);
  Prospect prospect;
  try {
    prospect = prospect_of(arguments, data);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::configuration) throw;
    data.findings.insert(data.findings.begin(), {Severity::warning,
                                                 "model",
                                                 {},
                                                 error.what(),
                                                 fmt::format("use another --model than {}", model.name)});
  }
  bool to_look_at = false;
  for (const Finding& finding : data.findings) to_look_at = to_look_at || finding.severity != Severity::note;
  if (context.json) {
    ordered_json answer = {{"rows", data.table.rows()},
                           {"columns", data.table.columns.size()},
                           {"kinds", kinds_in_words(data.codebook)},
                           {"missing", missing_cells(data)},
                           {"model", model.name},
                           {"families", prospect.families},
                           {"bytes", prospect.bytes},
                           {"notes", data.notes},
                           {"findings", findings_json(data.findings)},
                           {"fine", !to_look_at}};
    write_json(arguments.output, answer);
  } else {
    write_text(arguments.output, text_of(data, prospect, model.name, context));
  }
  return arguments.strict && to_look_at ? 1 : 0;
}

}  // namespace

void add_check(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand(
      "check", "what to know about a table before a fit: kinds, columns left out, suspicious values, memory");
  auto arguments = std::make_shared<CheckArguments>();
  command->add_option("data", arguments->data, "table")->required();
  command->add_option("-o,--output", arguments->output, "file to write [stdout]");
  command->add_option("--model", arguments->model, "model whose memory is estimated [nrmm]");
  command->add_flag("--strict", arguments->strict,
                    "exit code 1 if a warning or an ambiguous column is found");
  arguments->reading.add_to(*command);
  command->callback([=, &context] { context.run = [=, &context] { return check(*arguments, context); }; });
}

}  // namespace coppice::app
