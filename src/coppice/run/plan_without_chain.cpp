#include "coppice/run/plan_without_chain.hpp"

#include <algorithm>

#include "coppice/data/row_weights.hpp"
#include "coppice/family/registry.hpp"

namespace coppice {

std::optional<FamilyPlan> plan_without_chain(const ProblemSetup& setup, const Table& table) {
  std::vector<FamilyPlan::Block> blocks = setup.plan.blocks;
  bool differs = false;
  for (FamilyPlan::Block& block : blocks) {
    const bool has_gaps = std::any_of(block.columns.begin(), block.columns.end(),
                                      [&](std::size_t j) { return table.columns[j].has_missing(); });
    const FamilyEntry& entry = family_by_name(block.family);
    if (!entry.joint || (!block.learned && !has_gaps)) continue;
    block.family = independent_family_like(block.family).name;
    block.learned = false;
    block.effective = {};
    differs = true;
  }
  if (!differs) return std::nullopt;
  const bool has_copies = setup.plan.has_copies;
  std::vector<double> copies;
  for (std::size_t row = 0; has_copies && row < setup.rows.size(); ++row)
    copies.push_back(setup.rows.copies_of(row));
  FamilyPlan plan = rebuild_plan(has_copies ? repeat_rows(table, copies) : table, std::move(blocks));
  plan.has_copies = has_copies;
  return plan;
}

}  // namespace coppice
