// A run opened for questions, with the answers that most questions need: trace summaries, verdict, consensus,
// hierarchy.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/post/consensus.hpp"
#include "coppice/post/modes.hpp"
#include "coppice/post/partition_diagnostics.hpp"
#include "coppice/post/profile.hpp"
#include "coppice/post/select_hierarchy.hpp"
#include "coppice/post/verdict.hpp"
#include "coppice/run/diagnostics.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/cross_tree.hpp"

namespace coppice {

/// Which partition is wanted: by which loss or trace, at which costs, with how many clusters.
struct EstimateRequest {
  Selection selection = Selection::kVi;
  /// What joining two rows that belong apart costs, beside separating two that belong together.
  double cost_ratio = 1.0;
  std::size_t most_clusters = 0;  // 0: as many as there are

  EstimateRequest() = default;
  EstimateRequest(Selection given) : selection(given) {}  // NOLINT(google-explicit-constructor)
  bool is_plain() const { return cost_ratio == 1.0 && most_clusters == 0; }
  auto operator<=>(const EstimateRequest&) const = default;
};

/// A run opened for questions. Every answer is computed when it is first asked for and kept.
class Analysis {
 public:
  /// Opens the run; throws Error{stopped} if it has no draws yet.
  explicit Analysis(const std::string& path, ShownRows shown = ShownRows::sample);

  const SavedRun& run() const { return run_; }
  const std::vector<TraceSummary>& traces() const { return traces_; }
  /// Whether the run can be trusted; needs the labels of the draws, which are read for the first question.
  const Verdict& verdict() const;
  /// The draws' partitions that convergence is judged by, and the diagnostics of who is with whom.
  const std::vector<PartitionDraws>& partition_draws() const;
  const std::vector<PartitionDiagnostic>& partition_diagnostics() const;
  /// The fraction of undecided pairs in each of the partition draws, NaN for those of columns; kept too.
  const std::vector<double>& undecided_shares() const;
  /// The partition to report at a level: of a flat model the consensus, of a hierarchy its selected tree's
  /// clusters there, so that levels are nested. Large data use a subset of draws. Kept for the next question.
  /// Error{configuration} for other costs or a number of clusters where there is no flat model's consensus.
  const Consensus& consensus(std::size_t level, const EstimateRequest& request) const;
  /// The extremes of the estimate's credible ball; none if it has no radius (greedy models).
  std::optional<BallBounds> ball_bounds(std::size_t level, const EstimateRequest& request) const;
  /// The selected tree, and the draws it summarizes; both are cached.
  const SelectedHierarchy& hierarchy(Selection selection) const;
  const TreeDraws& tree_draws() const;
  /// Why the draws are not those of a posterior; empty if they are.
  std::string inexactness_note() const;
  /// How much of the run is done and how to resume it; empty if it is complete.
  std::string incompleteness_note() const;
  /// The trace of the number of clusters at a level, or null if the model keeps none.
  const TraceSummary* clusters_trace(std::size_t level) const;
  /// Whether the model is a greedy one, which has a tree over the rows instead of draws.
  bool is_greedy() const { return run_.model().is_greedy(); }
  /// Whether the run learned labels: one state, no draws and no tree.
  bool is_classifier() const { return run_.model().learns_labels(); }
  /// The tree over the rows of a greedy model, of one with views that of the view with most columns; kept for
  /// the next question.
  const Dendrogram& row_tree() const;
  /// Whether there is a tree over the columns, and that tree.
  bool has_column_tree() const { return run_.model().has_column_tree(); }
  const CrossTree& cross_tree() const;
  /// The tree over the rows of a view (from 1, as they are reported), or of the default for 0. Error{usage}
  /// if there is no such view.
  Dendrogram row_tree_of_view(std::size_t view) const;
  /// Labels at a level (1 = coarsest) to count with: those of the draws, evenly spaced if there are more than
  /// `most_labels`; of a greedy model, draws from the partitions that cutting its tree can give.
  LabelMatrix partitions(std::size_t level, std::size_t most_labels) const;
  /// Posterior mean of the number of clusters at each level.
  std::vector<double> mean_clusters() const;
  double seconds() const;

 private:
  Consensus make_consensus(std::size_t level, const EstimateRequest& request) const;
  Verdict chains_verdict() const;
  /// Says so if a run that converged leaves most pairs undecided.
  void note_diffuse(Verdict& verdict) const;
  Verdict classifier_verdict() const;
  Verdict greedy_verdict() const;
  /// Of the first draws of a run, made in a second or two.
  Verdict sketch_verdict() const;
  /// Trees that a fit which was stopped has so far, over what it merges.
  std::string trees_so_far() const;

  SavedRun run_;
  std::vector<TraceSummary> traces_;
  mutable std::optional<Verdict> verdict_;
  mutable std::optional<std::vector<PartitionDraws>> partition_draws_;
  mutable std::optional<std::vector<PartitionDiagnostic>> partition_diagnostics_;
  mutable std::optional<std::vector<double>> undecided_shares_;
  mutable std::map<std::pair<std::size_t, EstimateRequest>, Consensus> estimates_;
  mutable std::optional<TreeDraws> tree_draws_;
  mutable std::map<Selection, SelectedHierarchy> hierarchies_;
  mutable std::optional<Dendrogram> row_tree_;
  mutable std::optional<CrossTree> cross_tree_;
};

/// "least expected variation of information", "the draw of highest rcdll".
std::string selection_words(Selection selection);
/// Which partition of a flat model it is, and how far the draws are from it; `unassigned` of its clusters are
/// rows that cannot be placed.
std::string partition_sentence(const Consensus& estimate, const EstimateRequest& request,
                               std::size_t unassigned);
/// Moves of all chains together.
std::vector<MoveStatistics> total_moves(const SavedRun& run);
/// Of the table as it was modeled.
std::vector<std::string> column_names(const SavedRun& run);
/// Throws Error{configuration} for a run that learned labels: what was asked for has no meaning there.
void refuse_classifier(const Analysis& analysis, std::string_view what);

}  // namespace coppice
