#include "coppice/post/run_hierarchy.hpp"

#include <fmt/format.h>

#include "coppice/post/cluster_names.hpp"

namespace coppice {
namespace {

/// By id. The clusters of a level stand in the order of their numbers.
std::vector<NodeCaption> caption_nodes(const SavedRun& run, const SelectedHierarchy& selected,
                                       const Hierarchy& full, const std::vector<NodeSupport>& support) {
  std::vector<NodeCaption> captions(full.nodes.size());
  std::vector<std::vector<ClusterName>> names(full.levels + 1);
  std::vector<Label> next(full.levels + 1, 0);
  for (std::size_t level = 1; level <= full.levels; ++level)
    names[level] = name_level(run, level, selected.level(level));
  for (const HierarchyNode& node : full.nodes) {
    NodeCaption& caption = captions[node.id];
    caption.exact = support[node.id].exact;
    caption.overlap = support[node.id].overlap;
    if (node.level == 0) {
      caption.name = caption.words = "all rows";
      continue;
    }
    const Label cluster = next[node.level]++;
    const ClusterName& name = names[node.level][static_cast<std::size_t>(cluster)];
    caption.number = cluster_number(run, {node.level, cluster});
    caption.name = name.name;
    caption.words = name.words;
  }
  // The same rows have the same words, though other clusters of their level may need more to be told apart.
  for (const HierarchyNode& node : full.nodes) {
    if (node.children.size() != 1) continue;
    NodeCaption& below = captions[node.children.front()];
    if (below.name == below.words) below.name = captions[node.id].words;
    below.words = captions[node.id].words;
  }
  return captions;
}

}  // namespace

std::string selection_sentence(const SelectedHierarchy& selected) {
  const bool binder = selected.selection == Selection::kBinder;
  const bool by_loss = selected.selection.is_by_loss();
  const std::string which =
      selection_words(selected.selection) +
      (by_loss ? std::string(", averaged over the levels")
               : fmt::format(": draw {} of chain {}", selected.origin.draw, selected.origin.chain));
  return fmt::format("Reported hierarchy ({}):\nexpected {} {:.3f}; 95 % of the draws are within {:.3f}.\n",
                     which, binder ? "loss" : "VI", selected.expected_loss, selected.ball_radius);
}

RunHierarchy run_hierarchy(const Analysis& analysis, Selection selection) {
  RunHierarchy answer;
  answer.selected = analysis.hierarchy(selection);
  answer.full = make_hierarchy(answer.selected.labels, answer.selected.rows);
  answer.shown = presentation_tree(answer.full);
  answer.support = node_support(answer.full, analysis.tree_draws());
  answer.captions = caption_nodes(analysis.run(), answer.selected, answer.full, answer.support);
  return answer;
}

QualityReport quality_report(const Analysis& analysis, const SelectedHierarchy& selected) {
  const Features features = features_of(analysis.run().table());
  return {run_quality(analysis.run(), features), tree_quality(selected.labels, features)};
}

}  // namespace coppice
