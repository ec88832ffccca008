#include "coppice/post/hierarchy.hpp"

#include <numeric>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

/// Appends the node with its rows, levels and id; the tree below it follows.
void append_presented(const Hierarchy& tree, std::size_t place, std::size_t parent, Hierarchy& shown,
                      std::vector<std::size_t>& place_shown) {
  const HierarchyNode* node = &tree.nodes[place];
  HierarchyNode copy{node->id, parent, {}, node->level, node->last_level, node->rows};
  while (node->children.size() == 1) {
    node = &tree.nodes[node->children.front()];
    copy.last_level = node->last_level;
  }
  place_shown[static_cast<std::size_t>(node - tree.nodes.data())] = shown.nodes.size();
  if (parent != HierarchyNode::kNoParent) shown.nodes[parent].children.push_back(shown.nodes.size());
  shown.nodes.push_back(std::move(copy));
}

}  // namespace

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
  if (tree.nodes.empty()) return shown;
  // Where a node that branches, or ends, is shown.
  std::vector<std::size_t> place_shown(tree.nodes.size(), HierarchyNode::kNoParent);
  append_presented(tree, 0, HierarchyNode::kNoParent, shown, place_shown);
  // Parents stand before children, so a node's own place is known when its children are reached.
  for (std::size_t place = 0; place < tree.nodes.size(); ++place) {
    const HierarchyNode& node = tree.nodes[place];
    if (node.children.size() < 2) continue;
    for (const std::size_t child : node.children)
      append_presented(tree, child, place_shown[place], shown, place_shown);
  }
  return shown;
}

}  // namespace coppice
