#include "coppice/run/choose_within_fraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "coppice/base/parallel.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/problem_setup.hpp"

namespace coppice {
namespace {

constexpr std::array kShares{1.0, 0.5, 0.2, 0.05, 0.02};
const char* const kFamily = "gaussian-diagonal";

/// Whether a column has a prior of the share: neither for all columns nor for itself anything else was given.
bool leaves_share_open(const RunConfig& config, const Codebook& codebook, const FamilyPlan& plan,
                       const Table& table) {
  const auto is_given = [](const Settings& settings) {
    return std::any_of(settings.begin(), settings.end(), [](const auto& setting) {
      return setting.first == "within_fraction" || setting.first == "share" ||
             setting.first == "mean_strength" || setting.first == "shape" || setting.first == "rate";
    });
  };
  if (is_given(config.family_settings)) return false;
  for (const FamilyPlan::Block& block : plan.blocks) {
    if (block.family != kFamily) continue;
    for (const std::size_t column : block.columns)
      if (std::none_of(codebook.columns.begin(), codebook.columns.end(), [&](const ColumnSpec& spec) {
            return spec.name == table.columns[column].name && is_given(spec.settings);
          }))
        return true;
  }
  return false;
}

}  // namespace

bool choose_within_fraction(RunConfig& config, const Codebook& codebook, const Table& table,
                            std::size_t threads, const std::atomic<bool>* stop) {
  const ModelEntry& model = model_by_name(config.model);
  if (!model.chooses_by_evidence()) return false;
  const FamilyPlan plan =
      plan_family(table, codebook, config.family, config.family_settings, model.independent_columns);
  if (!leaves_share_open(config, codebook, plan, table)) return false;
  std::array<double, kShares.size()> bounds{};
  parallel_for(kShares.size(), threads, [&](std::size_t i) {
    RunConfig trial = config;
    trial.family_settings.insert_or_assign("within_fraction", Setting::number(kShares[i]));
    const std::unique_ptr<ProblemSetup> setup = set_up_problem(trial, codebook, table);
    setup->problem.stop = stop;
    bounds[i] = model.evidence_bound(setup->problem);
  });
  const double share =
      kShares[static_cast<std::size_t>(std::max_element(bounds.begin(), bounds.end()) - bounds.begin())];
  config.family_settings.insert_or_assign("within_fraction", Setting::number(share));
  config.notes.push_back(
      fmt::format("--set within_fraction={}: of 1, 0.5, 0.2, 0.05 and 0.02 of the variance of the {} columns "
                  "within clusters "
                  "it gives the largest lower bound",
                  share, kFamily));
  return true;
}

}  // namespace coppice
