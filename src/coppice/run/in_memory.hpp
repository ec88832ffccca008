// Tables that another language has in memory: from their columns to a Dataset, and from texts as a user would
// type them to settings. For bindings; the command line reads files.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/data/raw_table.hpp"
#include "coppice/data/read.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

/// Columns in memory, and the names of the rows.
struct MemoryTable {
  RawTable raw;
  std::vector<std::string> row_ids;
};

/// Columns are added to it with add_numbers and add_texts. Messages refer to it by `name`.
MemoryTable start_memory_table(const std::string& name, std::vector<std::string> row_ids);
/// Appends a column of numbers; NaN is a missing cell. Throws Error{usage} unless there is one for each row.
void add_numbers(MemoryTable& table, std::string name, std::vector<double> values);
/// Appends a column of texts: codes are indices into the levels, NaN is a missing cell. Throws Error{usage}
/// for others.
void add_texts(MemoryTable& table, std::string name, std::vector<double> codes,
               std::vector<std::string> levels);

/// Where a cell is and what it says, for messages.
Place place_of(const MemoryTable& table, std::size_t row, std::size_t column);

/// How the columns of a table in memory are to be read.
struct MemoryReading {
  const Table* labels = nullptr;     // columns of 0, 1 and NaN that a model is to learn, or none
  std::string codebook;              // TOML; may be empty
  bool family_is_named = false;      // kinds then follow what the family takes
  std::vector<double> weights = {};  // of the rows; empty: each counts once
};

/// The columns with their kinds, and the labels if there are any to learn.
Dataset read_memory(const MemoryTable& table, const MemoryReading& reading);
/// Rows for a run of these contents, in the units its model works in.
Table rows_like(const MemoryTable& table, const RunContents& contents);
/// The same for a run that is open.
Table new_rows(const SavedRun& run, const MemoryTable& table);

/// Names and values as a user would type them.
using TypedSettings = std::vector<std::pair<std::string, std::string>>;
/// Checks them against the parameter table. Throws Error{usage}.
Settings checked_settings(std::span<const Parameter> table, const TypedSettings& typed,
                          const std::string& model);
/// Hyper-parameters of families: TOML values by name.
Settings family_settings_of(const TypedSettings& typed);

}  // namespace coppice
