// The one hierarchy to report. Either the draw in which a trace is highest (the classical choice:
// one draw with a lucky density speaks for all), or the tree that is nearest to all draws:
//   expected loss of a tree T = average over levels l and draws V of loss(T_l, V_l), loss = VI or Binder,
// so levels count alike. Candidates are distinct sampled trees, so levels stay nested; the best few are
// improved by taking single rows to another leaf (or to a new branch, if one has become free) and by joining
// siblings, as long as the loss falls. Deterministic. With many draws or rows, evenly spaced draws are
// candidates and references, and the improvement stops after a few seconds.
#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/post/consensus.hpp"
#include "coppice/post/hierarchy.hpp"
#include "coppice/post/tree_draws.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// How the hierarchy is selected: the tree of least expected loss, or the draw in which a trace is highest
/// that some model offers (ModelEntry::selections).
class Selection {
 public:
  static const Selection kVi, kBinder;

  /// As on the command line.
  const std::string& name() const;
  bool is_by_loss() const { return index_ < 2; }
  auto operator<=>(const Selection&) const = default;

 private:
  friend Selection selection_from_name(std::string_view name);
  explicit constexpr Selection(std::size_t index) : index_(index) {}
  std::size_t index_;  // in selection_names()
};
inline constexpr Selection Selection::kVi{0};
inline constexpr Selection Selection::kBinder{1};

/// The names on the command line: vi, binder, then those of the models.
const std::vector<std::string>& selection_names();
Selection selection_from_name(std::string_view name);
/// The loss by which the tree is chosen, or judged if a trace chose it (VI).
Loss loss_of(Selection selection);

struct SelectedHierarchy {
  Selection selection = Selection::kVi;
  std::size_t rows = 0;
  Labels labels;  // of all levels, coarsest first, canonical and nested
  /// The draw it was, or began as.
  TreeDraws::Origin origin;
  bool improved = false;  // it is no longer that draw
  double expected_loss = 0.0;
  double ball_radius = 0.0;  // 95 % of the draws are within this loss
  std::size_t draws_used = 0;

  std::span<const Label> level(std::size_t level) const { return level_of(labels, rows, level); }
};

/// Error{usage} without draws; Error{configuration} if the model keeps no such trace.
SelectedHierarchy select_hierarchy(const SavedRun& run, const TreeDraws& draws, Selection selection);

/// The tree nearest to the draws.
SelectedHierarchy nearest_tree(const TreeDraws& draws, Loss loss);

/// Average over levels of the loss between a tree and each draw.
std::vector<double> tree_losses(const TreeDraws& draws, std::span<const Label> labels, Loss loss);

/// How often the draws have a node.
struct NodeSupport {
  double exact = 0.0;     // share of draws whose same level has a cluster of exactly these rows
  double anywhere = 0.0;  // fraction of draws with this cluster at any level
  double overlap = 0.0;   // mean over draws of the best Jaccard overlap with a cluster of the same level
};

/// One for each node of the full tree, by id; the root is certain.
std::vector<NodeSupport> node_support(const Hierarchy& tree, const TreeDraws& draws);

}  // namespace coppice
