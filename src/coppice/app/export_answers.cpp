// coppice export: what is concluded from the draws (the partition, matrices, the linkage).
#include <fmt/format.h>

#include <algorithm>

#include "coppice/app/exporting.hpp"
#include "coppice/base/error.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/post/cluster_names.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/linkage.hpp"
#include "coppice/post/row_trees.hpp"
#include "coppice/post/run_tree.hpp"
#include "coppice/post/views.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

/// A square matrix over named rows or columns.
void write_square(const ExportArguments& arguments, std::span<const double> matrix, const char* things,
                  const std::vector<std::string>& names) {
  const std::size_t count = names.size();
  if (arguments.to == "csv") {
    const std::unique_ptr<CsvWriter> writer = csv_to(arguments);
    writer->cell(std::string_view(things).substr(0, std::string_view(things).size() - 1));
    for (const std::string& name : names) writer->cell(name);
    writer->end_row();
    for (std::size_t i = 0; i < count; ++i) {
      writer->cell(names[i]).cells(matrix.subspan(i * count, count));
      writer->end_row();
    }
    writer->close();
  } else if (arguments.to == "npy") {
    write_array<double>(arguments, matrix, {count, count});
  } else {
    ordered_json lines = ordered_json::array();
    for (std::size_t i = 0; i < count; ++i) {
      const auto line = matrix.subspan(i * count, count);
      lines.push_back(std::vector<double>(line.begin(), line.end()));
    }
    write_json(arguments.output, {{things, names}, {arguments.what, lines}});
  }
}

/// The linkage of a greedy tree with the log odds of its merges; none for other trees.
TreeLinkage linkage_of_run(const ExportArguments& arguments, const Analysis& analysis) {
  if (!analysis.is_greedy()) return {run_tree(analysis.run(), arguments.level), {}, {}};
  std::vector<TreeLinkage> trees = tree_linkages(
      arguments.of_columns ? analysis.cross_tree().columns : analysis.row_tree_of_view(arguments.view));
  if (trees.size() > 1)
    fail(ErrorCode::configuration,
         "the fit is not finished: it has {} trees, but a linkage describes one; continue with: coppice "
         "resume {}",
         trees.size(), arguments.path);
  return std::move(trees.front());
}

/// Columns of a flat model are `cluster`, `name` (unless without) and `confidence`; those of a hierarchy
/// carry their level. Rows that cannot be placed are in cluster -1.
void export_estimate(const ExportArguments& arguments, const Analysis& analysis, bool with_names) {
  const SavedRun& run = analysis.run();
  const std::vector<std::size_t> levels = wanted_levels(arguments, run);
  std::vector<Consensus> estimates;
  std::vector<std::vector<ClusterName>> names;
  for (const std::size_t level : levels) {
    estimates.push_back(analysis.consensus(level, arguments.selecting.request()));
    Consensus& estimate = estimates.back();
    if (with_names) names.push_back(name_level(run, level, estimate.labels));
    if (analysis.is_greedy()) continue;
    const std::vector<bool> unassigned = arguments.selecting.unassigned(estimate);
    for (std::size_t row = 0; row < run.rows(); ++row)
      if (unassigned[row]) {
        estimate.labels[row] = -1;
        --estimate.clusters;
      }
  }
  if (arguments.to == "csv") {
    const std::unique_ptr<CsvWriter> writer = csv_to(arguments);
    writer->cell("row");
    for (const std::size_t level : levels) {
      const std::string suffix = levels.size() == 1 ? "" : fmt::format("_{}", level);
      writer->cell("cluster" + suffix);
      if (with_names) writer->cell("name" + suffix);
      writer->cell("confidence" + suffix);
    }
    writer->end_row();
    for (std::size_t row = 0; row < run.rows(); ++row) {
      writer->cell(run.table().row_ids[row]);
      for (std::size_t l = 0; l < estimates.size(); ++l) {
        const Label cluster = estimates[l].labels[row];
        writer->cell(cluster);
        if (with_names)
          writer->cell(cluster < 0 ? "unassigned" : names[l][static_cast<std::size_t>(cluster)].name);
        writer->cell(estimates[l].row_confidence[row]);
      }
      writer->end_row();
    }
    writer->close();
  } else if (arguments.to == "json") {
    const auto entry = [&](std::size_t l) -> ordered_json {
      const Consensus& estimate = estimates[l];
      ordered_json part{{"labels", estimate.labels},
                        {"confidence", estimate.row_confidence},
                        {"clusters", estimate.clusters},
                        {"expected_loss", estimate.expected_loss}};
      if (!with_names) return part;
      part["names"] = ordered_json::array();
      for (const ClusterName& name : names[l]) part["names"].push_back(name.name);
      return part;
    };
    ordered_json answer{{"rows", run.table().row_ids}};
    if (levels.size() == 1) {
      answer.update(entry(0));
    } else {
      answer["levels"] = ordered_json::array();
      for (std::size_t l = 0; l < levels.size(); ++l) {
        ordered_json level{{"level", levels[l]}};
        level.update(entry(l));
        answer["levels"].push_back(level);
      }
    }
    write_json(arguments.output, answer);
  } else {
    std::vector<std::int32_t> values;
    for (const Consensus& estimate : estimates)
      values.insert(values.end(), estimate.labels.begin(), estimate.labels.end());
    const std::vector<std::size_t> shape = levels.size() == 1
                                               ? std::vector<std::size_t>{run.rows()}
                                               : std::vector<std::size_t>{levels.size(), run.rows()};
    write_array<std::int32_t>(arguments, values, shape);
  }
}

}  // namespace

void export_columns(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  write_square(arguments, column_coassignment(run), "columns", column_names(run));
}

void export_matrix(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  constexpr std::size_t kMostRows = 20'000;
  if (run.rows() > kMostRows)
    fail(ErrorCode::configuration,
         "a co-clustering matrix of {} rows is more than {} x {}: export labels instead", run.rows(),
         kMostRows, kMostRows);
  const std::size_t level = std::max<std::size_t>(arguments.level, 1);
  run.check_level(level);
  const std::vector<double> matrix =
      analysis.is_greedy() ? TreePosterior(analysis.row_tree_of_view(arguments.view)).coclustering()
                           : coclustering(run.labels(level), 0);
  write_square(arguments, matrix, "rows", run.table().row_ids);
}

void export_linkage(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  const TreeLinkage tree = linkage_of_run(arguments, analysis);
  const std::vector<double> values = to_scipy(tree.linkage);
  if (arguments.to == "npy") {
    write_array<double>(arguments, values, {values.size() / 4, 4});
  } else if (arguments.to == "csv") {
    const std::unique_ptr<CsvWriter> writer = csv_to(arguments);
    for (const char* name : {"left", "right", "height", "size"}) writer->cell(name);
    if (!tree.log_odds.empty()) writer->cell("log_odds");
    writer->end_row();
    for (std::size_t i = 0; i < values.size(); i += 4) {
      writer->cells(std::span<const double>(values).subspan(i, 4));
      if (!tree.log_odds.empty()) writer->cell(tree.log_odds[i / 4]);
      writer->end_row();
    }
    writer->close();
  } else {
    ordered_json merges = ordered_json::array();
    for (std::size_t i = 0; i < values.size(); i += 4)
      merges.push_back({values[i], values[i + 1], values[i + 2], values[i + 3]});
    ordered_json answer{{arguments.of_columns ? "columns" : "rows",
                         arguments.of_columns ? column_names(run) : run.table().row_ids},
                        {"linkage", merges}};
    if (!tree.log_odds.empty()) answer["log_odds"] = tree.log_odds;
    write_json(arguments.output, answer);
  }
}

void export_partition(const ExportArguments& arguments, const Analysis& analysis) {
  export_estimate(arguments, analysis, true);
}

void export_consensus(const ExportArguments& arguments, const Analysis& analysis) {
  export_estimate(arguments, analysis, false);
}

}  // namespace coppice::app
