// What the readers of whole tables and of new rows share: bytes to raw columns, the roles of columns, and
// typed columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coppice/data/csv.hpp"
#include "coppice/data/dataset.hpp"
#include "coppice/data/raw_table.hpp"

namespace coppice {

inline constexpr std::string_view kDatasetRemedy =
    "correct it, leave the cell empty, or add it to the levels in the codebook";
inline constexpr std::string_view kLikeRemedy =
    "correct it or leave the cell empty: the model has not seen other levels";

/// Parses the bytes in the format of the name. `choose` sees the columns before any cell of a CSV is read,
/// after all of them in the other formats; either way the columns come back as it wants them.
RawTable parse_table(std::string_view bytes, const std::string& name, CsvOptions options,
                     const Chooser& choose);

std::vector<std::string> names_of(const RawTable& raw);
std::unordered_map<std::string, std::size_t> positions_of(const RawTable& raw);
std::vector<std::string> row_ids_of(RawTable& raw, std::optional<std::size_t> id);

/// How the cells of a column with this spec are read; strict: for a model that knows the column.
Want want_of(const ColumnSpec& spec, bool strict);
/// Brings a column that was not read from a text into the form that is wanted.
void settle_wanted(RawTable& raw, std::size_t index);

/// What each column of the file is for, from the options of the caller.
struct Roles {
  std::optional<std::size_t> id;
  std::vector<std::size_t> truth;
  std::vector<std::size_t> labels;
  std::optional<std::size_t> weights;
  std::vector<const ColumnSpec*> specs;  // of the data columns; nullptr: inferred
  std::vector<bool> keep;

  void assign(RawTable& raw, const ReadOptions& options);
};

/// A column that is learned: present or absent, or not known.
Column label_column(RawTable& raw, std::size_t index, const ReadOptions& options);
/// A column of row weights.
Column weight_column(RawTable& raw, std::size_t index);
/// The labels that a format keeps in one text, "3,23,61", as a column each, in numeric order.
void split_labels(const RawTable& raw, std::size_t index, Table& labels);

/// Whether the codebook's column at this index is made from the gaps of another; if so, of which.
std::optional<std::size_t> source_of_indicator(const Codebook& codebook, std::size_t index);
/// 1 where the cell of the other column is missing, 0 where it is not.
Column indicator_of(const Column& column);

/// Kinds, what is left out, and what is worth saying: from raw columns to a Dataset.
Dataset assemble(RawTable raw, const Roles& roles, const ReadOptions& options);

}  // namespace coppice
