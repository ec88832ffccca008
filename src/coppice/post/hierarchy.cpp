#include "coppice/post/hierarchy.hpp"

#include <numeric>

#include "coppice/base/error.hpp"

namespace coppice {

Hierarchy make_hierarchy(std::span<const Label> labels, std::size_t rows) {
  if (rows == 0 || labels.empty() || labels.size() % rows != 0)
    fail(ErrorCode::bad_data, "hierarchy: {} labels are not whole levels of {} rows", labels.size(), rows);
  Hierarchy tree{rows, labels.size() / rows, {}};
  HierarchyNode root;
  root.rows.resize(rows);
  std::iota(root.rows.begin(), root.rows.end(), 0U);
  tree.nodes.push_back(std::move(root));
  std::vector<std::size_t> above(rows, 0);  // the node of each row at the level before
  for (std::size_t level = 1; level <= tree.levels; ++level) {
    const std::span<const Label> here = level_of(labels, rows, level);
    const std::size_t first = tree.nodes.size();
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t place = first + static_cast<std::size_t>(here[row]);
      if (here[row] < 0 || place > tree.nodes.size())
        fail(ErrorCode::bad_data, "hierarchy: the labels of level {} are not in canonical order", level);
      if (place == tree.nodes.size()) {
        HierarchyNode node;
        node.id = place;
        node.parent = above[row];
        node.level = node.last_level = level;
        tree.nodes.push_back(std::move(node));
        tree.nodes[above[row]].children.push_back(place);
      }
      if (tree.nodes[place].parent != above[row])
        fail(ErrorCode::bad_data, "hierarchy: cluster {} of level {} has rows of two clusters above it",
             here[row], level);
      tree.nodes[place].rows.push_back(static_cast<std::uint32_t>(row));
      above[row] = place;
    }
  }
  return tree;
}

Hierarchy presentation_tree(const Hierarchy& tree) {
  Hierarchy shown{tree.rows, tree.levels, {}};
  std::vector<std::size_t> place_shown(
      tree.nodes.size());  // of the node itself or of what it was merged into
  for (std::size_t place = 0; place < tree.nodes.size(); ++place) {
    const HierarchyNode& node = tree.nodes[place];
    const bool is_root = node.parent == HierarchyNode::kNoParent;
    const std::size_t parent = is_root ? HierarchyNode::kNoParent : place_shown[node.parent];
    if (!is_root && tree.nodes[node.parent].children.size() == 1) {
      place_shown[place] = parent;
      shown.nodes[parent].last_level = node.last_level;
      continue;
    }
    place_shown[place] = shown.nodes.size();
    if (!is_root) shown.nodes[parent].children.push_back(shown.nodes.size());
    shown.nodes.push_back({node.id, parent, {}, node.level, node.last_level, node.rows});
  }
  return shown;
}

}  // namespace coppice
