#include "coppice/family/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/family/adopt_kinds.hpp"
#include "coppice/family/all.hpp"
#include "coppice/family/row_family.hpp"

namespace coppice {
namespace {

/// Full covariances are estimated well only from enough rows per column.
constexpr std::size_t kLargestAutoGaussian = 10;
constexpr std::size_t kRowsPerColumn = 5;

const FamilyEntry& entry_of(const std::vector<FamilyEntry>& list, const std::string& name) {
  for (const FamilyEntry& entry : list)
    if (entry.name == name) return entry;
  std::vector<std::string> names{"auto"};
  for (const FamilyEntry& entry : list) names.push_back(entry.name);
  fail(ErrorCode::configuration, "family {}: there is none of that name; the families are {}", name,
       fmt::join(names, ", "));
}

/// Real columns are modeled jointly if they are complete and few for the number of rows.
std::string automatic_real_family(const Table& table) {
  std::size_t count = 0;
  for (const Column& column : table.columns) {
    if (column.kind != Kind::real) continue;
    if (column.has_missing()) return "gaussian-diagonal";
    ++count;
  }
  const bool joint = count >= 2 && count <= kLargestAutoGaussian && table.rows() >= kRowsPerColumn * count;
  return joint ? "gaussian" : "gaussian-diagonal";
}

std::string family_of_kind(Kind kind, const std::string& real_family) {
  switch (kind) {
    case Kind::real:
      return real_family;
    case Kind::count:
      return "poisson";
    case Kind::binary:
      return "bernoulli";
    case Kind::category:
      break;
  }
  return "categorical";
}

void check_columns(const FamilyEntry& entry, const Table& table, const std::vector<std::size_t>& columns) {
  for (const std::size_t j : columns) {
    const Column& column = table.columns[j];
    if (!takes(entry, column.kind))
      fail(ErrorCode::configuration,
           "family {} cannot model the {} column '{}': {}; use --family auto, --drop {}, or give the column "
           "another family in the codebook",
           entry.name, kind_name(column.kind), column.name, why_not(entry, column), column.name);
    if (!entry.missing_allowed && column.has_missing())
      fail(ErrorCode::configuration,
           "family {} needs complete rows, but column '{}' has missing cells: use {}", entry.name,
           column.name, entry.name == "gaussian" ? "gaussian-diagonal" : "poisson");
  }
}

std::vector<std::string> parameter_names(const std::vector<FamilyEntry>& used) {
  std::vector<std::string> names;
  for (const FamilyEntry& entry : used)
    for (const Parameter& parameter : entry.parameters)
      if (std::find(names.begin(), names.end(), parameter.name) == names.end())
        names.push_back(parameter.name);
  return names;
}

void check_settings(const std::vector<FamilyEntry>& used, const Settings& settings) {
  const std::vector<std::string> known = parameter_names(used);
  for (const auto& [name, value] : settings)
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail(ErrorCode::configuration, "--set {}: no family in use has that hyper-parameter; they have {}",
           name, fmt::join(known, ", "));
}

void check_settings(const FamilyEntry& entry, const ColumnSpec& spec) {
  const std::vector<std::string> known = parameter_names({entry});
  for (const auto& [name, value] : spec.settings)
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail(ErrorCode::configuration,
           "codebook: column '{}': family {} has no hyper-parameter '{}'; it has {}", spec.name, entry.name,
           name, fmt::join(known, ", "));
}

}  // namespace

std::string FamilyPlan::description() const {
  std::vector<std::string> parts;
  for (const Block& block : blocks)
    parts.push_back(fmt::format("{} on {} column{}", block.family, block.columns.size(),
                                block.columns.size() == 1 ? "" : "s"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

FamilyEntry family_by_name(const std::string& name) { return entry_of(all_families(), name); }

FamilyPlan plan_family(const Table& table, const Codebook& codebook, const std::string& family,
                       const Settings& given, bool independent) {
  if (table.columns.empty()) fail(ErrorCode::configuration, "there is no column left to model");
  const std::vector<FamilyEntry> list = all_families();
  const std::string real_family = independent ? "gaussian-diagonal" : automatic_real_family(table);
  FamilyPlan plan;
  std::vector<const ColumnSpec*> specs(table.columns.size(), nullptr);
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const Column& column = table.columns[j];
    for (const ColumnSpec& spec : codebook.columns)
      if (spec.name == column.name) specs[j] = &spec;
    std::string chosen = family == "auto" ? family_of_kind(column.kind, real_family) : family;
    if (specs[j] != nullptr && specs[j]->family == "auto")
      chosen = family_of_kind(column.kind, real_family);
    else if (specs[j] != nullptr && !specs[j]->family.empty())
      chosen = specs[j]->family;
    const auto block = std::find_if(plan.blocks.begin(), plan.blocks.end(),
                                    [&](const FamilyPlan::Block& b) { return b.family == chosen; });
    if (block != plan.blocks.end())
      block->columns.push_back(j);
    else
      plan.blocks.push_back({chosen, {j}});
  }
  std::vector<FamilyEntry> used;
  for (const FamilyPlan::Block& block : plan.blocks) used.push_back(entry_of(list, block.family));
  std::vector<Parameter> hyper_parameters;
  for (const FamilyEntry& entry : used)
    hyper_parameters.insert(hyper_parameters.end(), entry.parameters.begin(), entry.parameters.end());
  const Settings settings = with_present_names(hyper_parameters, given);
  check_settings(used, settings);
  std::vector<ColumnSpec> own(table.columns.size());  // what the codebook says, under present names

  std::vector<std::unique_ptr<Family>> families;
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    const FamilyPlan::Block& block = plan.blocks[b];
    check_columns(used[b], table, block.columns);
    FamilyInputs inputs;
    inputs.rows = table.rows();
    for (const Parameter& parameter : used[b].parameters)
      if (const auto setting = settings.find(parameter.name); setting != settings.end())
        inputs.settings.insert(*setting);
    for (const std::size_t j : block.columns) {
      inputs.columns.push_back(&table.columns[j]);
      inputs.per_column.push_back(specs[j] != nullptr ? &own[j].settings : nullptr);
      if (specs[j] != nullptr) {
        own[j].name = specs[j]->name;
        own[j].settings = with_present_names(used[b].parameters, specs[j]->settings);
        check_settings(used[b], own[j]);
      }
      plan.order.push_back(j);
    }
    families.push_back(used[b].make(inputs));
  }
  plan.family =
      families.size() == 1 ? std::move(families[0]) : std::make_unique<RowFamily>(std::move(families));
  return plan;
}

Rows encode(const FamilyPlan& plan, const Table& table) {
  Rows rows;
  rows.width = plan.order.size();
  rows.cells.resize(table.rows() * rows.width);
  for (std::size_t j = 0; j < rows.width; ++j) {
    const std::vector<double>& values = table.columns[plan.order[j]].values;
    const double origin = plan.family->origin(j);
    for (std::size_t i = 0; i < values.size(); ++i) rows[i][j] = values[i] - origin;
  }
  return rows;
}

Table decode(const FamilyPlan& plan, const Rows& rows, const Table& like) {
  Table table;
  table.columns.resize(like.columns.size());
  for (std::size_t i = 0; i < rows.size(); ++i) table.row_ids.push_back(fmt::format("{}", i + 1));
  for (std::size_t j = 0; j < rows.width; ++j) {
    const Column& model = like.columns[plan.order[j]];
    Column& column = table.columns[plan.order[j]];
    column = {model.name, model.kind, {}, model.levels};
    for (std::size_t i = 0; i < rows.size(); ++i)
      column.values.push_back(rows[i][j] + plan.family->origin(j));
  }
  return table;
}

}  // namespace coppice
