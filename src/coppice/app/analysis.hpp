// A run opened by an answering command, with the answers most commands need: trace summaries, verdict,
// consensus, hierarchy.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coppice/app/context.hpp"
#include "coppice/post/consensus.hpp"
#include "coppice/post/diagnostics.hpp"
#include "coppice/post/profile.hpp"
#include "coppice/post/select_hierarchy.hpp"
#include "coppice/post/verdict.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/cross_tree.hpp"

namespace coppice::app {

class Analysis {
 public:
  /// Opens the run; throws Error{bad_data} if it has no draws yet. Notes on stderr if it is not complete.
  Analysis(const std::string& path, const Context& context);

  const SavedRun& run() const { return run_; }
  const std::vector<TraceSummary>& traces() const { return traces_; }
  const Verdict& verdict() const { return verdict_; }
  /// The partition to report at a level: of a flat model the consensus, of a hierarchy its selected tree's
  /// clusters there, so that levels are nested. Large data use a subset of draws.
  Consensus consensus(std::size_t level, Selection selection) const;
  /// The selected tree, and the draws it stands for; both are kept for the next question.
  const SelectedHierarchy& hierarchy(Selection selection) const;
  const TreeDraws& tree_draws() const;
  /// Why the draws are not those of a posterior; empty if they are.
  std::string inexactness_note() const;
  /// The inexactness_note as the first line of a text, or nothing.
  std::string caveat_line(const Context& context) const;
  /// The head of a text: the inexactness_note if there is one, then the verdict.
  std::string verdict_lines(const Context& context) const;
  /// The inexactness_note on stderr, for answers that have no room for it.
  void note_caveat(const Context& context) const;
  /// "exact" (and "inexactness_note") for an object of answers; a flat model that samples exactly has
  /// neither.
  void add_exactness(nlohmann::ordered_json& answer) const;
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
  Verdict classifier_verdict() const;
  Verdict greedy_verdict() const;
  /// Trees that a fit which was stopped has so far, over what it merges.
  std::string trees_so_far() const;

  SavedRun run_;
  std::vector<TraceSummary> traces_;
  Verdict verdict_;
  mutable std::optional<TreeDraws> tree_draws_;
  mutable std::map<Selection, SelectedHierarchy> hierarchies_;
  mutable std::optional<Dendrogram> row_tree_;
  mutable std::optional<CrossTree> cross_tree_;
};

/// --loss and --select, spelled alike everywhere: what makes a partition or a hierarchy the one to report.
struct SelectionFlags {
  std::string loss = "vi";
  std::string select;

  void add_to(CLI::App& command);
  Selection selection() const { return selection_from_name(select.empty() ? loss : select); }
};
/// "least expected variation of information", "the draw of highest rcdll".
std::string selection_words(Selection selection);
/// Which partition of a flat model it is, and how far the draws are from it.
std::string partition_sentence(const Consensus& estimate, Selection selection);
/// The --view option: which view's tree over the rows is meant.
void add_view_option(CLI::App& command, std::size_t& view);
/// The --level option; `otherwise` is what its absence means.
void add_level_option(CLI::App& command, std::size_t& level, const std::string& otherwise = "1");

nlohmann::ordered_json to_json(const TraceSummary& trace);
nlohmann::ordered_json to_json(const Trait& trait);
/// Model, size, chains, draws and verdict: how every answer about a run begins.
nlohmann::ordered_json head_json(const Analysis& analysis);
/// Moves of all chains together: name, proposed, accepted, rate.
nlohmann::ordered_json moves_json(const SavedRun& run);
/// Of the table as it was modeled.
std::vector<std::string> column_names(const SavedRun& run);
/// A number for people: three significant digits, or a dash for NaN.
std::string short_number(double value);

}  // namespace coppice::app
