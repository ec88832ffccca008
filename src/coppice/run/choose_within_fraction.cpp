#include "coppice/run/choose_within_fraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "coppice/base/parallel.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/model/registry.hpp"

namespace coppice {
namespace {

constexpr std::array kShares{1.0, 0.5, 0.2, 0.05, 0.02};
/// The family of the columns that have a prior of the share: neither for all columns nor for the column
/// itself anything else was given. Empty if there is none.
std::string family_with_open_share(const RunConfig& config, const Codebook& codebook, const FamilyPlan& plan,
                                   const Table& table) {
  const auto is_given = [](const Settings& settings) {
    return std::any_of(settings.begin(), settings.end(), [](const auto& setting) {
      return setting.first == "within_fraction" || setting.first == "share" ||
             setting.first == "mean_strength" || setting.first == "shape" || setting.first == "rate";
    });
  };
  if (is_given(config.family_settings)) return {};
  for (const FamilyPlan::Block& block : plan.blocks) {
    if (!family_by_name(block.family).has_parameter("within_fraction")) continue;
    for (const std::size_t column : block.columns)
      if (std::none_of(codebook.columns.begin(), codebook.columns.end(), [&](const ColumnSpec& spec) {
            return spec.name == table.columns[column].name && is_given(spec.settings);
          }))
        return block.family;
  }
  return {};
}

}  // namespace

bool choose_within_fraction(RunContents& contents, std::size_t threads,
                            const std::function<double(const RunConfig&)>& evidence_bound) {
  RunConfig& config = contents.config;
  const ModelEntry& model = model_by_name(config.model);
  if (!model.chooses_by_evidence()) return false;
  const FamilyPlan plan = plan_family(contents.table, contents.codebook, config.family,
                                      config.family_settings, model.independent_columns);
  const std::string family = family_with_open_share(config, contents.codebook, plan, contents.table);
  if (family.empty()) return false;
  std::array<double, kShares.size()> bounds{};
  parallel_for(kShares.size(), threads, [&](std::size_t i) {
    RunConfig trial = config;
    trial.family_settings.insert_or_assign("within_fraction", Setting::number(kShares[i]));
    bounds[i] = evidence_bound(trial);
  });
  const double share =
      kShares[static_cast<std::size_t>(std::max_element(bounds.begin(), bounds.end()) - bounds.begin())];
  config.family_settings.insert_or_assign("within_fraction", Setting::number(share));
  config.notes.push_back(
      fmt::format("--set within_fraction={}: among 1, 0.5, 0.2, 0.05 and 0.02, this fraction of the variance "
                  "of the {} columns within clusters gives the largest lower bound",
                  share, family));
  return true;
}

}  // namespace coppice
