#include "coppice/model/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "coppice/base/close_names.hpp"
#include "coppice/base/error.hpp"

// THE LIST: the folder of a model NAME defines NAME_entry(). Programs show them in this order.
// clang-format off
#define COPPICE_MODELS(model) \
  model(nrmm) \
  model(rbhmc) \
  model(nhcm) \
  model(bhc) \
  model(bhcc) \
  model(crosscat) \
  model(bnmc)
// clang-format on

namespace coppice {

#define COPPICE_DECLARE(name) ModelEntry name##_entry();
COPPICE_MODELS(COPPICE_DECLARE)

const std::vector<ModelEntry>& all_models() {
#define COPPICE_ENTRY(name) name##_entry(),
  static const std::vector<ModelEntry> models{COPPICE_MODELS(COPPICE_ENTRY)};
  return models;
}

const ModelEntry& model_by_name(std::string_view name) {
  std::vector<std::string> names;
  for (const ModelEntry& entry : all_models()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  const std::string question = did_you_mean(name, names);
  fail(ErrorCode::usage, "model {}: there is no such model; {}{}the models are {}", name, question,
       question.empty() ? "" : " ", fmt::join(names, ", "));
}

std::vector<std::string> models_that(bool (ModelEntry::*can)() const) {
  std::vector<std::string> names;
  for (const ModelEntry& entry : all_models())
    if ((entry.*can)()) names.push_back(entry.name);
  return names;
}

std::string samplers_in_blocks() {
  std::vector<std::string> names;
  for (const ModelEntry& entry : all_models()) {
    const Parameter* sampler = find_parameter(entry.parameters, "sampler");
    if (sampler == nullptr) continue;
    for (const std::string& word : sampler->choices) {
      const Settings given{{sampler->name, Setting{Setting::Shape::text, {}, 0, word}}};
      if (entry.abilities_with(ParameterValues(entry.parameters, given)).in_blocks)
        names.push_back(fmt::format("{} --{} {}", entry.name, sampler->name, word));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

const NewCells& new_cells_of(const Predictor& predictor) {
  const auto* known = dynamic_cast<const NewCells*>(&predictor);
  if (known == nullptr)
    fail(ErrorCode::configuration,
         "this model does not draw new rows, impute their cells or predict new columns; these models do: {}",
         fmt::join(models_that(&ModelEntry::has_new_cells), ", "));
  return *known;
}

const LabelBaseline* label_baseline_by_name(std::string_view name) {
  for (const ModelEntry& entry : all_models())
    for (const LabelBaseline& baseline : entry.label_baselines)
      if (baseline.name == name) return &baseline;
  return nullptr;
}

std::string_view method_name(Method method) {
  switch (method) {
    case Method::mcmc:
      return "mcmc";
    case Method::greedy:
      return "greedy";
    case Method::variational:
      return "variational";
  }
  fail(ErrorCode::bug, "a method without a name");
}

}  // namespace coppice
