// What a family is made from: the columns it models and the hyper-parameters a user gave, by name. Defaults
// come from the columns' own scale, so that a user who sets nothing gets sensible clusters in any unit.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/base/setting.hpp"
#include "coppice/family/family.hpp"

namespace coppice {

/// What the chains of a model do with a family of their own.
struct ChainAbilities {
  bool learns_hyper = false;   // they learn its hyper-parameters
  bool fills_missing = false;  // they fill in missing cells where a family needs complete rows
  bool in_blocks = false;      // they ask blocks of rows, which may be in different processes
};

/// The hyper-parameters a family is made with, defaults filled in. A family made from them, for the same
/// columns and with nothing else given, is the same to the last bit.
struct EffectiveSettings {
  Settings block;                 // of all columns together
  std::vector<Settings> columns;  // of each column

  bool operator==(const EffectiveSettings&) const = default;
};

struct FamilyInputs {
  std::string family;  // its name
  std::vector<const Column*> columns;
  Settings settings;                        // for all columns (--set)
  std::vector<const Settings*> per_column;  // from the codebook; nullptr where there is none
  std::size_t rows = 0;                     // largest count a cluster can reach, for tables
  bool learn = false;                       // hyper-parameters for which no value was given are learned
  bool is_rebuilt = false;  // the settings are effective ones: `learn` alone says what is learned
  EffectiveSettings* effective = nullptr;  // where the values in use are recorded, if anywhere
  std::vector<double> resolutions;  // steps to which the columns' values are rounded; 0: none. May be empty

  /// One value per column: the codebook's, else --set's number (for all) or vector (one each), else the
  /// default; for prior_mean also the word "mean", which is the default. Recorded as effective. Throws
  /// Error{configuration} if a vector has the wrong length or a value is outside (low, high].
  std::vector<double> per_column_values(std::string_view name, std::span<const double> defaults,
                                        double low_excluded, double high = 1e300) const;
  /// The same for a parameter that only decides the defaults of others: it is not recorded.
  std::vector<double> given_values(std::string_view name, std::span<const double> defaults,
                                   double low_excluded, double high = 1e300) const;
  /// A number for each column that cannot be set and comes from the data, such as the unit in which
  /// hyper-parameters are learned: that of the columns as they are, or, of a family that is rebuilt, the one
  /// it was made with. Recorded.
  std::vector<double> from_data(std::string_view name, std::vector<double> now) const;
  /// Records what was settled on without per_column_values: for the whole block, or for one column.
  void record(std::string_view name, Setting value) const;
  void record(std::string_view name, std::size_t column, Setting value) const;
  /// "--set NAME=VALUE for column 'x'", or "column 'x': NAME = VALUE" if it was not --set: how a refusal
  /// begins.
  std::string words_of(std::string_view name, std::size_t column, std::string_view value) const;
  /// Whether these hyper-parameters are to be learned: if any of them was given, none is.
  bool learns(std::initializer_list<std::string_view> names) const;
  std::vector<std::string> column_names() const;
  /// --set's value by that name, or nullptr. Codebook columns cannot set what belongs to the whole block.
  const Setting* whole_block(std::string_view name) const;
};

/// One value for each column.
std::vector<double> for_every_column(const FamilyInputs& inputs, double value);

/// Hyper-parameters that are one number for each column.
Parameter positive_parameter(std::string name, std::string fallback, std::string help);
Parameter number_parameter(std::string name, std::string help);

/// Mean and standard deviation of a column's present cells; sd is 1 if it has no spread.
struct ColumnScale {
  double mean = 0.0;
  double sd = 1.0;
  double population_variance = 1.0;  // the mean square distance from the mean; 1 if there is no spread
};
ColumnScale column_scale(const Column& column);

/// Defaults of the Gaussian families, in units of a column's standard deviation.
inline constexpr double kDefaultClusterSd = 0.5;
inline constexpr double kDefaultMeanStrength = 0.05;

/// The values that a cell can have under a family.
enum class Support { real_line, positive, counts, bounded_counts, levels };

/// One line of the list of families. Other parts of the program ask for its traits, never for its name.
struct FamilyEntry {
  std::string name;
  std::string summary;
  std::vector<Kind> kinds;  // the column kinds it can model; the first is the one it is meant for
  bool missing_allowed = true;
  std::vector<Parameter> parameters;  // hyper-parameters by --set, with underscores
  std::unique_ptr<Family> (*make)(const FamilyInputs&);

  Support support = Support::real_line;
  std::string support_parameter = {};  // of bounded support: the parameter that bounds it
  bool joint = false;                  // its columns depend on each other within a cluster
  bool gaps_in_new_rows = true;        // new rows may have missing cells, even if fitted ones may not
  bool rate_like = false;              // clusters differ by a rate: profiles compare means as Poisson rates
  bool overdispersed = false;          // counts whose variance exceeds their mean
  std::vector<Kind> automatic = {};    // kinds that --family auto takes it for
  /// The same for columns with a spike, whose cells are minus infinity there; nullptr: takes no such columns.
  std::unique_ptr<Family> (*make_with_spike)(const FamilyInputs&) = nullptr;

  bool takes(Kind kind) const;
  bool has_parameter(std::string_view parameter) const;
  /// Whole numbers with probabilities of their own.
  bool is_discrete() const { return support == Support::counts || support == Support::bounded_counts; }
};

}  // namespace coppice
