#include "coppice/post/sample_rows.hpp"

#include "coppice/base/error.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/draw_batches.hpp"
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
  std::size_t draw = 0;
  for_each_batch(run, draws, threads, [&](std::span<const TakenDraw> batch) {
    for (const TakenDraw& taken : batch)
      for (const std::size_t row : rows_of[draw++])
        new_cells_of(*taken.predictor).draw_row(streams[row], drawn[row]);
  });
  Table table = decode(run.setup().plan, drawn, run.table());
  const std::vector<OriginalUnits> units = original_units(transform, run.table());
  for (std::size_t j = 0; j < table.columns.size(); ++j)
    for (double& value : table.columns[j].values) value = units[j].cell(value);
  return table;
}

}  // namespace coppice
