// Which family models which columns: from the codebook, --family and the columns' kinds to one Family and the
// layout of its rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coppice/base/setting.hpp"
#include "coppice/data/codebook.hpp"
#include "coppice/data/table.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/inputs.hpp"
#include "coppice/family/rows.hpp"

namespace coppice {

struct FamilyPlan {
  struct Block {
    std::string family;
    std::vector<std::size_t> columns;  // of the table
    EffectiveSettings effective = {};

    bool operator==(const Block&) const = default;
  };
  std::vector<Block> blocks;
  std::unique_ptr<Family> family;
  std::vector<std::size_t> order;  // encoded cell j is table column order[j]

  /// "gaussian on 3 columns, categorical on 2": for people.
  std::string description() const;
};

/// Throws Error{configuration} naming the families there are.
FamilyEntry family_by_name(const std::string& name);

/// `family` is a name of the list or "auto". Throws Error{configuration} if a column's kind does not fit its
/// family, a family does not take the missing cells there are, or a setting belongs to none of the families
/// used. With `independent`, "auto" takes real columns as independent within a cluster.
FamilyPlan plan_family(const Table& table, const Codebook& codebook, const std::string& family,
                       const Settings& settings, bool independent = false);

/// The plan of blocks that plan_family made for the same table and codebook, from their families and
/// effective settings alone: no default of today has a say. Throws Error{configuration} if a block does not
/// fit the table.
FamilyPlan rebuild_plan(const Table& table, const Codebook& codebook, std::vector<FamilyPlan::Block> blocks);

/// The table's rows for the plan's family; the table may be another one with the same columns.
Rows encode(const FamilyPlan& plan, const Table& table);

/// Encoded rows back as columns of `like` (names, kinds, levels).
Table decode(const FamilyPlan& plan, const Rows& rows, const Table& like);

}  // namespace coppice
