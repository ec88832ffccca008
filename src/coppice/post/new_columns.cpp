#include "coppice/post/new_columns.hpp"

#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/data/row_weights.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/draw_batches.hpp"
#include "coppice/post/predict.hpp"

namespace coppice {

std::vector<NewColumnAnswer> score_new_columns(const SavedRun& run, const Table& columns,
                                               const Codebook& codebook, std::size_t threads) {
  if (columns.rows() != run.rows())
    fail(ErrorCode::bad_data, "new columns must have the {} rows of the run, not {}", run.rows(),
         columns.rows());
  struct Alone {
    FamilyPlan plan;
    Rows rows;
  };
  const std::span<const double> copies = run.contents().copies();
  std::vector<Alone> alone;
  for (const Column& column : columns.columns) {
    const Table own{{column}, columns.row_ids};
    FamilyPlan plan =
        plan_family(copies.empty() ? own : repeat_rows(own, copies), codebook, "auto", {}, true);
    plan.has_copies = !copies.empty();
    Rows rows = encode(plan, own, copies);
    alone.push_back({std::move(plan), std::move(rows)});
  }
  std::vector<std::vector<double>> log_whole(alone.size()), log_new(alone.size());
  for_each_batch(run, draws_for_prediction(run, 0), threads, [&](std::span<const TakenDraw> batch) {
    const std::size_t before = log_whole.empty() ? 0 : log_whole.front().size();
    for (std::size_t c = 0; c < alone.size(); ++c) {
      log_whole[c].resize(before + batch.size());
      log_new[c].resize(before + batch.size());
    }
    parallel_for(batch.size() * alone.size(), threads, [&](std::size_t task) {
      const std::size_t d = task / alone.size();
      const std::size_t c = task % alone.size();
      const NewColumn answer =
          new_cells_of(*batch[d].predictor).new_column(*alone[c].plan.family, alone[c].rows);
      log_whole[c][before + d] = answer.log_probability;
      log_new[c][before + d] = answer.log_new_view;
    });
  });
  std::vector<NewColumnAnswer> answers;
  for (std::size_t c = 0; c < alone.size(); ++c) {
    const double log_total = log_sum_exp(log_whole[c]);
    double log_jacobian = 0.0;
    for (std::size_t row = 0; row < alone[c].rows.size(); ++row)
      log_jacobian += alone[c].rows.copies_of(row) * alone[c].plan.log_jacobian(alone[c].rows[row]);
    answers.push_back({log_total - std::log(static_cast<double>(log_whole[c].size())) + log_jacobian,
                       std::exp(log_sum_exp(log_new[c]) - log_total)});
  }
  return answers;
}

}  // namespace coppice
