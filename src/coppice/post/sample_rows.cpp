#include "coppice/post/sample_rows.hpp"

#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/draw_batches.hpp"
#include "coppice/post/least_values.hpp"
#include "coppice/post/predict.hpp"
#include "coppice/post/units.hpp"

namespace coppice {

Table sample_rows(const SavedRun& run, std::size_t count, std::uint64_t seed, std::size_t threads) {
  const Transform transform = transform_from_json(run.contents().transform);
  if (!transform.inputs.empty())
    fail(ErrorCode::configuration,
         "{}: rows of principal components are not rows of the data; fit without --pca", run.file().path());
  const std::size_t draws = draws_for_prediction(run, 0);
  std::vector<std::vector<std::size_t>> rows_of(draws);
  std::vector<Stream> streams;
  for (std::size_t row = 0; row < count; ++row) {
    streams.emplace_back(StreamName{seed, 0, row}, Purpose::prior_data);
    rows_of[draw_index(streams.back(), draws)].push_back(row);
  }
  Rows drawn;
  drawn.width = run.setup().rows.width;
  drawn.cells.resize(count * drawn.width);
  // In the units of the rows, which are measured from origins; cells on the log scale have no such end.
  const FamilyPlan& plan = run.setup().plan;
  const std::vector<double> of_columns = least_values(run);
  std::vector<double> least(drawn.width, kMinusInfinity);
  for (std::size_t j = 0; j < plan.order.size(); ++j)
    if (!plan.encodings[j].log && !plan.encodings[j].counts)
      least[j] = of_columns[plan.order[j]] - plan.family->origin(j);
  // A spike is minus infinity, and is where it may be.
  const auto is_below = [&](const double* row, std::size_t j) {
    return std::isfinite(row[j]) && row[j] < least[j];
  };
  const auto draw_row = [&](const NewCells& from, Stream& stream, double* row) {
    constexpr int kMostTries = 1000;
    for (int i = 0; i < kMostTries; ++i) {
      from.draw_row(stream, row);
      std::size_t j = 0;
      while (j < drawn.width && !is_below(row, j)) ++j;
      if (j == drawn.width) return;
    }
    for (std::size_t j = 0; j < drawn.width; ++j)
      if (is_below(row, j)) row[j] = least[j];
  };
  std::size_t draw = 0;
  for_each_batch(run, draws, threads, [&](std::span<const TakenDraw> batch) {
    for (const TakenDraw& taken : batch)
      for (const std::size_t row : rows_of[draw++])
        draw_row(new_cells_of(*taken.predictor), streams[row], drawn[row]);
  });
  Table table = decode(plan, drawn, run.table());
  const std::vector<OriginalUnits> units = original_units(transform, run.table());
  for (std::size_t j = 0; j < table.columns.size(); ++j)
    for (double& value : table.columns[j].values) value = units[j].cell(value);
  return table;
}

}  // namespace coppice
