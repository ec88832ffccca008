// What is read from a file, and what the caller says about its columns before it is read.
#pragma once

#include <string>
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
  std::string weights = {};        // the column of row weights; empty: every row counts once
  bool labels_only = false;        // columns of data are not read, and need not be there
  /// Columns of 0 and 1 (yes and no) that are to be learned; "label_*" names all that begin so. For a format
  /// that has labels of its own, "" means each of them.
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
  /// All columns have a family that was named: none of numbers is left out.
  bool family_is_named = false;
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
  Table weights = {};                     // the column of row weights with the same row names, if any
  Codebook codebook;                      // complete: one entry per column of the table
  std::string digest;                     // SHA-256 of the bytes as read, before decompression, in hex
  std::vector<std::string> notes;         // one-line remarks for the user
  std::vector<ColumnReport> report = {};  // columns in the order of the file
  std::vector<Finding> findings = {};     // the gravest first
};

}  // namespace coppice
