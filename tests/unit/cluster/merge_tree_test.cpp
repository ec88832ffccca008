// Trees that carry statistics: their numbers against reference cases, the place an insertion finds against
// the rule written out once more with everything from scratch, and after any history the same numbers, bit
// for bit, as a tree of that shape built at once.
#include "coppice/cluster/merge_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/prior/crp.hpp"
#include "laws/law_case.hpp"
#include "support/reference_forest.hpp"

namespace coppice::test {
namespace {

using Node = MergeTree::Node;
using Rowset = std::vector<std::uint32_t>;

Rowset rows_below(const MergeTree& forest, Node node) {
  Rowset rows;
  forest.for_each_row(node, [&](std::uint32_t row) { rows.push_back(row); });
  return rows;
}

TEST(MergeTree, ReferencePotentials) {
  std::size_t trees = 0;
  for (const std::string& path : reference_cases("nrmm_posterior_", "nrmm_")) {
    SCOPED_TRACE(path);
    const nlohmann::json reference = read_reference(path);
    if (!reference.contains("tree")) continue;
    ++trees;
    ReferenceForest tree(reference);
    MergeTree& forest = tree.forest;
    forest.audit();
    std::size_t checked = 0;
    forest.for_each_node(tree.root, [&](Node node) {
      Rowset rows = rows_below(forest, node);
      std::sort(rows.begin(), rows.end());
      for (const nlohmann::json& entry : reference.at("tree_stats")) {
        if (entry.at("leaves").get<Rowset>() != rows) continue;
        ++checked;
        const double left_out = static_cast<double>(rows.size()) * std::log1p(tree.u);
        EXPECT_NEAR(forest.log_weight(node) - left_out, entry.at("log_h").get<double>(), 1e-9);
        EXPECT_NEAR(forest.log_phi(node) - left_out, entry.at("log_phi").get<double>(), 1e-9);
        EXPECT_NEAR(std::exp(forest.log_weight(node) - forest.log_phi(node)), entry.at("p_h").get<double>(),
                    1e-9);
        if (forest.is_leaf(node)) {
          EXPECT_EQ(forest.log_d(node), kMinusInfinity);
          continue;
        }
        const Node left = forest.left(node);
        const Node right = forest.right(node);
        EXPECT_NEAR(forest.log_d(node), entry.at("log_d").get<double>(), 1e-9);
        EXPECT_EQ(forest.log_d(left, right), forest.log_d(node));
        EXPECT_EQ(forest.log_d(right, left), forest.log_d(node));
        EXPECT_NEAR(forest.log_d_flat(left, right),
                    forest.log_weight(left) + forest.log_weight(right) - forest.log_weight(node), 1e-12);
      }
    });
    EXPECT_EQ(checked, reference.at("tree_stats").size());
  }
  EXPECT_GE(trees, 2u);
}

/// A tree as nested pairs, every number from the rows alone.
struct Nest {
  std::uint32_t row = 0;
  std::vector<Nest> children;  // none or two
};

struct Oracle {
  const Fixture& fixture;
  const Crp& crp;

  void collect(const Nest& nest, Rowset& rows) const {
    if (nest.children.empty()) rows.push_back(nest.row);
    for (const Nest& child : nest.children) collect(child, rows);
  }
  double log_weight(const Rowset& rows) const {
    Stats stats(fixture.family());
    for (const std::uint32_t row : rows) stats.add(fixture.rows[row]);
    return crp.log_kappa(rows.size()) + stats.log_marginal();
  }
  double log_phi(const Nest& nest) const {
    Rowset rows;
    collect(nest, rows);
    if (nest.children.empty()) return log_weight(rows);
    return log_add_exp(log_weight(rows), log_phi(nest.children[0]) + log_phi(nest.children[1]));
  }
  double log_d(const Nest& a, const Nest& b) const {
    Rowset rows;
    collect(a, rows);
    collect(b, rows);
    return log_phi(a) + log_phi(b) - log_weight(rows);
  }
  Nest insert(Nest tree, Nest x) const {
    if (tree.children.empty() && !x.children.empty()) return insert(std::move(x), std::move(tree));
    if (tree.children.empty()) return {0, {tree, x}};
    Nest& left = tree.children[0];
    Nest& right = tree.children[1];
    const double own = log_d(left, right);
    const double with_left = log_d(left, x);
    const double with_right = log_d(right, x);
    if (own < with_left && own < with_right) return {0, {tree, x}};
    Nest& nearer = with_left < with_right ? left : right;
    // Below the root a row is not swapped with what is put beside it.
    nearer = nearer.children.empty() ? Nest{0, {nearer, x}} : insert(nearer, x);
    return tree;
  }
  /// Brackets with the smaller first row to the left.
  std::pair<std::uint32_t, std::string> text(const Nest& nest) const {
    if (nest.children.empty()) return {nest.row, std::to_string(nest.row)};
    auto left = text(nest.children[0]);
    auto right = text(nest.children[1]);
    if (right.first < left.first) std::swap(left, right);
    return {left.first, "(" + left.second + " " + right.second + ")"};
  }
};

std::string text(const MergeTree& forest, Node node) {
  if (forest.is_leaf(node)) return std::to_string(forest.first_row(node));
  return "(" + text(forest, forest.left(node)) + " " + text(forest, forest.right(node)) + ")";
}

TEST(MergeTree, InsertionFindsThePlaceOfTheRule) {
  const std::size_t rows = 14;
  std::size_t deep = 0;
  std::size_t swapped = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    for (const LawCase& law_case : real_cases()) {  // no two rows are the same, so there are no ties
      SCOPED_TRACE(law_case.name);
      const Fixture fixture(law_case, seed, rows);
      const Crp crp(1.0, rows);
      const Oracle oracle{fixture, crp};
      MergeTree forest(fixture.family(), fixture.rows, crp);
      std::vector<Node> roots;
      std::vector<Nest> nests;
      for (std::uint32_t row = 0; row < rows; ++row) {
        roots.push_back(forest.leaf(row));
        nests.push_back({row, {}});
      }
      Stream stream({seed, 0, 0}, Purpose::test);
      while (roots.size() > 1) {
        // Into the first tree, so that it becomes deep, or any tree into any other, also one into a row.
        const std::size_t from = 1 + draw_index(stream, roots.size() - 1);
        const std::size_t to = seed % 2 == 0 ? draw_index(stream, from) : 0;
        const bool is_swapped = forest.is_leaf(roots[to]) && !forest.is_leaf(roots[from]);
        const auto [root, above] = forest.seq_insert(roots[to], roots[from]);
        roots[to] = root;
        deep += above != root ? 1 : 0;
        swapped += is_swapped && above != root ? 1 : 0;
        nests[to] = oracle.insert(nests[to], nests[from]);
        const auto offset = static_cast<std::ptrdiff_t>(from);
        roots.erase(roots.begin() + offset);
        nests.erase(nests.begin() + offset);
        ASSERT_EQ(text(forest, roots[to]), oracle.text(nests[to]).second);
        const double expected = oracle.log_phi(nests[to]);
        ASSERT_NEAR(forest.log_phi(roots[to]), expected, relative(1e-9, expected));
      }
      forest.audit();
    }
  EXPECT_GT(deep, 100u);
  EXPECT_GT(swapped, 10u);
}

/// Every row is in exactly one tree, and the statistics of all nodes are those of their rows.
void expect_sound(const MergeTree& forest, const std::vector<Node>& roots, const Fixture& fixture) {
  ASSERT_NO_THROW(forest.audit());
  std::vector<int> seen(fixture.rows.size(), 0);
  std::size_t nodes = 0;
  for (const Node root : roots) {
    ASSERT_TRUE(forest.is_root(root));
    forest.for_each_node(root, [&](Node node) {
      ++nodes;
      EXPECT_EQ(forest.root_of(node), root);
      const Rowset rows = rows_below(forest, node);
      EXPECT_EQ(rows.size(), forest.count(node));
      EXPECT_EQ(*std::min_element(rows.begin(), rows.end()), forest.first_row(node));
      if (forest.is_leaf(node)) ++seen[rows.front()];
      Stats stats(fixture.family());
      for (const std::uint32_t row : rows) stats.add(fixture.rows[row]);
      EXPECT_EQ(count_of(forest.stats(node)), static_cast<double>(rows.size()));
      const double expected = stats.log_marginal();
      EXPECT_NEAR(fixture.family().log_marginal(forest.stats(node)), expected, relative(1e-8, expected));
    });
  }
  EXPECT_EQ(nodes, forest.nodes()) << "nodes that belong to no tree";
  for (const int times : seen) EXPECT_EQ(times, 1);
}

/// The same shape made at once, leaves first.
Node make_again(const MergeTree& forest, Node root, MergeTree& fresh) {
  std::vector<Node> pending;
  forest.for_each_node_upwards(root, [&](Node node) {
    if (forest.is_leaf(node)) {
      pending.push_back(fresh.leaf(forest.first_row(node)));
      return;
    }
    const Node right = pending.back();
    pending.pop_back();
    pending.back() = fresh.join(pending.back(), right);
  });
  return pending.back();
}

TEST(MergeTree, AnyHistoryEqualsTheSameShapeMadeAtOnce) {
  const std::uint32_t rows = 30;
  for (const LawCase& law_case : law_cases()) {
    SCOPED_TRACE(law_case.name);
    const Fixture fixture(law_case, 1, rows);
    Crp crp(1.0, rows);
    MergeTree forest(fixture.family(), fixture.rows, crp);
    std::vector<Node> roots;
    for (std::uint32_t row = 0; row < rows; ++row) roots.push_back(forest.leaf(row));
    Stream stream({1, 0, 0}, Purpose::test);
    const auto any_node = [&](std::size_t tree) {
      std::vector<Node> nodes;
      forest.for_each_node(roots[tree], [&](Node node) { nodes.push_back(node); });
      return nodes[draw_index(stream, nodes.size())];
    };
    for (int i = 0; i < 300; ++i) {
      const std::size_t tree = draw_index(stream, roots.size());
      const Node node = any_node(tree);
      switch (draw_index(stream, 8)) {
        case 0:
        case 1: {
          const Node rest = forest.detach(node);
          if (rest == MergeTree::kNone) break;
          roots[tree] = rest;
          roots.push_back(node);
          break;
        }
        case 2:
          if (draw_index(stream, 3) != 0) break;
          roots[tree] = node;
          forest.cut(node, roots);
          break;
        case 3: {
          const Node copied = forest.copy(roots[tree]);
          ASSERT_EQ(text(forest, copied), text(forest, roots[tree]));
          forest.release(draw_index(stream, 2) == 0 ? copied : std::exchange(roots[tree], copied));
          break;
        }
        case 4:
          crp.set_alpha(0.2 + draw_uniform(stream));
          forest.refresh();
          break;
        default: {
          if (tree == 0) break;
          const std::size_t to = draw_index(stream, tree);
          if (draw_index(stream, 4) == 0) {
            const Node above = forest.join(roots[to], roots[tree]);
            if (draw_index(stream, 2) == 0) {
              forest.release_join(above);
              break;
            }
            roots[to] = above;
          } else {
            roots[to] = forest.seq_insert(roots[to], roots[tree]).root;
          }
          roots.erase(roots.begin() + static_cast<std::ptrdiff_t>(tree));
          break;
        }
      }
      if (i % 10 != 0) continue;
      ASSERT_NO_FATAL_FAILURE(expect_sound(forest, roots, fixture)) << "after " << i << " changes";
      MergeTree fresh(fixture.family(), fixture.rows, crp);
      for (const Node root : roots) {
        const Node again = make_again(forest, root, fresh);
        ASSERT_EQ(text(fresh, again), text(forest, root));
        ASSERT_EQ(fresh.log_phi(again), forest.log_phi(root));
      }
    }
  }
}

TEST(MergeTree, AsDeepAsItHasRows) {
  const std::uint32_t rows = 100'000;
  const Fixture fixture({"deep", "gaussian-diagonal", {{Kind::real}}}, 1, rows);
  Crp crp(1.0, rows);
  MergeTree forest(fixture.family(), fixture.rows, crp);
  Node root = forest.leaf(0);
  const Node bottom = root;
  for (std::uint32_t row = 1; row < rows; ++row) root = forest.join(root, forest.leaf(row));
  crp.set_alpha(2.0);
  forest.refresh();
  forest.audit();
  Rowset expected(rows);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(rows_below(forest, root), expected);
  forest.release(forest.copy(root));
  root = forest.detach(bottom);
  EXPECT_EQ(forest.count(root), rows - 1);
  EXPECT_EQ(forest.first_row(root), 1u);
  EXPECT_EQ(forest.count(forest.seq_insert(root, bottom).root), rows);
  forest.audit();
  std::vector<Node> beside;
  forest.cut(bottom, beside);
  std::size_t count = 1;
  for (const Node tree : beside) count += forest.count(tree);
  EXPECT_EQ(count, rows);
  forest.audit();
}

TEST(MergeTree, AuditNoticesAStalePrior) {
  const Fixture fixture({"stale", "gaussian-diagonal", {{Kind::real}}}, 1, 3);
  Crp crp(1.0, 3);
  MergeTree forest(fixture.family(), fixture.rows, crp);
  forest.join(forest.leaf(0), forest.leaf(2));
  EXPECT_NO_THROW(forest.audit());
  crp.set_alpha(3.0);
  EXPECT_THROW(forest.audit(), Error);
  forest.refresh();
  EXPECT_NO_THROW(forest.audit());
}

}  // namespace
}  // namespace coppice::test
