#include "coppice/post/run_hierarchy.hpp"

#include <fmt/format.h>

#include "coppice/post/profile.hpp"

namespace coppice {
namespace {

/// Names by id: every set of siblings is described by itself.
std::vector<NodeCaption> caption_nodes(const SavedRun& run, const Hierarchy& full,
                                       const std::vector<NodeSupport>& support) {
  std::vector<NodeCaption> captions(full.nodes.size());
  for (const HierarchyNode& node : full.nodes)
    captions[node.id] = {"", support[node.id].exact, support[node.id].overlap};
  captions.front().name = "all rows";
  for (const HierarchyNode& node : full.nodes) {
    if (node.children.size() == 1) captions[node.children.front()].name = captions[node.id].name;
    if (node.children.size() < 2) continue;
    std::vector<std::vector<std::uint32_t>> groups;
    for (const std::size_t child : node.children) groups.push_back(full.nodes[child].rows);
    const std::vector<ClusterProfile> profiles = profile_groups(run, groups, 1);
    for (std::size_t c = 0; c < profiles.size(); ++c) captions[node.children[c]].name = profiles[c].name;
  }
  return captions;
}

}  // namespace

std::string selection_sentence(const SelectedHierarchy& selected) {
  const bool binder = selected.selection == Selection::binder;
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
  answer.captions = caption_nodes(analysis.run(), answer.full, answer.support);
  return answer;
}

QualityReport quality_report(const Analysis& analysis, const SelectedHierarchy& selected) {
  const Features features = features_of(analysis.run().table());
  return {run_quality(analysis.run(), features), tree_quality(selected.labels, features)};
}

}  // namespace coppice
