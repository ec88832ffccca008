// The tree of fixed depth: labels and back, and thousands of random moves after each of which every count and
// list is what the rows' leaves say.
#include "coppice/shape/level_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "coppice/base/error.hpp"
#include "coppice/base/rng.hpp"

namespace coppice {
namespace {

/// Expects sizes, children, members and levels to follow from the leaves of the rows.
void expect_consistent(const LevelTree& tree) {
  std::vector<std::size_t> size(tree.capacity(), 0);
  std::size_t nodes = 0;
  for (std::size_t row = 0; row < tree.rows(); ++row) {
    const NodeId leaf = tree.leaf(row);
    if (leaf == LevelTree::kNone) continue;
    ASSERT_TRUE(tree.is_leaf(leaf));
    const auto members = tree.members(leaf);
    ASSERT_EQ(std::count(members.begin(), members.end(), static_cast<std::uint32_t>(row)), 1);
    for (NodeId node = leaf; node != LevelTree::kNone; node = tree.parent(node)) ++size[node];
  }
  for (std::size_t level = 0; level <= tree.depth(); ++level)
    for (const NodeId node : tree.at_level(level)) {
      ++nodes;
      ASSERT_EQ(tree.level(node), level);
      ASSERT_EQ(tree.size(node), size[node]);
      if (level == tree.depth()) {
        ASSERT_EQ(tree.members(node).size(), size[node]);
      }
      for (const NodeId child : tree.children(node)) {
        ASSERT_EQ(tree.parent(child), node);
        ASSERT_EQ(tree.level(child), level + 1);
        const auto peers = tree.at_level(level + 1);
        ASSERT_EQ(std::count(peers.begin(), peers.end(), child), 1);
      }
      if (node != LevelTree::kRoot) {
        const auto siblings = tree.children(tree.parent(node));
        ASSERT_EQ(std::count(siblings.begin(), siblings.end(), node), 1);
      }
      std::vector<std::uint32_t> below;
      tree.rows_below(node, below);
      ASSERT_EQ(std::set<std::uint32_t>(below.begin(), below.end()).size(), size[node]);
      for (const std::uint32_t row : below) ASSERT_EQ(tree.ancestor(tree.leaf(row), level), node);
    }
  ASSERT_EQ(tree.nodes(), nodes);
}

TEST(LevelTree, StartsWithItsRoot) {
  const LevelTree tree(3, 2);
  EXPECT_EQ(tree.depth(), 2u);
  EXPECT_EQ(tree.nodes(), 1u);
  EXPECT_EQ(tree.level(LevelTree::kRoot), 0u);
  EXPECT_EQ(tree.parent(LevelTree::kRoot), LevelTree::kNone);
  EXPECT_EQ(tree.leaf(2), LevelTree::kNone);
  expect_consistent(tree);
}

TEST(LevelTree, NumbersNodesByLevelAndFirstRow) {
  LevelTree tree(4, 2);
  tree.assign(Labels{0, 1, 0, 1, 0, 1, 2, 1});
  expect_consistent(tree);
  EXPECT_EQ(tree.nodes(), 6u);
  EXPECT_EQ(tree.leaf(0), 3u);
  EXPECT_EQ(tree.leaf(1), 4u);
  EXPECT_EQ(tree.leaf(2), 5u);
  EXPECT_EQ(tree.parent(5), 1u);
  std::vector<NodeId> path(2);
  tree.path(tree.leaf(2), path);
  EXPECT_EQ(path, (std::vector<NodeId>{1, 5}));
}

TEST(LevelTree, LabelsAreCanonicalWhateverWasAssigned) {
  LevelTree tree(4, 2);
  tree.assign(Labels{3, 1, 3, 1, 2, 0, 1, 0});
  Labels labels(8);
  tree.labels(labels);
  EXPECT_EQ(labels, (Labels{0, 1, 0, 1, 0, 1, 2, 1}));
  LevelTree again(4, 2);
  again.assign(labels);
  Labels same(8);
  again.labels(same);
  EXPECT_EQ(same, labels);
}

TEST(LevelTree, RefusesLevelsThatAreNotNested) {
  LevelTree tree(3, 2);
  const auto code_of = [&](const Labels& labels) {
    try {
      tree.assign(labels);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::usage;
  };
  EXPECT_EQ(code_of({0, 1, 1, 0, 0, 1}), ErrorCode::bad_data);
  EXPECT_EQ(code_of({0, 7, 1, 0, 1, 2}), ErrorCode::bad_data);
  EXPECT_EQ(code_of({0, 0}), ErrorCode::bug);
}

TEST(LevelTree, OnlyEmptyNodesCanBeRemoved) {
  LevelTree tree(1, 1);
  tree.assign(Labels{0});
  EXPECT_THROW(tree.remove(tree.leaf(0)), Error);
  const NodeId leaf = tree.leaf(0);
  tree.detach(0);
  tree.remove(leaf);
  EXPECT_EQ(tree.nodes(), 1u);
  EXPECT_THROW(tree.remove(LevelTree::kRoot), Error);
}

TEST(LevelTree, StaysConsistentUnderRandomMoves) {
  for (const std::size_t depth : {1u, 2u, 4u}) {
    constexpr std::size_t kRows = 12;
    LevelTree tree(kRows, depth);
    Stream stream({1, depth, 0}, Purpose::test);
    const auto new_branch = [&](NodeId node) {
      while (!tree.is_leaf(node)) node = tree.add_child(node);
      return node;
    };
    for (std::size_t row = 0; row < kRows; ++row) tree.attach(row, new_branch(LevelTree::kRoot));
    for (int move = 0; move < 3000; ++move) {
      const std::size_t row = draw_index(stream, kRows);
      switch (draw_index(stream, 3)) {
        case 0: {  // a row to a leaf or to a new branch; what it leaves empty goes
          NodeId top = LevelTree::kNone;
          const NodeId leaf = tree.leaf(row);
          tree.detach(row);
          for (NodeId node = leaf; node != LevelTree::kRoot && tree.size(node) == 0; node = tree.parent(node))
            top = node;
          if (top != LevelTree::kNone) tree.remove(top);
          const std::size_t level = draw_index(stream, depth + 1);
          const auto nodes = tree.at_level(level);
          NodeId to = nodes.empty() ? LevelTree::kRoot : nodes[draw_index(stream, nodes.size())];
          tree.attach(row, new_branch(to));
          break;
        }
        case 1: {  // a subtree under another parent
          if (depth < 2) break;
          const auto nodes = tree.at_level(2);
          const auto parents = tree.at_level(1);
          const NodeId node = nodes[draw_index(stream, nodes.size())];
          const NodeId from = tree.parent(node);
          tree.move_subtree(node, parents[draw_index(stream, parents.size())]);
          if (tree.size(from) == 0) tree.remove(from);
          break;
        }
        default: {  // a row to the leaf of another one
          const NodeId from = tree.leaf(row);
          const NodeId to = tree.leaf(draw_index(stream, kRows));
          if (tree.size(from) < 2 || from == to) break;
          tree.move_row(row, to);
        }
      }
      if (move % 10 == 0) expect_consistent(tree);
      if (HasFatalFailure()) return;
    }
    EXPECT_LE(tree.capacity(), kRows * depth * 2 + 1) << "ids are not used again";
    Labels labels(kRows * depth);
    tree.labels(labels);
    LevelTree copy(kRows, depth);
    copy.assign(labels);
    expect_consistent(copy);
    EXPECT_EQ(copy.nodes(), tree.nodes());
  }
}

}  // namespace
}  // namespace coppice
