#include "coppice/family/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/adopt_kinds.hpp"
#include "coppice/family/row_family.hpp"

namespace coppice {
namespace {

/// Under a fixed prior full covariances are estimated well only from enough rows per column.
constexpr std::size_t kLargestAutoGaussian = 10;
constexpr std::size_t kRowsPerColumn = 5;
/// Under a learned prior the work is what limits them: it grows with the square of the columns.
constexpr std::size_t kLargestLearnedGaussian = 128;

using Specs = std::vector<const ColumnSpec*>;  // of each column of the table; nullptr: none

/// Whether a hyper-parameter of the family was given, for all columns or for one of these.
bool has_settings(const FamilyEntry& entry, const Settings& settings,
                  std::span<const ColumnSpec* const> specs) {
  return std::any_of(entry.parameters.begin(), entry.parameters.end(), [&](const Parameter& parameter) {
    return settings.find(parameter.name) != settings.end() ||
           std::any_of(specs.begin(), specs.end(), [&](const ColumnSpec* spec) {
             return spec != nullptr && spec->settings.find(parameter.name) != spec->settings.end();
           });
  });
}

/// Real columns, but for those with a spike, are modeled jointly if the prior is learned and what is missing
/// can be filled in, or if they are complete and few for the number of rows.
bool joins_reals(const Table& table, const Specs& specs, const Settings& settings,
                 const ChainAbilities& chains) {
  std::size_t count = 0;
  bool is_complete = true;
  Specs of_reals;
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const Column& column = table.columns[j];
    if (column.kind != Kind::real || (specs[j] != nullptr && specs[j]->hurdle)) continue;
    of_reals.push_back(specs[j]);
    is_complete &= !column.has_missing();
    ++count;
  }
  const auto is_given = [&](bool joint) {
    return has_settings(automatic_family(Kind::real, joint), settings, of_reals);
  };
  if (chains.learns_hyper && !is_given(true) && !is_given(false))
    return count <= kLargestLearnedGaussian && (is_complete || chains.fills_missing);
  return is_complete && count >= 2 && count <= kLargestAutoGaussian && table.rows() >= kRowsPerColumn * count;
}

void check_kinds(const FamilyEntry& entry, const Table& table, const std::vector<std::size_t>& columns) {
  for (const std::size_t j : columns) {
    const Column& column = table.columns[j];
    if (!entry.takes(column.kind))
      fail(ErrorCode::configuration,
           "family {} cannot model the {} column '{}': {}; use --family auto, --drop {}, or give the column "
           "another family in the codebook",
           entry.name, kind_name(column.kind), column.name, why_not(entry, column), column.name);
  }
}

void check_missing(const FamilyEntry& entry, const Table& table, const std::vector<std::size_t>& columns) {
  for (const std::size_t j : columns)
    if (table.columns[j].has_missing())
      fail(ErrorCode::configuration,
           "family {} needs complete rows, but column '{}' has missing cells: use {}", entry.name,
           table.columns[j].name, independent_family_like(entry.name).name);
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

Encoding encoding_of(const Column& column, const ColumnSpec* spec) {
  if (spec == nullptr) return {};
  Encoding encoding;
  encoding.log = spec->transform == "log";
  encoding.spike = spec->hurdle;
  encoding.counts = column.kind == Kind::count;
  if (encoding.spike && encoding.counts && *encoding.spike != 0.0)
    fail(ErrorCode::configuration,
         "codebook: column '{}': hurdle = {}, but the hurdle of counts can only be 0; make the column real",
         column.name, *encoding.spike);
  return encoding;
}

bool is_out_of_range(const Encoding& encoding, double value) {
  return encoding.log && !is_missing(value) && value <= 0.0 && !(encoding.spike && value == *encoding.spike);
}

/// What the family is made for: encoded cells that are not at the spike.
Column encoded_column(const Table& table, std::size_t j, const Encoding& encoding) {
  Column column = table.columns[j];
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    double& value = column.values[i];
    if (is_out_of_range(encoding, value))
      fail(ErrorCode::bad_data,
           "column '{}' is on the log scale, but row {} has {}: {}, or remove transform = \"log\" from the "
           "codebook",
           column.name, i + 1, value, value == 0.0 ? "add hurdle = 0" : "correct it");
    value = encoding.encode(value);
    if (value == kMinusInfinity) value = kMissing;
  }
  return column;
}

/// The family of a block, and what was given for it.
struct BlockMaker {
  const FamilyEntry* entry;
  FamilyInputs inputs;  // without columns
};

/// Makes the family of the plan's blocks; each block keeps the settings it was made with.
void make_families(const Table& table, std::size_t rows, std::vector<BlockMaker>& makers,
                   const ChainAbilities& chains, FamilyPlan& plan) {
  std::vector<std::unique_ptr<Family>> families;
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    FamilyPlan::Block& block = plan.blocks[b];
    const FamilyEntry& entry = *makers[b].entry;
    FamilyInputs& inputs = makers[b].inputs;
    inputs.family = entry.name;
    inputs.rows = rows == 0 ? table.rows() : rows;
    inputs.resolutions = block.resolutions;
    inputs.effective = &block.effective;
    std::vector<Column> encoded;
    encoded.reserve(block.columns.size());
    for (std::size_t i = 0; i < block.columns.size(); ++i) {
      const std::size_t j = block.columns[i];
      const Encoding& encoding = block.encodings[i];
      const bool as_it_is = !encoding.log && !encoding.spike;
      if (!as_it_is) encoded.push_back(encoded_column(table, j, encoding));
      inputs.columns.push_back(as_it_is ? &table.columns[j] : &encoded.back());
      plan.encodings.push_back(encoding);
      plan.order.push_back(j);
    }
    families.push_back(block.has_spikes ? entry.make_with_spike(inputs) : entry.make(inputs));
    block.learned = families.back()->hyper_size() != 0;
    block.effective.columns.resize(block.columns.size());
    if (!entry.missing_allowed && !(chains.fills_missing && families.back()->must_fill(0)))
      check_missing(entry, table, block.columns);
  }
  plan.family =
      families.size() == 1 ? std::move(families[0]) : std::make_unique<RowFamily>(std::move(families));
}

}  // namespace

double Encoding::encode(double value) const {
  if (spike && value == *spike) return kMinusInfinity;
  if (log) return std::log(value);
  return spike && counts ? value - 1.0 : value;
}

double Encoding::decode(double number) const {
  if (spike && number == kMinusInfinity) return *spike;
  if (log) return std::exp(number);
  return spike && counts ? number + 1.0 : number;
}

double FamilyPlan::log_jacobian(const double* row) const {
  double total = 0.0;
  for (std::size_t j = 0; j < encodings.size(); ++j)
    if (encodings[j].log && std::isfinite(row[j])) total -= row[j] + family->origin(j);
  return total;
}

const std::string& FamilyPlan::family_of(std::size_t cell) const {
  auto block = blocks.begin();
  for (; cell >= block->columns.size(); ++block) cell -= block->columns.size();
  return block->family;
}

std::string FamilyPlan::description() const {
  std::vector<std::string> parts;
  for (const Block& block : blocks)
    parts.push_back(fmt::format(
        "{}{} on {} column{}{}", block.family, block.has_spikes ? " with a hurdle" : "", block.columns.size(),
        block.columns.size() == 1 ? "" : "s", block.learned ? " (learned prior)" : ""));
  return fmt::format("{}", fmt::join(parts, ", "));
}

FamilyPlan plan_family(const Table& table, const Codebook& codebook, const std::string& family,
                       const Settings& given, bool independent, const ChainAbilities& chains,
                       std::size_t rows) {
  if (table.columns.empty()) fail(ErrorCode::configuration, "there is no column left to model");
  FamilyPlan plan;
  std::vector<Parameter> hyper_parameters;
  for (const FamilyEntry& entry : all_families())
    hyper_parameters.insert(hyper_parameters.end(), entry.parameters.begin(), entry.parameters.end());
  const Settings settings = with_present_names(hyper_parameters, given);
  std::vector<ColumnSpec> present(table.columns.size());  // what the codebook says, under present names
  Specs specs(table.columns.size(), nullptr);
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    // Nearly always in the order of the table: looking for every column of a wide one would take long.
    const std::string& name = table.columns[j].name;
    const bool is_in_order = j < codebook.columns.size() && codebook.columns[j].name == name;
    const ColumnSpec* spec = is_in_order ? &codebook.columns[j] : codebook.find(name);
    if (spec == nullptr) continue;
    present[j] = *spec;
    present[j].settings = with_present_names(hyper_parameters, spec->settings);
    specs[j] = &present[j];
  }
  const bool joint = !independent && joins_reals(table, specs, settings, chains);
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const bool has_spike = specs[j] != nullptr && specs[j]->hurdle.has_value();
    const std::string automatic = automatic_family(table.columns[j].kind, joint && !has_spike).name;
    std::string chosen = family == "auto" ? automatic : family;
    if (specs[j] != nullptr && specs[j]->family == "auto")
      chosen = automatic;
    else if (specs[j] != nullptr && !specs[j]->family.empty())
      chosen = specs[j]->family;
    const auto same = std::find_if(plan.blocks.begin(), plan.blocks.end(), [&](const FamilyPlan::Block& b) {
      return b.family == chosen && b.has_spikes == has_spike;
    });
    const auto place = static_cast<std::size_t>(same - plan.blocks.begin());
    if (place == plan.blocks.size()) plan.blocks.push_back({chosen, {}, has_spike});
    FamilyPlan::Block& block = plan.blocks[place];
    const Encoding encoding = encoding_of(table.columns[j], specs[j]);
    block.columns.push_back(j);
    block.encodings.push_back(encoding);
    block.resolutions.push_back(specs[j] != nullptr && !encoding.log ? specs[j]->resolution.value_or(0.0)
                                                                     : 0.0);
  }
  std::vector<FamilyEntry> used;
  for (const FamilyPlan::Block& block : plan.blocks) used.push_back(family_by_name(block.family));
  check_settings(used, settings);
  std::vector<BlockMaker> makers;
  for (const FamilyPlan::Block& block : plan.blocks) {
    const FamilyEntry& entry = family_by_name(block.family);
    check_kinds(entry, table, block.columns);
    if (block.has_spikes && entry.make_with_spike == nullptr)
      fail(ErrorCode::configuration,
           "codebook: column '{}': family {} has no hurdle; use {}, or remove hurdle from the codebook",
           table.columns[block.columns.front()].name, entry.name,
           automatic_family(table.columns[block.columns.front()].kind, false).name);
    FamilyInputs inputs;
    for (const Parameter& parameter : entry.parameters)
      if (const auto setting = settings.find(parameter.name); setting != settings.end())
        inputs.settings.insert(*setting);
    for (const std::size_t j : block.columns) {
      inputs.per_column.push_back(specs[j] != nullptr ? &specs[j]->settings : nullptr);
      if (specs[j] != nullptr) check_settings(entry, *specs[j]);
    }
    inputs.learn = chains.learns_hyper;
    makers.push_back({&entry, std::move(inputs)});
  }
  make_families(table, rows, makers, chains, plan);
  return plan;
}

FamilyPlan rebuild_plan(const Table& table, std::vector<FamilyPlan::Block> blocks,
                        const ChainAbilities& chains, std::size_t rows) {
  FamilyPlan plan;
  plan.blocks = std::move(blocks);
  // Families record what they are made with once more, so that what they are made from is kept apart.
  std::vector<EffectiveSettings> stored;
  std::vector<BlockMaker> makers;
  for (FamilyPlan::Block& block : plan.blocks) {
    stored.push_back(std::move(block.effective));
    block.effective = {};
    block.encodings.resize(block.columns.size());
    block.resolutions.resize(block.columns.size(), 0.0);
  }
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    const FamilyPlan::Block& block = plan.blocks[b];
    BlockMaker maker{&family_by_name(block.family), {}};
    check_kinds(*maker.entry, table, block.columns);
    if (block.has_spikes && maker.entry->make_with_spike == nullptr)
      fail(ErrorCode::configuration, "family {} has no hurdle", block.family);
    maker.inputs.settings = stored[b].block;
    maker.inputs.learn = block.learned;
    maker.inputs.is_rebuilt = true;
    stored[b].columns.resize(block.columns.size());
    for (const Settings& settings : stored[b].columns) maker.inputs.per_column.push_back(&settings);
    makers.push_back(std::move(maker));
  }
  make_families(table, rows, makers, chains, plan);
  return plan;
}

Rows encode(const FamilyPlan& plan, const Table& table) {
  Rows rows;
  rows.has_copies = plan.has_copies;
  rows.width = plan.order.size() + (plan.has_copies ? 1 : 0);
  rows.cells.resize(table.rows() * rows.width, 1.0);
  for (std::size_t j = 0; j < plan.order.size(); ++j) {
    const std::vector<double>& values = table.columns[plan.order[j]].values;
    const double origin = plan.family->origin(j);
    const Encoding& encoding = plan.encodings[j];
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_out_of_range(encoding, values[i]))
        fail(ErrorCode::bad_data, "row {}: column '{}' is on the log scale and cannot be {}", i + 1,
             table.columns[plan.order[j]].name, values[i]);
      rows[i][j] = encoding.encode(values[i]) - origin;
    }
  }
  return rows;
}

Rows encode(const FamilyPlan& plan, const Table& table, std::span<const double> copies) {
  Rows rows = encode(plan, table);
  for (std::size_t row = 0; plan.has_copies && row < rows.size(); ++row)
    rows[row][rows.width - 1] = copies[row];
  return rows;
}

Table decode(const FamilyPlan& plan, const Rows& rows, const Table& like) {
  Table table;
  table.columns.resize(like.columns.size());
  for (std::size_t i = 0; i < rows.size(); ++i) table.row_ids.push_back(fmt::format("{}", i + 1));
  for (std::size_t j = 0; j < plan.order.size(); ++j) {
    const Column& model = like.columns[plan.order[j]];
    Column& column = table.columns[plan.order[j]];
    column = {model.name, model.kind, {}, model.levels, model.dates};
    for (std::size_t i = 0; i < rows.size(); ++i)
      column.values.push_back(plan.encodings[j].decode(rows[i][j] + plan.family->origin(j)));
  }
  return table;
}

}  // namespace coppice
