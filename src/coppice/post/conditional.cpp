#include "coppice/post/conditional.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "coppice/base/close_names.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/post/cell_grid.hpp"
#include "coppice/post/draw_batches.hpp"
#include "coppice/post/predict.hpp"

namespace coppice {
namespace {

constexpr std::size_t kConditionalNodes = 256;
constexpr std::size_t kMostConditionalDraws = 1000;

/// A text as a cell of CSV.
std::string quoted(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"') result.push_back('"');
    result.push_back(c);
  }
  return fmt::format("\"{}\"", result);
}

ImputedCell cell_on_grid(const SavedRun& run, const double* row, std::size_t column, std::size_t threads) {
  const std::size_t cell = cell_of_column(run, column);
  const CellGrid grid = make_cell_grid(run, cell, kConditionalNodes);
  std::vector<double> log_sums(grid.values.size(), kMinusInfinity);
  const std::size_t width = run.setup().rows.width;
  const std::size_t most = std::min(kMostConditionalDraws, draws_for_prediction(run, 0));
  for_each_batch(run, most, threads, [&](std::span<const TakenDraw> batch) {
    parallel_for(grid.values.size(), threads, [&](std::size_t k) {
      std::vector<double> variant(row, row + width);
      variant[cell] = grid.values[k];
      for (const TakenDraw& draw : batch) {
        std::vector<double> weights(draw.predictor->clusters(1) + 1);
        draw.predictor->log_weights(variant.data(), 1, weights);
        log_sums[k] = log_add_exp(log_sums[k], log_sum_exp(weights));
      }
    });
  });
  for (std::size_t k = 0; k < log_sums.size(); ++k) log_sums[k] += grid.log_widths[k];
  return summarize_grid(run, cell, grid, log_sums);
}

}  // namespace

std::size_t column_by_name(const SavedRun& run, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < run.table().columns.size(); ++j) {
    if (run.table().columns[j].name == name) return j;
    names.push_back(run.table().columns[j].name);
  }
  const std::string question = did_you_mean(name, names);
  fail(ErrorCode::usage, "column '{}': the run has no such column{}{}", name, question.empty() ? "" : "; ",
       question);
}

Table row_of_known_cells(const SavedRun& run, std::span<const KnownCell> known) {
  if (!transform_from_json(run.contents().transform).inputs.empty())
    fail(ErrorCode::configuration,
         "{}: principal components need all columns of a row; fit without --pca to predict from some of them",
         run.file().path());
  std::vector<std::string> head;
  std::vector<std::string> cells;
  std::vector<bool> is_known(run.table().columns.size(), false);
  for (const KnownCell& cell : known) {
    const std::size_t column = column_by_name(run, cell.first);
    if (is_known[column]) fail(ErrorCode::usage, "column '{}' is given twice", cell.first);
    is_known[column] = true;
    if (cell.second.empty())
      fail(ErrorCode::usage, "column '{}' has no value; write {}=VALUE", cell.first, cell.first);
  }
  for (const Column& column : run.table().columns) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const KnownCell& cell) { return cell.first == column.name; });
    head.push_back(quoted(column.name));
    cells.push_back(found == known.end() ? "NA" : quoted(found->second));
  }
  return run.read_new_rows_bytes(fmt::format("{}\n{}\n", fmt::join(head, ","), fmt::join(cells, ",")),
                                 "the known cells.csv", "");
}

std::vector<ImputedCell> conditional_cells(const SavedRun& run, const Table& row,
                                           std::span<const std::size_t> columns, std::size_t threads) {
  need_gaps(run, "prediction from some columns");
  for (const std::size_t column : columns)
    if (!is_missing(row.columns.at(column).values.front()))
      fail(ErrorCode::usage, "column '{}' is both known and asked for", row.columns[column].name);
  std::vector<ImputedCell> result;
  const Rows encoded = encode(run.setup().plan, row);
  bool has_mixtures = run.model().has_new_cells();
  for (std::size_t cell = 0; has_mixtures && cell < encoded.width; ++cell)
    has_mixtures = !is_missing(encoded[0][cell]) || can_impute_new_cell(run, cell);
  if (!has_mixtures) {
    for (const std::size_t column : columns) result.push_back(cell_on_grid(run, encoded[0], column, threads));
    return result;
  }
  const Imputation imputation = impute(run, row, {0, threads});
  for (const std::size_t column : columns)
    for (const ImputedCell& cell : imputation.cells)
      if (cell.column == column) result.push_back(cell);
  return result;
}

}  // namespace coppice
