#include "coppice/post/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/post/row_trees.hpp"
#include "coppice/post/views.hpp"

namespace coppice {

Analysis::Analysis(const std::string& path) : run_(path) {
  const std::size_t draws = run_.draws_per_chain();
  if (draws == 0)
    fail(ErrorCode::bad_data,
         "{}: not every chain of the run has draws yet; continue with: coppice resume {}", path, path);
  for (std::size_t trace = 0; trace < run_.trace_names().size(); ++trace)
    traces_.push_back(summarize_trace(run_.trace_names()[trace], run_.traces()[trace]));
  verdict_ = is_classifier() ? classifier_verdict()
             : is_greedy()   ? greedy_verdict()
                             : judge(traces_, run_.config().chains, draws, inexactness_note().empty());
}

Verdict Analysis::classifier_verdict() const {
  if (!run_.complete())
    return {false, "Not finished: scores are not calibrated yet; continue with: coppice resume.", ""};
  return {true, "One fit, finished; judge it on held-out rows: coppice score RUN TEST.csv.", ""};
}

Verdict Analysis::greedy_verdict() const {
  if (!run_.complete())
    return {false,
            fmt::format(
                "Not finished: {} so far, each with its own probabilities; continue with: coppice resume.",
                trees_so_far()),
            ""};
  return {true,
          has_column_tree()
              ? "One greedy tree of views, finished: a point estimate, with no chains to compare."
              : "One greedy tree, finished: a point estimate, with no chains to compare.",
          ""};
}

std::string Analysis::trees_so_far() const {
  return has_column_tree() ? fmt::format("{} trees over columns", cross_tree().columns.roots().size())
                           : fmt::format("{} trees", row_tree().roots().size());
}

const CrossTree& Analysis::cross_tree() const {
  if (!cross_tree_) cross_tree_ = cross_tree_of(run_);
  return *cross_tree_;
}

Dendrogram Analysis::row_tree_of_view(std::size_t view) const {
  if (view == 0) return row_tree();
  const ReportedViews report = report_views(run_, Loss::vi);
  if (!is_greedy())
    fail(ErrorCode::configuration, "--view: the model {} has no trees over the rows", run_.model().name);
  if (view > report.views.size())
    fail(ErrorCode::usage, "--view {}: the run has views 1 to {}", view, report.views.size());
  return *report.views[view - 1].tree;
}

const Dendrogram& Analysis::row_tree() const {
  if (!row_tree_) row_tree_ = row_tree_of(run_);
  return *row_tree_;
}

Consensus Analysis::consensus(std::size_t level, Selection selection) const {
  ConsensusOptions options;
  options.loss = loss_of(selection);
  options.threads = 0;
  if (is_greedy()) return tree_consensus(row_tree(), run_.labels(level)[0]);
  if (run_.levels() == 1 && selection.is_by_loss())
    return coppice::consensus(run_.labels(level, options.label_budget), options);
  run_.check_level(level);
  const std::span<const Label> labels = hierarchy(selection).level(level);
  return assess(tree_draws().levels[level - 1], Labels(labels.begin(), labels.end()), options);
}

LabelMatrix Analysis::partitions(std::size_t level, std::size_t most_labels) const {
  if (!is_greedy()) return run_.labels(level, most_labels);
  constexpr std::size_t kDraws = 1000;
  const TreePosterior posterior(row_tree());
  Stream stream({run_.config().seed, 0, 0}, Purpose::scores);
  LabelMatrix drawn{run_.rows(), {}};
  for (std::size_t draw = 0; draw < std::clamp<std::size_t>(most_labels / run_.rows(), 1, kDraws); ++draw)
    drawn.push_back(posterior.draw(stream));
  return drawn;
}

const TreeDraws& Analysis::tree_draws() const {
  if (!tree_draws_) tree_draws_ = coppice::tree_draws(run_);
  return *tree_draws_;
}

const SelectedHierarchy& Analysis::hierarchy(Selection selection) const {
  const auto known = hierarchies_.find(selection);
  if (known != hierarchies_.end()) return known->second;
  return hierarchies_.emplace(selection, select_hierarchy(run_, tree_draws(), selection)).first->second;
}

std::string Analysis::inexactness_note() const {
  return run_.model().inexactness_note(run_.setup().problem.parameters);
}

std::string Analysis::incompleteness_note() const {
  if (run_.complete()) return {};
  const std::string& path = run_.file().path();
  if (is_classifier()) return fmt::format("{} is not finished; continue with: coppice resume {}", path, path);
  if (is_greedy())
    return fmt::format("{} is not finished and has {} so far; continue with: coppice resume {}", path,
                       trees_so_far(), path);
  return fmt::format("{} has {} of {} draws per chain; continue with: coppice resume {}", path,
                     run_.draws_per_chain(), run_.config().draws, path);
}

const TraceSummary* Analysis::clusters_trace(std::size_t level) const {
  const std::string of_level = fmt::format("clusters_{}", level);
  for (const TraceSummary& trace : traces_)
    if (trace.name == of_level || (run_.levels() == 1 && trace.name == "clusters")) return &trace;
  return nullptr;
}

std::vector<double> Analysis::mean_clusters() const {
  const std::size_t levels = run_.levels();
  std::vector<double> means;
  for (std::size_t level = 1; level <= levels; ++level)
    if (const TraceSummary* trace = clusters_trace(level)) means.push_back(trace->mean);
  if (means.size() == levels) return means;
  means.assign(levels, 0.0);
  std::size_t draws = 0;
  run_.for_each_draw(0, [&](const SavedDraw& saved) {
    ++draws;
    for (std::size_t level = 1; level <= levels; ++level) {
      const auto part = level_of(saved.labels, run_.rows(), level);
      means[level - 1] += *std::max_element(part.begin(), part.end()) + 1.0;
    }
  });
  for (double& mean : means) mean /= static_cast<double>(draws);
  return means;
}

double Analysis::seconds() const {
  double total = 0.0;
  for (std::size_t chain = 0; chain < run_.config().chains; ++chain)
    total += run_.file().status(chain).seconds;
  return total;
}

std::string selection_words(Selection selection) {
  if (selection == Selection::vi) return "least expected variation of information";
  if (selection == Selection::binder) return "least expected Binder loss";
  return "the draw with the highest " + selection.name();
}

std::string partition_sentence(const Consensus& estimate, Selection selection) {
  if (std::isnan(estimate.expected_loss))
    return fmt::format("Flat clusters of the tree: {}.", estimate.clusters);
  return fmt::format(
      "Point estimate ({}): {} clusters, expected {} {:.3f}; 95 % of the draws are within {:.3f}.",
      selection_words(selection), estimate.clusters, loss_of(selection) == Loss::binder ? "loss" : "VI",
      estimate.expected_loss, estimate.ball_radius);
}

std::vector<std::string> column_names(const SavedRun& run) {
  std::vector<std::string> names;
  for (const Column& column : run.table().columns) names.push_back(column.name);
  return names;
}

std::vector<MoveStatistics> total_moves(const SavedRun& run) {
  std::vector<MoveStatistics> totals;
  for (std::size_t chain = 0; chain < run.config().chains; ++chain) {
    const ChainStatus status = run.file().status(chain);
    totals.resize(std::max(totals.size(), status.moves.size()));
    for (std::size_t i = 0; i < status.moves.size(); ++i) {
      totals[i].name = status.moves[i].name;
      totals[i].proposed += status.moves[i].proposed;
      totals[i].accepted += status.moves[i].accepted;
    }
  }
  return totals;
}

void refuse_classifier(const Analysis& analysis, std::string_view what) {
  if (!analysis.is_classifier()) return;
  fail(ErrorCode::configuration,
       "{} is a classifier and has no {}; use coppice predict, score, profile or summary",
       analysis.run().model().name, what);
}

}  // namespace coppice
