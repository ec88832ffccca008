// From a file to a Dataset: decompression, format, roles of the columns (id, truth, dropped), kinds inferred
// or taken from a codebook. Every fault of a file is one line that names file, line, column, value and
// remedy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coppice/data/codebook.hpp"
#include "coppice/data/kinds/finding.hpp"
#include "coppice/data/kinds/rules.hpp"
#include "coppice/data/raw_table.hpp"
#include "coppice/data/table.hpp"

namespace coppice {

/// The roles of columns, and how cells are understood.
struct ReadOptions {
  std::string id;                  // the column of row names; empty: rows are named 1..N
  std::vector<std::string> truth;  // columns of known labels, kept apart from the data
  std::vector<std::string> drop;   // columns to ignore
  bool labels_only = false;        // columns of data are not read, and need not be there
  /// Columns of 0 and 1 (yes and no) that are to be learned; "label_*" names all that begin so. For a format
  /// that has labels of its own, "" stands for each of them.
  std::vector<std::string> labels = {};
  bool labels_may_be_absent = false;  // names that no column has are passed over
  /// Id, truth and drop are those of a fit: a file of new rows may lack columns that are not data, but for
  /// that of row names, unless it may be absent too.
  bool as_in_a_fit = false;
  bool id_may_be_absent = false;
  Header header = Header::automatic;
  const Codebook* codebook = nullptr;
  /// Columns that are modeled though they would be left out (identifiers, copies of others or of the truth).
  std::vector<std::string> keep = {};
  std::vector<std::string> na_values = {};  // cells that mean missing in every column, beside the usual ones
  KindRules rules = {};
  /// Whether columns that tell nothing are left out, and copies of the truth refused.
  bool leave_out = true;
  /// Columns of numbers are features of a classifier: binary, counts or reals, and none is left out.
  bool plain_features = false;
};

/// What was decided about one column of the file that has no other role.
struct ColumnReport {
  ColumnSpec spec;            // with the reason
  std::string left_out = {};  // a word: empty, constant, identifier, duplicate, collinear; "": it is modeled
  std::string ambiguous = {};
  std::size_t missing = 0;  // cells
};

/// What was read: the table and what was decided about its columns.
struct Dataset {
  Table table;
  Table truth;                            // category columns with the same row names
  Table labels = {};                      // binary columns with the same row names
  Codebook codebook;                      // complete: one entry per column of the table
  std::string digest;                     // SHA-256 of the bytes as read, before decompression, in hex
  std::vector<std::string> notes;         // one-line remarks for the user
  std::vector<ColumnReport> report = {};  // columns in the order of the file
  std::vector<Finding> findings = {};     // the gravest first
};

/// Reads a file, or stdin for "-". The format follows from the name (.csv .tsv .npy .svm .svmlight .libsvm,
/// each optionally followed by .gz or .zst); other names are read as CSV with the delimiter found out. Throws
/// Error{cannot_read, bad_data, configuration}.
Dataset read_dataset(const std::string& path, const ReadOptions& options);
/// The same from memory; the name decides the format and appears in messages.
Dataset read_dataset_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options);

/// Reads new rows for a fitted table, of which only names, kinds and levels are used (it may have no rows).
/// Columns are matched by name in any order, or by position if the file has no header; further columns are
/// ignored. If the id is not required and the file has no such column, rows are named 1..N. With the codebook
/// of a fit, cells are understood as they were there: units of dates, values that mean missing.
Table read_like(const std::string& path, const Codebook& fitted, const std::string& id,
                bool id_required = true);
/// The same from memory.
Table read_like_bytes(std::string_view bytes, const std::string& name, const Codebook& fitted,
                      const std::string& id, bool id_required = true);
/// The same with the columns of a table.
Table read_like(const std::string& path, const Table& fitted, const std::string& id, bool id_required = true);
/// The same from memory.
Table read_like_bytes(std::string_view bytes, const std::string& name, const Table& fitted,
                      const std::string& id, bool id_required = true);

/// A Dataset from columns that are in memory; `raw.file` is what messages call them. The digest is that of
/// the typed table. Throws Error{bad_data} for an infinite number.
Dataset dataset_of(RawTable raw, const ReadOptions& options);
/// Among counts a column of 0 and 1 is a count that has not been larger yet: new rows may have more. Columns
/// that the codebook tells of stay as they are.
void take_bits_for_counts(Dataset& data, const Codebook& told);
/// The same for new rows of a fitted table: columns are matched by name, or by position if there are as many
/// and a name is not there.
Table table_like(RawTable raw, const Codebook& fitted);
/// The same with the columns of a table.
Table table_like(RawTable raw, const Table& fitted);

}  // namespace coppice
