// Which family models which columns: from the codebook, --family and the columns' kinds to one Family and the
// layout of its rows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coppice/base/setting.hpp"
#include "coppice/data/codebook.hpp"
#include "coppice/data/table.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/inputs.hpp"
#include "coppice/family/registry.hpp"
#include "coppice/family/rows.hpp"

namespace coppice {

/// How the numbers of a column are encoded for its family, before its origin is subtracted.
struct Encoding {
  bool log = false;             // on the log scale
  std::optional<double> spike;  // encoded as minus infinity; counts above a spike at zero start at zero
  bool counts = false;          // whether the numbers are counts

  /// From the units of the table to those of the family.
  double encode(double value) const;
  /// From the units of the family back to those of the table.
  double decode(double number) const;
  /// Whether two encodings are the same.
  bool operator==(const Encoding&) const = default;
};

/// Which family models which columns, and how their cells are encoded.
struct FamilyPlan {
  /// Columns that one family models.
  struct Block {
    std::string family;                    // name in the list of families
    std::vector<std::size_t> columns;      // of the table
    bool has_spikes = false;               // whether any of the columns has a hurdle
    bool learned = false;                  // its hyper-parameters
    std::vector<Encoding> encodings = {};  // of each column
    std::vector<double> resolutions = {};  // of each column: the step its values were rounded to; 0: none
    std::vector<double> spreads = {};      // of each column: see find_spreads; empty: equal values are spread
                                           // together
    EffectiveSettings effective = {};      // the hyper-parameters with all defaults filled in

    /// Whether two blocks model the same columns in the same way.
    bool operator==(const Block&) const = default;
  };
  std::vector<Block> blocks;        // one for each family in use
  std::unique_ptr<Family> family;   // the product of the blocks
  std::vector<std::size_t> order;   // encoded cell j is table column order[j]
  std::vector<Encoding> encodings;  // of encoded cell j
  bool has_copies = false;          // encoded rows end with their number of copies, 1 unless it is set

  /// "gaussian on 3 columns (learned prior), categorical on 2": for users.
  std::string description() const;
  /// The name of the family of an encoded cell.
  const std::string& family_of(std::size_t cell) const;
  /// Add this to the log density of an encoded row to get the density in the units of the table.
  double log_jacobian(const double* row) const;
};

/// Chooses the families. `family` is a name of the list or "auto". Throws Error{configuration} if a column's
/// kind does not fit its family, a family does not accept missing cells where there are some, or a setting
/// belongs to none of the families used. With `independent`, "auto" models real columns as independent within
/// a cluster. Hyper-parameters of a block are learned if the chains can and none of them is given; "auto"
/// then models real columns jointly, however many there are.
/// `rows` is the number of rows that clusters may have, if the table is a sample of them; 0: its own.
FamilyPlan plan_family(const Table& table, const Codebook& codebook, const std::string& family,
                       const Settings& settings, bool independent = false, const ChainAbilities& chains = {},
                       std::size_t rows = 0);

/// Rebuilds a plan from the blocks that plan_family made for the same columns, using only their families and
/// effective settings: present defaults do not matter. Throws Error{configuration} if a block does not fit
/// the table.
FamilyPlan rebuild_plan(const Table& table, std::vector<FamilyPlan::Block> blocks,
                        const ChainAbilities& chains = {}, std::size_t rows = 0);

/// The table's rows for the plan's family; the table may be another one with the same columns. Throws
/// Error{bad_data} for a number that is not positive in a column on the log scale.
Rows encode(const FamilyPlan& plan, const Table& table);
/// The same with a number of copies for each row, if the plan has them.
Rows encode(const FamilyPlan& plan, const Table& table, std::span<const double> copies);

/// Encoded rows back as columns of `like` (names, kinds, levels).
Table decode(const FamilyPlan& plan, const Rows& rows, const Table& like);

}  // namespace coppice
