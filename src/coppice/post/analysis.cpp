#include "coppice/post/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "coppice/base/counted.hpp"
#include "coppice/base/error.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/post/chain_agreement.hpp"
#include "coppice/post/row_trees.hpp"
#include "coppice/post/views.hpp"

namespace coppice {

Analysis::Analysis(const std::string& path, ShownRows shown) : run_(path, shown) {
  const std::size_t draws = run_.draws_per_chain();
  if (draws == 0)
    fail(ErrorCode::stopped, "{}: not every chain of the run has draws yet; continue with: coppice resume {}",
         path, path);
  for (std::size_t trace = 0; trace < run_.trace_names().size(); ++trace)
    traces_.push_back(summarize_trace(run_.trace_names()[trace], run_.traces()[trace]));
}

const Verdict& Analysis::verdict() const {
  if (!verdict_)
    verdict_ = is_classifier()                   ? classifier_verdict()
               : is_greedy()                     ? greedy_verdict()
               : run_.config().end == kEndSketch ? sketch_verdict()
                                                 : chains_verdict();
  return *verdict_;
}

Verdict Analysis::sketch_verdict() const {
  Verdict verdict;
  verdict.sentence = fmt::format(
      "A sketch: {} draws of each of {} chains, too few to know whether the chains agree; for an "
      "answer to rely on, continue with: coppice resume {}.",
      run_.draws_per_chain(), run_.config().chains, run_.file().path());
  return verdict;
}

const std::vector<PartitionDraws>& Analysis::partition_draws() const {
  if (!partition_draws_) partition_draws_ = coppice::partition_draws(run_);
  return *partition_draws_;
}

const std::vector<PartitionDiagnostic>& Analysis::partition_diagnostics() const {
  if (!partition_diagnostics_) partition_diagnostics_ = diagnose_partitions(run_, partition_draws());
  return *partition_diagnostics_;
}

const std::vector<double>& Analysis::undecided_shares() const {
  if (!undecided_shares_) {
    std::vector<double> shares;
    for (const PartitionDraws& draws : partition_draws())
      shares.push_back(draws.of_columns ? std::nan("") : undecided_pairs(draws));
    undecided_shares_ = std::move(shares);
  }
  return *undecided_shares_;
}

Verdict Analysis::chains_verdict() const {
  std::vector<TraceSummary> partitions;
  for (const PartitionDiagnostic& entry : partition_diagnostics()) partitions.push_back(entry.summary);
  Evidence evidence;
  evidence.traces = traces_;
  evidence.partitions = partitions;
  evidence.chains = run_.config().chains;
  evidence.draws = run_.draws_per_chain();
  evidence.warmup = run_.config().warmup;
  evidence.exact = inexactness_note().empty();
  evidence.file = run_.file().path();
  evidence.seconds = run_.file().elapsed().value_or(0.0);
  evidence.is_until_trusted = run_.config().is_until_trusted();
  Verdict verdict = judge(evidence);
  if (verdict.trusted) note_diffuse(verdict);
  return verdict;
}

void Analysis::note_diffuse(Verdict& verdict) const {
  double least = 1.0;  // of all levels or views; one that is decided is an answer
  for (const double share : undecided_shares())
    if (!std::isnan(share)) least = std::min(least, share);
  verdict.is_diffuse = least > 0.5 && !partition_draws().empty();
  if (verdict.is_diffuse)
    verdict.sentence += fmt::format(
        " Converged, but the grouping is uncertain: most pairs are undecided ({:.0f} % of the pairs that may "
        "belong together are together in 10 to 90 % of the draws).",
        std::floor(100.0 * least));
}

Verdict Analysis::classifier_verdict() const {
  const std::string& path = run_.file().path();
  Verdict verdict;
  verdict.trusted = run_.complete();
  verdict.sentence =
      verdict.trusted
          ? fmt::format("One fit, finished; judge it on held-out rows: coppice score {} TEST.csv.", path)
          : fmt::format("Not finished: scores are not calibrated yet; continue with: coppice resume {}.",
                        path);
  return verdict;
}

Verdict Analysis::greedy_verdict() const {
  Verdict verdict;
  verdict.trusted = run_.complete();
  verdict.sentence =
      !verdict.trusted
          ? fmt::format(
                "Not finished: {} so far, each with its own probabilities; continue with: coppice "
                "resume {}.",
                trees_so_far(), run_.file().path())
      : has_column_tree() ? "One greedy tree of views, finished: a point estimate, with no chains to compare."
                          : "One greedy tree, finished: a point estimate, with no chains to compare.";
  return verdict;
}

std::string Analysis::trees_so_far() const {
  return has_column_tree() ? counted(cross_tree().columns.roots().size(), "tree") + " over columns"
                           : counted(row_tree().roots().size(), "tree");
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

const Consensus& Analysis::consensus(std::size_t level, const EstimateRequest& request) const {
  const auto known = estimates_.find({level, request});
  if (known != estimates_.end()) return known->second;
  return estimates_.emplace(std::pair(level, request), make_consensus(level, request)).first->second;
}

Consensus Analysis::make_consensus(std::size_t level, const EstimateRequest& request) const {
  const Selection selection = request.selection;
  const bool is_flat = !is_greedy() && run_.levels() == 1 && selection.is_by_loss();
  if (!request.is_plain() && !is_flat)
    fail(ErrorCode::configuration,
         "--clusters and --cost-ratio are for the point estimate of flat models ({} has {}); use --level",
         run_.model().name, is_greedy() ? "a tree" : "levels");
  ConsensusOptions options;
  options.loss = loss_of(selection);
  options.join_cost = 2.0 * request.cost_ratio / (1.0 + request.cost_ratio);
  options.max_clusters = request.most_clusters;
  options.threads = 0;
  if (is_greedy()) return tree_consensus(row_tree(), run_.labels(level)[0]);
  if (is_flat) return coppice::consensus(run_.labels(level, options.label_budget), options);
  run_.check_level(level);
  const std::span<const Label> labels = hierarchy(selection).level(level);
  return assess(tree_draws().levels[level - 1], Labels(labels.begin(), labels.end()), options);
}

std::optional<BallBounds> Analysis::ball_bounds(std::size_t level, const EstimateRequest& request) const {
  if (is_greedy() || is_classifier() || !request.is_plain()) return std::nullopt;
  const Consensus& estimate = consensus(level, request);
  constexpr std::size_t kMostLabels = 20'000'000;
  const LabelMatrix draws = run_.labels(level, kMostLabels);
  const std::vector<double> distances = losses(draws, estimate.labels, loss_of(request.selection));
  // Of a large run other draws are looked at than made the radius; one of them is within it all the same.
  const double radius = std::max(estimate.ball_radius, *std::min_element(distances.begin(), distances.end()));
  return coppice::ball_bounds(draws, distances, radius);
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
  if (const std::optional<double> elapsed = run_.file().elapsed()) return *elapsed;
  double total = 0.0;  // of a run that was made before it was kept
  for (std::size_t chain = 0; chain < run_.config().chains; ++chain)
    total += run_.file().status(chain).seconds;
  return total;
}

std::string selection_words(Selection selection) {
  if (selection == Selection::kVi) return "least expected variation of information";
  if (selection == Selection::kBinder) return "least expected Binder loss";
  return "the draw with the highest " + selection.name();
}

std::string partition_sentence(const Consensus& estimate, const EstimateRequest& request,
                               std::size_t unassigned) {
  if (std::isnan(estimate.expected_loss))
    return fmt::format("Flat clusters of the tree: {}.", estimate.clusters);
  std::string how = selection_words(request.selection);
  if (request.cost_ratio != 1.0)
    how += fmt::format(", joining costs {} times separating", request.cost_ratio);
  if (request.most_clusters > 0) how += fmt::format(", at most {} clusters", request.most_clusters);
  std::string what = counted(estimate.clusters - unassigned, "cluster");
  if (unassigned > 0) what += fmt::format(" and {}", counted(unassigned, "unassigned row"));
  return fmt::format("Point estimate ({}): {}, expected {} {:.3f}; 95 % of the draws are within {:.3f}.", how,
                     what, loss_of(request.selection) == Loss::binder ? "loss" : "VI", estimate.expected_loss,
                     estimate.ball_radius);
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
