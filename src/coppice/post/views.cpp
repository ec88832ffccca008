#include "coppice/post/views.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/post/coclustering.hpp"

namespace coppice {
namespace {

/// Labels of rows that are kept in memory for the clusters of one view.
constexpr std::size_t kMostLabels = 20'000'000;

std::size_t draws_used(const SavedRun& run) {
  return std::max<std::size_t>(kMostLabels / std::max<std::size_t>(run.rows(), 1), run.config().chains);
}

void require_views(const SavedRun& run) {
  if (run.model().views == nullptr)
    fail(ErrorCode::configuration, "the model {} has one view of all columns; fit crosscat for several",
         run.model().name);
}

/// The views of each draw used, with columns in the order of the table.
template <typename Visit>
void for_each_views(const SavedRun& run, Visit&& visit) {
  const std::vector<std::size_t>& order = run.setup().plan.order;
  run.for_each_draw(draws_used(run), [&](const SavedDraw& draw) {
    const Views encoded = run.model().views(run.setup().problem, draw.details);
    Labels columns(order.size());
    for (std::size_t cell = 0; cell < order.size(); ++cell) columns[order[cell]] = encoded.columns[cell];
    visit(columns, encoded);
  });
}

LabelMatrix column_labels(const SavedRun& run) {
  LabelMatrix matrix;
  matrix.rows = run.table().columns.size();
  for_each_views(run, [&](Labels columns, const Views&) {
    canonicalize(columns);
    matrix.push_back(columns);
  });
  return matrix;
}

}  // namespace

std::vector<double> column_coassignment(const SavedRun& run) {
  require_views(run);
  return coclustering(column_labels(run), 0);
}

ReportedViews report_views(const SavedRun& run, Loss loss, std::size_t threads) {
  require_views(run);
  ConsensusOptions options;
  options.loss = loss;
  options.threads = threads;
  ReportedViews report;
  report.columns = run.table().columns.size();
  const LabelMatrix columns = column_labels(run);
  report.together = coclustering(columns, threads);
  report.partition = consensus(columns, options);
  report.views.resize(report.partition.clusters);
  for (std::size_t column = 0; column < report.columns; ++column)
    report.views[static_cast<std::size_t>(report.partition.labels[column])].columns.push_back(column);
  std::stable_sort(
      report.views.begin(), report.views.end(),
      [](const ReportedView& a, const ReportedView& b) { return a.columns.size() > b.columns.size(); });
  std::vector<LabelMatrix> rows(report.views.size());
  for (LabelMatrix& matrix : rows) matrix.rows = run.rows();
  for_each_views(run, [&](const Labels& of_column, const Views& views) {
    for (std::size_t v = 0; v < report.views.size(); ++v) {
      std::vector<std::size_t> shared(views.count(), 0);
      for (const std::size_t column : report.views[v].columns)
        ++shared[static_cast<std::size_t>(of_column[column])];
      const auto best = std::max_element(shared.begin(), shared.end()) - shared.begin();
      rows[v].push_back(views.rows[static_cast<std::size_t>(best)]);
    }
  });
  for (std::size_t v = 0; v < report.views.size(); ++v) {
    ReportedView& view = report.views[v];
    view.rows = consensus(rows[v], options);
    double sum = 0.0;
    double pairs = 0.0;
    for (const std::size_t a : view.columns)
      for (const std::size_t b : view.columns) {
        if (a == b) continue;
        sum += report.together[a * report.columns + b];
        pairs += 1.0;
      }
    view.cohesion = pairs > 0.0 ? sum / pairs : report.partition.row_confidence[view.columns.front()];
  }
  return report;
}

}  // namespace coppice
