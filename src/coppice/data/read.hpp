// From a file to a Dataset: decompression, format, roles of the columns (id, truth, dropped), kinds inferred
// or taken from a codebook. Every error in a file gives a one-line message that names file, line, column,
// value and remedy.
#pragma once

#include <string>
#include <string_view>

#include "coppice/data/dataset.hpp"

namespace coppice {

/// Reads a file, or stdin for "-". The format follows from the name (.csv .tsv .npy .svm .svmlight .libsvm
/// .parquet .arrow .feather, each optionally followed by .gz or .zst); other names are read as CSV with the
/// delimiter detected. Throws Error{cannot_read, bad_data, configuration}.
Dataset read_dataset(const std::string& path, const ReadOptions& options);
/// The same from memory; the name decides the format and appears in messages.
Dataset read_dataset_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options);

/// Reads new rows for a fitted table, whose names, kinds and levels are used (it may have no rows).
/// Columns are matched by name in any order, or by position if the file has no header; further columns are
/// ignored. If the id is not required and the file has no such column, rows are named 1..N. With the codebook
/// of a fit, cells are interpreted as in the fit: units of dates, values that mean missing.
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

/// A Dataset from columns in memory; messages refer to them as `raw.file`. The digest is that of the typed
/// table. Throws Error{bad_data} for an infinite number.
Dataset dataset_of(RawTable raw, const ReadOptions& options);
/// Treats columns of 0 and 1 among counts as counts, since new rows may have larger values. Columns that are
/// listed in the codebook stay as they are.
void take_bits_for_counts(Dataset& data, const Codebook& told);
/// The same for new rows of a fitted table: columns are matched by name, or by position if there are equally
/// many and a name is missing.
Table table_like(RawTable raw, const Codebook& fitted);
/// The same with the columns of a table.
Table table_like(RawTable raw, const Table& fitted);

}  // namespace coppice
