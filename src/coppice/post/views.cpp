#include "coppice/post/views.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "coppice/base/error.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/row_trees.hpp"

namespace coppice {
namespace {

/// Labels of rows that are kept in memory for the clusters of one view.
constexpr std::size_t kMostLabelsOfViews = 20'000'000;

/// Columns above which the matrix of all pairs is made only if it is asked for, and above which not even
/// then.
constexpr std::size_t kWidestMatrix = 5'000;
constexpr std::size_t kWidestExport = 12'000;

std::size_t draws_used(const SavedRun& run) {
  return std::max<std::size_t>(kMostLabelsOfViews / std::max<std::size_t>(run.rows(), 1),
                               run.config().chains);
}

void require_views(const SavedRun& run) {
  if (!run.model().has_views())
    fail(ErrorCode::configuration, "the model {} has one view of all columns; these models find several: {}",
         run.model().name, fmt::join(models_that(&ModelEntry::has_views), ", "));
}

/// The views of each draw used, with columns in the order of the table.
template <typename Visit>
void for_each_views(const SavedRun& run, Visit&& visit) {
  const std::vector<std::size_t>& order = run.setup().plan.order;
  run.for_each_draw(draws_used(run), [&](const SavedDraw& draw) {
    const Views encoded = run.model().views(run.setup().problem, draw.payload);
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

/// The cohesion of views from the matrix.
void describe(ReportedViews& report) {
  for (ReportedView& view : report.views) {
    double sum = 0.0;
    double pairs = 0.0;
    for (const std::size_t a : view.columns)
      for (const std::size_t b : view.columns) {
        if (a == b) continue;
        sum += report.coassignment[a * report.columns + b];
        pairs += 1.0;
      }
    view.cohesion = pairs > 0.0 ? sum / pairs : report.partition.row_confidence[view.columns.front()];
  }
}

/// The same from the draws: of a view's columns each draw counts those in one view, so that no matrix is
/// needed.
void describe(ReportedViews& report, const LabelMatrix& draws) {
  std::vector<double> members(draws.rows);  // of each view of a draw
  for (ReportedView& view : report.views) {
    if (view.columns.size() == 1) {
      view.cohesion = report.partition.row_confidence[view.columns.front()];
      continue;
    }
    double ordered_pairs = 0.0;
    for (std::size_t d = 0; d < draws.draws(); ++d) {
      const std::span<const Label> labels = draws[d];
      for (const std::size_t column : view.columns) {
        double& count = members[static_cast<std::size_t>(labels[column])];
        ordered_pairs += 2.0 * count;
        count += 1.0;
      }
      for (const std::size_t column : view.columns) members[static_cast<std::size_t>(labels[column])] = 0.0;
    }
    const auto size = static_cast<double>(view.columns.size());
    view.cohesion = ordered_pairs / (size * (size - 1.0) * static_cast<double>(draws.draws()));
  }
}

std::vector<ReportedView> views_of(const Labels& columns) {
  std::vector<ReportedView> views(cluster_sizes(columns).size());
  for (std::size_t column = 0; column < columns.size(); ++column)
    views[static_cast<std::size_t>(columns[column])].columns.push_back(column);
  return views;
}

void sort_by_columns(std::vector<ReportedView>& views) {
  std::stable_sort(views.begin(), views.end(), [](const ReportedView& a, const ReportedView& b) {
    return a.columns.size() > b.columns.size();
  });
}

ReportedViews views_of_tree(const SavedRun& run) {
  const CrossTree tree = cross_tree_of(run);
  ReportedViews report;
  report.columns = tree.columns.items();
  report.coassignment = TreePosterior(tree.columns).coclustering();
  for_each_views(run, [&](Labels columns, const Views& views) {
    const Labels of_column = columns;
    canonicalize(columns);
    report.partition = tree_consensus(tree.columns, columns);
    report.views = views_of(columns);
    const std::vector<Dendrogram::Node> nodes = nodes_of_views(tree.columns, columns);
    for (std::size_t v = 0; v < report.views.size(); ++v) {
      ReportedView& view = report.views[v];
      view.tree = tree.rows[nodes[v]];
      view.rows =
          tree_consensus(*view.tree, views.rows[static_cast<std::size_t>(of_column[view.columns.front()])]);
    }
  });
  describe(report);
  sort_by_columns(report.views);
  return report;
}

}  // namespace

std::vector<double> column_coassignment(const SavedRun& run) {
  require_views(run);
  if (run.model().has_column_tree()) return TreePosterior(cross_tree_of(run).columns).coclustering();
  if (run.table().columns.size() > kWidestExport)
    fail(ErrorCode::configuration,
         "the matrix of {} columns would take {} GB; coppice views shows which of them belong together",
         run.table().columns.size(),
         run.table().columns.size() * run.table().columns.size() * sizeof(double) >> 30);
  return coclustering(column_labels(run), 0);
}

std::vector<double> column_coassignment(const SavedRun& run, std::span<const std::size_t> columns) {
  require_views(run);
  const auto chosen = [&](const auto& value_of) {
    std::vector<double> matrix;
    for (const std::size_t a : columns)
      for (const std::size_t b : columns) matrix.push_back(value_of(a, b));
    return matrix;
  };
  if (run.model().has_column_tree()) {
    const std::vector<double> all = TreePosterior(cross_tree_of(run).columns).coclustering();
    const std::size_t width = run.table().columns.size();
    return chosen([&](std::size_t a, std::size_t b) { return all[a * width + b]; });
  }
  LabelMatrix labels;
  labels.rows = columns.size();
  for_each_views(run, [&](const Labels& of_column, const Views&) {
    Labels some;
    for (const std::size_t column : columns) some.push_back(of_column[column]);
    canonicalize(some);
    labels.push_back(some);
  });
  return coclustering(labels, 0);
}

ReportedViews report_views(const SavedRun& run, Loss loss, std::size_t threads) {
  require_views(run);
  if (run.model().has_column_tree()) return views_of_tree(run);
  ConsensusOptions options;
  options.loss = loss;
  options.threads = threads;
  ReportedViews report;
  report.columns = run.table().columns.size();
  const LabelMatrix columns = column_labels(run);
  if (report.columns <= kWidestMatrix) report.coassignment = coclustering(columns, threads);
  report.partition = consensus(columns, options);
  report.views = views_of(report.partition.labels);
  sort_by_columns(report.views);
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
  for (std::size_t v = 0; v < report.views.size(); ++v) report.views[v].rows = consensus(rows[v], options);
  describe(report, columns);
  return report;
}

std::vector<std::string> column_names(const SavedRun& run, const ReportedView& view) {
  std::vector<std::string> names;
  for (const std::size_t column : view.columns) names.push_back(run.table().columns[column].name);
  return names;
}

std::vector<ClusterProfile> profile_view(const SavedRun& run, const ReportedView& view,
                                         std::size_t most_traits) {
  std::vector<ClusterProfile> profiles = profile_clusters(run, view.rows.labels, view.rows.row_confidence, 0);
  const std::vector<std::string> names = column_names(run, view);
  for (ClusterProfile& profile : profiles) {
    std::erase_if(profile.traits, [&](const Trait& trait) {
      return std::find(names.begin(), names.end(), trait.column) == names.end();
    });
    profile.traits.resize(std::min(profile.traits.size(), most_traits));
  }
  return profiles;
}

}  // namespace coppice
