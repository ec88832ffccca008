// Inner and outer distances against their definition by pairs, on random trees.
#include "coppice/post/tree_quality.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/error.hpp"
#include "random_trees.hpp"
#include "small_run.hpp"

namespace coppice {
namespace {

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

std::vector<double> row_of(const Features& features, std::size_t row) {
  return {features[row], features[row] + features.width};
}

double inner_distance(const HierarchyNode& node, const Features& features) {
  double sum = 0.0;
  double pairs = 0.0;
  for (std::size_t a = 0; a < node.size(); ++a)
    for (std::size_t b = a + 1; b < node.size(); ++b) {
      sum += squared_distance(row_of(features, node.rows[a]), row_of(features, node.rows[b]));
      pairs += 1.0;
    }
  return pairs == 0.0 ? 0.0 : sum / pairs;
}

std::vector<double> center(const HierarchyNode& node, const Features& features) {
  std::vector<double> sum(features.width, 0.0);
  for (const std::uint32_t row : node.rows)
    for (std::size_t j = 0; j < sum.size(); ++j)
      sum[j] += features[row][j] / static_cast<double>(node.size());
  return sum;
}

struct Expected {
  double aid = 0.0, aid_ge2 = 0.0, aod = 0.0;
  std::size_t nodes = 0, leaves = 0;
};

/// Of the nodes of one level, or of all for level 0; from pairs alone.
Expected by_definition(const Hierarchy& tree, const Features& features, std::size_t level) {
  Expected result;
  double sum = 0.0;
  double larger = 0.0;
  double outer = 0.0;
  double pairs = 0.0;
  for (const HierarchyNode& node : tree.nodes) {
    if (node.is_leaf()) ++result.leaves;
    for (std::size_t a = 0; a < node.children.size(); ++a)
      for (std::size_t b = a + 1; b < node.children.size(); ++b) {
        const HierarchyNode& left = tree.nodes[node.children[a]];
        if (level != 0 && left.level != level) continue;
        outer += squared_distance(center(left, features), center(tree.nodes[node.children[b]], features));
        pairs += 1.0;
      }
    if (node.level == 0 || (level != 0 && node.level != level)) continue;
    ++result.nodes;
    sum += inner_distance(node, features);
    if (node.size() >= 2) larger += 1.0;
  }
  result.aid = sum / static_cast<double>(result.nodes);
  result.aid_ge2 = sum / larger;
  result.aod = outer / pairs;
  return result;
}

void expect_same(double a, double b) {
  if (std::isnan(b))
    EXPECT_TRUE(std::isnan(a)) << a;
  else
    EXPECT_NEAR(a, b, 1e-10 * (1.0 + std::abs(b)));
}

Features random_features(std::mt19937& engine, std::size_t rows, std::size_t width) {
  Features features{width, {}};
  for (std::size_t i = 0; i < rows * width; ++i)
    features.values.push_back(static_cast<double>(engine()) / 1e9 - 2.0);
  return features;
}

TEST(TreeQuality, EqualsTheDefinitionByPairs) {
  std::mt19937 engine(3);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t rows = 1 + engine() % 15;
    const std::size_t levels = 1 + engine() % 4;
    const Features features = random_features(engine, rows, 1 + engine() % 4);
    const Labels labels = random_tree(engine, rows, levels, 0.5);
    const Hierarchy full = make_hierarchy(labels, rows);
    const Hierarchy shown = presentation_tree(full);
    const TreeQuality found = tree_quality(labels, features);
    ASSERT_EQ(found.levels.size(), levels);
    for (std::size_t level = 0; level <= levels; ++level) {
      const NodeDistances& d = level == 0 ? found.all : found.levels[level - 1];
      const Expected expected = by_definition(full, features, level);
      expect_same(d.aid, expected.aid);
      expect_same(d.aid_ge2, expected.aid_ge2);
      expect_same(d.aod, expected.aod);
      EXPECT_EQ(d.nodes, expected.nodes);
      const Expected collapsed = by_definition(shown, features, level);
      expect_same(d.collapsed, collapsed.aid);
      expect_same(d.aod, collapsed.aod);
      EXPECT_EQ(d.collapsed_nodes, collapsed.nodes);
    }
    EXPECT_EQ(found.collapsed_leaves, by_definition(shown, features, 0).leaves);
    EXPECT_EQ(found.is_single_path(), shown.nodes.size() == 1);
  }
}

TEST(TreeQuality, OfASinglePathHasNoOuterDistance) {
  std::mt19937 engine(4);
  const TreeQuality quality = tree_quality(Labels(10, 0), random_features(engine, 5, 2));
  EXPECT_TRUE(quality.is_single_path());
  EXPECT_TRUE(std::isnan(quality.all.aod));
  EXPECT_TRUE(std::isnan(quality.all.collapsed));
  EXPECT_GT(quality.all.aid, 0.0);
  EXPECT_EQ(quality.collapsed_leaves, 1u);
}

TEST(TreeQuality, RejectsLabelsThatDoNotFit) {
  std::mt19937 engine(4);
  EXPECT_THROW(tree_quality(Labels(7, 0), random_features(engine, 5, 2)), Error);
}

TEST(FeaturesOf, FillGapsWithTheMeanAndCountCategoriesByMismatch) {
  Table table;
  table.row_ids = {"a", "b", "c"};
  table.columns.push_back({"x", Kind::real, {1.0, kMissing, 3.0}, {}});
  table.columns.push_back({"color", Kind::category, {0.0, 1.0, 2.0}, {"red", "green", "blue"}});
  const Features features = features_of(table);
  EXPECT_EQ(features.width, 4u);
  EXPECT_NEAR(features[0][0], -1.0, 1e-15);
  EXPECT_NEAR(features[1][0], 0.0, 1e-15);
  // Two units apart in x, and one for the color.
  EXPECT_NEAR(squared_distance(row_of(features, 0), row_of(features, 2)), 5.0, 1e-12);
  EXPECT_NEAR(squared_distance(row_of(features, 0), row_of(features, 1)), 2.0, 1e-12);
}

class RunQualityTest : public RunTest {};

TEST_F(RunQualityTest, IsTheAverageOfTheDraws) {
  std::string csv = "id,x,y\n";
  for (int i = 0; i < 12; ++i) csv += fmt::format("r{},{},{}\n", i, i % 3 * 4 + 0.1 * i, i % 2);
  const auto run = make_run({.csv = csv, .warmup = 20, .draws = 30, .model = "rbhmc"});
  const Features features = features_of(run->table());
  const RunQuality quality = run_quality(*run, features);
  EXPECT_EQ(quality.draws, 60u);
  double aid = 0.0;
  double aod = 0.0;
  double branched = 0.0;
  double nodes = 0.0;
  run->for_each_draw(0, [&](const SavedDraw& draw) {
    const Hierarchy full = make_hierarchy(draw.labels, run->rows());
    const Expected expected = by_definition(full, features, 0);
    aid += expected.aid / 60.0;
    nodes += static_cast<double>(full.nodes.size() - 1) / 60.0;
    if (std::isnan(expected.aod)) return;
    aod += expected.aod;
    branched += 1.0;
  });
  EXPECT_NEAR(quality.all.aid, aid, 1e-9 * aid);
  EXPECT_NEAR(quality.all.nodes, nodes, 1e-9 * nodes);
  EXPECT_NEAR(quality.single_path_share, 1.0 - branched / 60.0, 1e-12);
  ASSERT_GT(branched, 0.0);
  EXPECT_NEAR(quality.all.aod, aod / branched, 1e-9 * aod);
}

}  // namespace
}  // namespace coppice
