// coppice models and families: what there is.
#include "coppice/app/arguments.hpp"
#include "coppice/family/registry.hpp"
#include "coppice/model/registry.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

ordered_json parameters_json(const std::vector<Parameter>& table) {
  ordered_json list = ordered_json::array();
  for (const Parameter& parameter : table)
    list.push_back(
        {{"name", parameter.name},
         {"default", parameter.fallback.empty() ? ordered_json() : ordered_json(parameter.fallback)},
         {"accepts", describe_range(parameter)},
         {"help", parameter.help}});
  return list;
}

std::string parameters_text(const std::vector<Parameter>& table, const std::string& prefix) {
  std::string text;
  for (const Parameter& parameter : table)
    text += fmt::format("    {:<24}{}{}\n", prefix + parameter.name, parameter.help,
                        parameter.fallback.empty() ? "" : fmt::format(" [{}]", parameter.fallback));
  return text;
}

ordered_json trace_help(const ModelEntry& model) {
  ordered_json help = ordered_json::object();
  for (const TraceInfo& trace : model.traces(ParameterValues(model.parameters, {})))
    help[trace.name] = trace.help;
  return help;
}

int models(const Context& context) {
  ordered_json list = ordered_json::array();
  std::string text;
  for (const ModelEntry& model : all_models()) {
    list.push_back({{"name", model.name},
                    {"summary", model.summary},
                    {"levels", model.levels(ParameterValues(model.parameters, {}))},
                    {"traces", model.trace_names(ParameterValues(model.parameters, {}))},
                    {"trace_help", trace_help(model)},
                    {"method", method_name(model.method)},
                    {"runs_once", model.runs_once()},
                    {"greedy", model.is_greedy()},
                    {"learns_labels", model.learns_labels()},
                    {"parameters", parameters_json(model.parameters)}});
    text += fmt::format("{}: {}\n{}", context.bold(model.name), model.summary,
                        parameters_text(model.parameters, "--"));
  }
  context.json ? write_json("", list) : write_output("", text);
  return 0;
}

int families(const Context& context) {
  ordered_json list = ordered_json::array();
  std::string text;
  for (const FamilyEntry& family : all_families()) {
    std::vector<std::string> kinds;
    for (const Kind kind : family.kinds) kinds.emplace_back(kind_name(kind));
    std::vector<std::string> automatic;
    for (const Kind kind : family.automatic) automatic.emplace_back(kind_name(kind));
    const bool has_hurdle = family.make_with_spike != nullptr;
    list.push_back({{"name", family.name},
                    {"summary", family.summary},
                    {"kinds", kinds},
                    {"automatic_for", automatic},
                    {"missing_allowed", family.missing_allowed},
                    {"joint", family.joint},
                    {"hurdle_allowed", has_hurdle},
                    {"parameters", parameters_json(family.parameters)}});
    text += fmt::format("{}: {} ({} columns{})\n{}", context.bold(family.name), family.summary,
                        fmt::join(kinds, ", "),
                        !family.missing_allowed ? "; no missing cells"
                        : has_hurdle            ? "; a hurdle is allowed"
                                                : "",
                        parameters_text(family.parameters, "--set "));
  }
  context.json ? write_json("", list) : write_output("", text);
  return 0;
}

}  // namespace

void add_models(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand("models", "the models and their parameters");
  command->callback([&context] { context.run = [&context] { return models(context); }; });
}

void add_families(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("families", "the families of columns and their hyper-parameters");
  command->callback([&context] { context.run = [&context] { return families(context); }; });
}

}  // namespace coppice::app
