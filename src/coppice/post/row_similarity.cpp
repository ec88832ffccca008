#include "coppice/post/row_similarity.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/post/cell_grid.hpp"
#include "coppice/post/draw_batches.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMostSimilarityLabels = 400'000'000;
/// Draws by which rows are judged that only some cells are known of.
constexpr std::size_t kMostSimilarityDraws = 200;

std::vector<double> similarity_in_views(const SavedRun& run, std::size_t row,
                                        std::span<const std::size_t> columns) {
  std::vector<double> sums(run.rows(), 0.0);
  double total = 0.0;
  std::vector<std::size_t> cells;
  for (const std::size_t column : columns) cells.push_back(cell_of_column(run, column));
  run.for_each_draw(0, [&](const SavedDraw& draw) {
    const Views views = run.model().views(run.setup().problem, draw.payload);
    std::vector<double> share(views.count(), 0.0);  // of the columns that are asked about
    if (cells.empty())
      for (const Label view : views.columns) share[static_cast<std::size_t>(view)] += 1.0;
    for (const std::size_t cell : cells) share[static_cast<std::size_t>(views.columns[cell])] += 1.0;
    for (std::size_t view = 0; view < views.count(); ++view) {
      total += share[view];
      if (share[view] == 0.0) continue;
      for (std::size_t other = 0; other < sums.size(); ++other)
        if (views.rows[view][other] == views.rows[view][row]) sums[other] += share[view];
    }
  });
  for (double& sum : sums) sum /= total;
  return sums;
}

std::vector<double> similarity_by_cells(const SavedRun& run, std::size_t row,
                                        std::span<const std::size_t> columns, std::size_t level,
                                        std::size_t threads) {
  need_gaps(run, "similarity given some columns");
  const Rows& rows = run.setup().rows;
  Rows known;
  known.width = rows.width;
  known.cells.assign(rows.size() * rows.width, kMissing);
  for (const std::size_t column : columns) {
    const std::size_t cell = cell_of_column(run, column);
    for (std::size_t other = 0; other < rows.size(); ++other) known[other][cell] = rows[other][cell];
  }
  std::vector<double> sums(run.rows(), 0.0);
  double draws = 0.0;
  for_each_batch(run, kMostSimilarityDraws, threads, [&](std::span<const TakenDraw> batch) {
    for (const TakenDraw& draw : batch) {
      draws += 1.0;
      const std::size_t clusters = draw.predictor->clusters(level);
      const auto membership = [&](std::size_t of) {
        std::vector<double> weights(clusters + 1);
        draw.predictor->log_weights(known[of], level, weights);
        const double log_total = log_sum_exp(weights);
        for (double& weight : weights) weight = std::exp(weight - log_total);
        weights.pop_back();  // a new cluster is not a cluster that they share
        return weights;
      };
      const std::vector<double> own = membership(row);
      parallel_for(sums.size(), threads, [&](std::size_t other) {
        const std::vector<double> theirs = membership(other);
        for (std::size_t cluster = 0; cluster < clusters; ++cluster)
          sums[other] += own[cluster] * theirs[cluster];
      });
    }
  });
  for (double& sum : sums) sum = std::min(1.0, sum / draws);
  return sums;
}

}  // namespace

std::vector<double> row_similarity(const Analysis& analysis, std::size_t row,
                                   std::span<const std::size_t> columns, std::size_t level,
                                   std::size_t threads) {
  const SavedRun& run = analysis.run();
  run.check_level(level);
  if (row >= run.rows()) fail(ErrorCode::usage, "row {}: the run has {}", row, run.rows());
  for (const std::size_t column : columns)
    if (column >= run.table().columns.size())
      fail(ErrorCode::usage, "column {}: the run has {}", column, run.table().columns.size());
  std::vector<double> result;
  if (run.model().has_views()) {
    result = similarity_in_views(run, row, columns);
  } else if (!columns.empty()) {
    result = similarity_by_cells(run, row, columns, level, threads);
  } else {
    const LabelMatrix draws = analysis.partitions(level, kMostSimilarityLabels);
    result.assign(run.rows(), 0.0);
    for (std::size_t d = 0; d < draws.draws(); ++d) {
      const std::span<const Label> labels = draws[d];
      for (std::size_t other = 0; other < result.size(); ++other)
        if (labels[other] == labels[row]) result[other] += 1.0;
    }
    for (double& sum : result) sum /= static_cast<double>(draws.draws());
  }
  result[row] = 1.0;
  return result;
}

}  // namespace coppice
