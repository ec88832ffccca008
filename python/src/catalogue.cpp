// The lists of models, families and parameters as Python values: what estimators are written from.
#include "bindings.hpp"
#include "coppice/family/registry.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/config.hpp"

namespace coppice::python {
namespace {

const char* type_name(Parameter::Type type) {
  switch (type) {
    case Parameter::Type::real:
      return "real";
    case Parameter::Type::integer:
      return "integer";
    case Parameter::Type::flag:
      return "flag";
    case Parameter::Type::choice:
      return "choice";
    case Parameter::Type::numbers:
      return "numbers";
    case Parameter::Type::words:
      break;
  }
  return "words";
}

nb::list parameter_list(const std::vector<Parameter>& table) {
  nb::list list;
  for (const Parameter& parameter : table) {
    nb::dict entry;
    entry["name"] = parameter.name;
    entry["type"] = type_name(parameter.type);
    entry["default"] = parameter.fallback;
    entry["accepts"] = describe_range(parameter);
    entry["choices"] = parameter.choices;
    entry["help"] = parameter.help;
    std::vector<std::string> aliases;
    for (const ParameterAlias& alias : parameter.aliases) aliases.push_back(alias.name);
    entry["aliases"] = aliases;
    list.append(entry);
  }
  return list;
}

nb::list model_list() {
  nb::list list;
  for (const ModelEntry& model : all_models()) {
    const ParameterValues defaults(model.parameters, {});
    nb::dict entry;
    entry["name"] = model.name;
    entry["summary"] = model.summary;
    entry["parameters"] = parameter_list(model.parameters);
    entry["traces"] = model.trace_names(defaults);
    nb::dict help;
    for (const TraceInfo& trace : model.traces(defaults)) help[trace.name.c_str()] = trace.help;
    entry["trace_help"] = help;
    entry["levels"] = model.levels(defaults);
    entry["family"] = model.family;
    entry["method"] = std::string(method_name(model.method));
    entry["runs_once"] = model.runs_once();
    entry["greedy"] = model.is_greedy();
    entry["views"] = model.has_views();
    entry["learns_labels"] = model.learns_labels();
    entry["incremental"] = model.supports_incremental_rows;
    entry["weights"] = model.refuses_weights != nullptr;
    list.append(entry);
  }
  return list;
}

nb::list family_list() {
  nb::list list;
  for (const FamilyEntry& family : all_families()) {
    nb::dict entry;
    entry["name"] = family.name;
    entry["summary"] = family.summary;
    entry["missing_allowed"] = family.missing_allowed;
    entry["parameters"] = parameter_list(family.parameters);
    list.append(entry);
  }
  return list;
}

}  // namespace

void add_catalogue(nb::module_& module) {
  module.def("models", &model_list, "The models and their parameter tables.");
  module.def("families", &family_list, "The families of columns.");
  module.def(
      "run_parameters", [] { return parameter_list(run_parameters()); },
      "chains, warmup, draws, thin, seed.");
}

}  // namespace coppice::python
