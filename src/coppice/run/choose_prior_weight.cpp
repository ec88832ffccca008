#include "coppice/run/choose_prior_weight.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "coppice/family/plan.hpp"
#include "coppice/model/registry.hpp"

namespace coppice {
namespace {

constexpr std::array kWeights{0.05, 0.1, 0.2, 0.5, 1.0, 2.0};
constexpr std::size_t kDefault = 3;  // what the families take by themselves

/// Names of the weights, by the support of the families that have them.
const std::vector<std::string>& weights_of(const FamilyEntry& entry) {
  static const std::vector<std::string> none;
  static const std::vector<std::string> of_beta{"a", "b"};
  static const std::vector<std::string> of_levels{"concentration"};
  if (entry.support == Support::levels && entry.has_parameter("concentration")) return of_levels;
  const bool has_beta = entry.has_parameter("a") && entry.has_parameter("b");
  return has_beta && (entry.support == Support::levels || entry.support == Support::bounded_counts) ? of_beta
                                                                                                    : none;
}

/// Those that were not given and that no other family in use has for something else.
std::vector<std::string> open_weights(const RunConfig& config, const Codebook& codebook,
                                      const FamilyPlan& plan) {
  std::vector<std::string> names;
  for (const FamilyPlan::Block& block : plan.blocks)
    for (const std::string& name : weights_of(family_by_name(block.family)))
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  const auto is_taken = [&](const std::string& name) {
    if (config.family_settings.contains(name)) return true;
    for (const ColumnSpec& spec : codebook.columns)
      if (spec.settings.contains(name)) return true;
    return std::any_of(plan.blocks.begin(), plan.blocks.end(), [&](const FamilyPlan::Block& block) {
      const FamilyEntry& entry = family_by_name(block.family);
      const std::vector<std::string>& own = weights_of(entry);
      return entry.has_parameter(name) && std::find(own.begin(), own.end(), name) == own.end();
    });
  };
  // Both weights of a Beta prior or none.
  const bool beta_is_taken = is_taken("a") || is_taken("b");
  std::erase_if(names, [&](const std::string& name) {
    return name == "concentration" ? is_taken(name) : beta_is_taken;
  });
  return names;
}

}  // namespace

bool choose_prior_weight(RunContents& contents,
                         const std::function<double(const RunConfig&)>& evidence_bound) {
  RunConfig& config = contents.config;
  const ModelEntry& model = model_by_name(config.model);
  if (!model.chooses_by_evidence() || config.hyper != kLearnedHyper) return false;
  const FamilyPlan plan = plan_family(contents.table, contents.codebook, config.family,
                                      config.family_settings, model.independent_columns);
  const std::vector<std::string> names = open_weights(config, contents.codebook, plan);
  if (names.empty()) return false;
  const auto with_weight = [&](RunConfig to, std::size_t place) {
    for (const std::string& name : names)
      to.family_settings.insert_or_assign(name, Setting::number(kWeights[place]));
    return to;
  };
  double columns = 0.0;
  for (const FamilyPlan::Block& block : plan.blocks)
    if (const std::vector<std::string>& own = weights_of(family_by_name(block.family));
        !own.empty() && std::find(names.begin(), names.end(), own.front()) != names.end())
      columns += static_cast<double>(block.columns.size());
  const auto bound_at = [&](std::size_t place) {
    // The hyper-prior under which chains learn the weight of each of the columns. Without it rare values of
    // small tables ask for clusters of their own.
    const double z = std::log(kWeights[place] / kWeights[kDefault]);
    return evidence_bound(with_weight(config, place)) - 0.5 * z * z * columns;
  };
  // From the default down as long as the bound rises, otherwise up.
  std::size_t best = kDefault;
  double best_bound = bound_at(kDefault);
  const auto climb = [&](auto next) {
    for (std::size_t place = next(best); place < kWeights.size(); place = next(place)) {
      const double bound = bound_at(place);
      if (!(bound > best_bound)) return;
      best = place;
      best_bound = bound;
    }
  };
  climb([](std::size_t place) { return place - 1; });  // before the first comes a place that is not there
  if (best == kDefault) climb([](std::size_t place) { return place + 1; });
  if (best == kDefault) return false;
  config = with_weight(config, best);
  config.notes.push_back(fmt::format(
      "--set {}={}: of 0.05 to 2 it gives the largest lower bound, with its prior; --hyper fixed keeps {}",
      fmt::join(names, fmt::format("={} --set ", kWeights[best])), kWeights[best], kWeights[kDefault]));
  return true;
}

}  // namespace coppice
