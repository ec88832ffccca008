// What the files of coppice export share: the request, the ways to write, and one function for each thing
// that can be exported. export.cpp lists them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coppice/app/answering.hpp"
#include "coppice/out/csv.hpp"
#include "coppice/out/npy.hpp"

namespace coppice::app {

/// What is exported, and to where.
struct ExportArguments {
  std::string path, what, to = "csv", output;
  std::size_t level = 0;            // 0: all, where that makes sense
  std::size_t view = 0;             // 0: the one with most columns
  bool of_columns = false;          // the linkage of the columns
  std::optional<std::size_t> draw;  // labels of this draw only
  std::size_t chain = 0;            // of that draw
  bool csv_safe = false;
  PlacementFlags selecting;
};

/// A writer of CSV to -o or stdout.
std::unique_ptr<CsvWriter> csv_to(const ExportArguments& arguments);

/// Writes an array in NumPy's format to -o or stdout.
template <typename Value>
void write_array(const ExportArguments& arguments, std::span<const Value> values,
                 const std::vector<std::size_t>& shape) {
  if (arguments.output.empty() || arguments.output == "-")
    write_output("", npy_bytes(values, shape));
  else
    write_npy(arguments.output, values, shape);
}

/// The level that was asked for, or all.
std::vector<std::size_t> wanted_levels(const ExportArguments& arguments, const SavedRun& run);

// What was drawn (export_draws.cpp).
void export_labels(const ExportArguments& arguments, const Analysis& analysis);
void export_trace(const ExportArguments& arguments, const Analysis& analysis);
void export_draws(const ExportArguments& arguments, const Analysis& analysis);
void export_data(const ExportArguments& arguments, const Analysis& analysis);

// What is concluded from it (export_answers.cpp).
void export_partition(const ExportArguments& arguments, const Analysis& analysis);
void export_consensus(const ExportArguments& arguments, const Analysis& analysis);
void export_matrix(const ExportArguments& arguments, const Analysis& analysis);
void export_columns(const ExportArguments& arguments, const Analysis& analysis);
void export_linkage(const ExportArguments& arguments, const Analysis& analysis);

}  // namespace coppice::app
