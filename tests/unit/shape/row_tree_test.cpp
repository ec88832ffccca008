// Trees over rows: intervals, depths, siblings and common ancestors against their definitions.
#include "coppice/shape/row_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "coppice/base/error.hpp"
#include "coppice/base/rng.hpp"

namespace coppice::test {
namespace {

/// Rows joined two by two in random order.
RowTree random_tree(std::size_t rows, std::uint64_t seed) {
  RowTree tree(rows);
  std::vector<RowTree::Node> roots;
  for (RowTree::Node row = 0; row < rows; ++row) roots.push_back(row);
  Stream stream({seed, 0, 0}, Purpose::test);
  while (roots.size() > 1) {
    const auto take = [&] {
      const std::size_t place = draw_index(stream, roots.size());
      const RowTree::Node node = roots[place];
      roots.erase(roots.begin() + static_cast<std::ptrdiff_t>(place));
      return node;
    };
    const RowTree::Node left = take();
    roots.push_back(tree.join(left, take()));
  }
  tree.finish();
  return tree;
}

std::set<std::uint32_t> rows_by_climbing(const RowTree& tree, RowTree::Node node) {
  if (tree.is_leaf(node)) return {node};
  std::set<std::uint32_t> rows = rows_by_climbing(tree, tree.left(node));
  rows.merge(rows_by_climbing(tree, tree.right(node)));
  return rows;
}

TEST(RowTree, KeepsItsPromises) {
  for (const std::size_t rows : {1u, 2u, 3u, 17u, 60u})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const RowTree tree = random_tree(rows, seed);
      ASSERT_EQ(tree.nodes(), 2 * rows - 1);
      EXPECT_EQ(tree.order().size(), rows);
      for (RowTree::Node node = 0; node < tree.nodes(); ++node) {
        const auto below = tree.rows_below(node);
        EXPECT_EQ(std::set<std::uint32_t>(below.begin(), below.end()), rows_by_climbing(tree, node));
        if (node == tree.root()) {
          EXPECT_EQ(tree.depth(node), 0u);
        } else {
          EXPECT_EQ(tree.depth(node), tree.depth(tree.parent(node)) + 1);
          EXPECT_EQ(tree.parent(tree.sibling(node)), tree.parent(node));
          EXPECT_NE(tree.sibling(node), node);
        }
      }
      for (std::uint32_t a = 0; a < rows; ++a) {
        EXPECT_EQ(tree.order()[tree.position(a)], a);
        EXPECT_EQ(tree.ancestor(a, tree.depth(a)), tree.root());
        for (std::uint32_t b = 0; b < rows; ++b) {
          const RowTree::Node common = tree.common_ancestor(a, b);
          EXPECT_TRUE(tree.is_below(a, common) && tree.is_below(b, common));
          if (a != b) {
            for (const RowTree::Node child : {tree.left(common), tree.right(common)})
              EXPECT_FALSE(tree.is_below(a, child) && tree.is_below(b, child));
          }
        }
      }
    }
}

TEST(RowTree, RefusesWhatIsNoTree) {
  RowTree tree(3);
  tree.join(0, 1);
  EXPECT_THROW(tree.join(0, 2), Error);
  EXPECT_THROW(tree.join(2, 2), Error);
  EXPECT_THROW(tree.finish(), Error);
}

}  // namespace
}  // namespace coppice::test
