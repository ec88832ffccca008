#include "coppice/model/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "coppice/base/close_names.hpp"
#include "coppice/base/error.hpp"
#include "coppice/model/bhc/bhc.hpp"
#include "coppice/model/bhcc/bhcc.hpp"
#include "coppice/model/bnmc/bnmc.hpp"
#include "coppice/model/crosscat/crosscat.hpp"
#include "coppice/model/nhcm/nhcm.hpp"
#include "coppice/model/nrmm/nrmm.hpp"
#include "coppice/model/rbhmc/rbhmc.hpp"

namespace coppice {

const std::vector<ModelEntry>& all_models() {
  static const std::vector<ModelEntry> models{nrmm_entry(), rbhmc_entry(),    nhcm_entry(), bhc_entry(),
                                              bhcc_entry(), crosscat_entry(), bnmc_entry()};
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
