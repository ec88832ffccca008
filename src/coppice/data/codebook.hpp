// The codebook: what each column of a table means (kind, levels, family and its settings). A user may write
// one to override what the readers infer; the readers always return a complete one. Its file format is TOML.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/setting.hpp"
#include "coppice/data/table.hpp"

namespace coppice {

/// How one column is read and modeled.
struct ColumnSpec {
  std::string name;                       // as in the header of the file
  Kind kind = Kind::real;                 // what the numbers of the column are
  std::vector<std::string> levels;        // category: all levels in order; binary: the texts of 0 and 1
  std::string family;                     // empty: the default family of the kind
  Settings settings;                      // hyper-parameters of the family
  std::string transform = {};             // "log": modeled on the log scale; empty: as it is
  std::optional<double> hurdle = {};      // one value that is modeled separately
  std::optional<double> resolution = {};  // the grid that the values were rounded to, in their own units
  std::string missing = {};               // "informative": whether a cell is missing is a column of its own
  std::vector<std::string> missing_values = {};  // cells that mean missing in this column, such as -999
  std::string unit = {};    // of the numbers: "days since 2024-01-31", "%", "$"; empty: unknown
  std::string reason = {};  // why it is modeled this way, for users
  bool inferred = false;    // not stated by the user; not part of the content

  /// Whether the contents are equal; `inferred` does not count.
  bool operator==(const ColumnSpec& other) const;
};

/// The name of the column of zeros and ones that `missing = "informative"` adds.
std::string indicator_name(std::string_view column);

/// How the columns of a table are read and modeled.
struct Codebook {
  std::vector<ColumnSpec> columns;  // in the order of the table
  std::string source;               // the file it was read from, for messages; not part of its content

  /// The column of that name; nullptr if there is none.
  const ColumnSpec* find(std::string_view name) const;
  /// Whether the columns are equal; the source does not count.
  bool operator==(const Codebook& other) const { return columns == other.columns; }
};

/// How to_toml writes the reasons: as keys that are read back, or as comments.
enum class Reasons { keys, comments };

/// The codebook as an editable TOML file; parse_codebook reads it back to an equal codebook (except for
/// reasons that are written as comments).
std::string to_toml(const Codebook& codebook, Reasons reasons = Reasons::keys);
/// Reads a codebook from TOML text. Throws Error{bad_data} naming file, line, column, value and remedy.
Codebook parse_codebook(std::string_view text, const std::string& file_name);
/// A table with the columns of the codebook and no rows: the shape that read_like matches new rows against.
Table empty_table(const Codebook& codebook);

}  // namespace coppice
