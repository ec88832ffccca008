// Trees of nested clusters: what a tree must keep, and its presentation against the definition.
#include "coppice/post/hierarchy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "coppice/base/error.hpp"
#include "random_trees.hpp"

namespace coppice {
namespace {

void expect_sound(const Hierarchy& tree) {
  for (std::size_t place = 0; place < tree.nodes.size(); ++place) {
    const HierarchyNode& node = tree.nodes[place];
    EXPECT_GT(node.size(), 0u);
    EXPECT_TRUE(std::is_sorted(node.rows.begin(), node.rows.end()));
    std::vector<std::uint32_t> below;
    for (const std::size_t child : node.children) {
      EXPECT_GT(child, place);
      EXPECT_EQ(tree.nodes[child].parent, place);
      EXPECT_GT(tree.nodes[child].level, node.last_level);
      below.insert(below.end(), tree.nodes[child].rows.begin(), tree.nodes[child].rows.end());
    }
    std::sort(below.begin(), below.end());
    if (node.is_leaf()) {
      EXPECT_EQ(node.last_level, tree.levels);
    } else {
      EXPECT_EQ(below, node.rows);
    }
  }
}

TEST(Hierarchy, HasTheClustersOfEachLevelAsNodes) {
  const Labels labels{0, 0, 1, 1, 1, 0, 1, 2, 2, 3};
  const Hierarchy tree = make_hierarchy(labels, 5);
  ASSERT_EQ(tree.nodes.size(), 7u);
  EXPECT_EQ(tree.levels, 2u);
  EXPECT_EQ(tree.root().children, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(tree.nodes[2].rows, (std::vector<std::uint32_t>{2, 3, 4}));
  EXPECT_EQ(tree.nodes[2].children, (std::vector<std::size_t>{5, 6}));
  EXPECT_EQ(tree.nodes[6].rows, (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(tree.nodes[6].level, 2u);
  expect_sound(tree);
}

TEST(Hierarchy, RejectsLabelsThatAreNoTree) {
  EXPECT_THROW(make_hierarchy(Labels{0, 0, 1, 0, 1, 0}, 3), Error);  // rows 0 and 2 meet again
  EXPECT_THROW(make_hierarchy(Labels{0, 1, 3}, 3), Error);
  EXPECT_THROW(make_hierarchy(Labels{0, -1, 0}, 3), Error);
  EXPECT_THROW(make_hierarchy(Labels{0, 0, 0, 0}, 3), Error);
  EXPECT_THROW(make_hierarchy({}, 3), Error);
}

/// The definition, on nothing but sets of rows: as long as there is a node without siblings, its parent takes
/// its children over.
using RowSet = std::vector<std::uint32_t>;
struct Branch {
  RowSet rows;
  std::vector<Branch> children;
  bool operator==(const Branch&) const = default;
};

Branch branch_of(const Hierarchy& tree, std::size_t place) {
  Branch branch{tree.nodes[place].rows, {}};
  for (const std::size_t child : tree.nodes[place].children)
    branch.children.push_back(branch_of(tree, child));
  std::sort(branch.children.begin(), branch.children.end(),
            [](const Branch& a, const Branch& b) { return a.rows < b.rows; });
  return branch;
}

bool merge_one_lone_child(Branch& branch) {
  if (branch.children.size() == 1) {
    std::vector<Branch> children = std::move(branch.children.front().children);
    branch.children = std::move(children);
    return true;
  }
  for (Branch& child : branch.children)
    if (merge_one_lone_child(child)) return true;
  return false;
}

TEST(PresentationTree, IsWhatRepeatedMergingLeaves) {
  std::mt19937 engine(1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t rows = 1 + engine() % 12;
    const std::size_t levels = 1 + engine() % 5;
    const Hierarchy full = make_hierarchy(random_tree(engine, rows, levels, 0.4), rows);
    const Hierarchy shown = presentation_tree(full);
    expect_sound(full);
    expect_sound(shown);
    Branch expected = branch_of(full, 0);
    while (merge_one_lone_child(expected)) {
    }
    EXPECT_EQ(branch_of(shown, 0), expected);
    for (const HierarchyNode& node : shown.nodes) {
      EXPECT_NE(node.children.size(), 1u);
      // The id leads back to the node of the full tree.
      EXPECT_EQ(full.nodes[node.id].rows, node.rows);
      EXPECT_EQ(full.nodes[node.id].level, node.level);
    }
    const Hierarchy again = presentation_tree(shown);
    ASSERT_EQ(again.nodes.size(), shown.nodes.size());
    for (std::size_t place = 0; place < again.nodes.size(); ++place) {
      EXPECT_EQ(again.nodes[place].id, shown.nodes[place].id);
      EXPECT_EQ(again.nodes[place].children, shown.nodes[place].children);
      EXPECT_EQ(again.nodes[place].last_level, shown.nodes[place].last_level);
    }
  }
}

TEST(PresentationTree, OfASinglePathIsItsRoot) {
  const Hierarchy shown = presentation_tree(make_hierarchy(Labels(4 * 3, 0), 4));
  ASSERT_EQ(shown.nodes.size(), 1u);
  EXPECT_EQ(shown.root().level, 0u);
  EXPECT_EQ(shown.root().last_level, 3u);
  EXPECT_EQ(shown.root().size(), 4u);
}

}  // namespace
}  // namespace coppice
