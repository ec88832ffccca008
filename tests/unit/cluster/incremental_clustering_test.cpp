// Incremental clustering: separated groups are kept apart whatever the order, every row ends in exactly one
// tree, and no tree is left that ought to be cut.
#include "coppice/cluster/incremental_clustering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "coppice/prior/crp.hpp"
#include "coppice/shape/partition.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {
namespace {

/// Groups of points around a circle, one row after the other from each.
struct Blobs {
  Blobs(std::size_t groups, std::size_t rows, double radius, std::uint64_t seed) {
    Stream stream({seed, 0, 0}, Purpose::test);
    table.columns = {{"x", Kind::real, {}, {}}, {"y", Kind::real, {}, {}}};
    for (std::size_t row = 0; row < rows; ++row) {
      const double turn =
          2.0 * std::numbers::pi * static_cast<double>(row % groups) / static_cast<double>(groups);
      table.columns[0].values.push_back(radius * std::cos(turn) + 0.3 * draw_normal(stream));
      table.columns[1].values.push_back(radius * std::sin(turn) + 0.3 * draw_normal(stream));
      table.row_ids.push_back(std::to_string(row));
    }
    plan = plan_family(
        table, {}, "gaussian",
        parse_all({"prior_mean=[0, 0]", "mean_strength=0.01", "dof=10", "scale=[[0.6, 0], [0, 0.6]]"}));
    encoded = encode(plan, table);
  }
  Table table;
  FamilyPlan plan;
  Rows encoded;
};

std::vector<std::uint32_t> random_order(std::size_t rows, std::uint64_t seed) {
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  Stream stream({seed, 0, 1}, Purpose::test);
  shuffle(stream, order);
  return order;
}

Labels labels_of(const IncrementalClustering& found, std::size_t rows) {
  Labels labels(rows, -1);
  Label label = 0;
  for (const MergeTree::Node root : found.roots) {
    found.forest.for_each_row(root, [&](std::uint32_t row) {
      EXPECT_EQ(labels[row], -1) << "row " << row << " is in two trees";
      labels[row] = label;
    });
    ++label;
  }
  return labels;
}

TEST(IncrementalClustering, FindsSeparatedGroups) {
  const std::size_t groups = 5;
  const std::size_t rows = 300;
  const Blobs blobs(groups, rows, 6.0, 1);
  const Crp crp(1.0, rows);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const IncrementalClustering found =
        incremental_clustering(*blobs.plan.family, blobs.encoded, random_order(rows, seed), crp);
    found.forest.audit();
    labels_of(found, rows);
    // A row that was alone too early stays alone: trees do not join later. But no tree may mix groups, and
    // each group must have one that holds nearly all of it.
    EXPECT_LE(found.roots.size(), groups + 2);
    std::vector<std::size_t> largest(groups, 0);
    for (const MergeTree::Node root : found.roots) {
      const std::size_t group = found.forest.first_row(root) % groups;
      largest[group] = std::max<std::size_t>(largest[group], found.forest.count(root));
      found.forest.for_each_row(root, [&](std::uint32_t row) { EXPECT_EQ(row % groups, group); });
    }
    for (const std::size_t size : largest) EXPECT_GE(size, rows / groups - 3);
  }
}

TEST(IncrementalClustering, EveryTreeHoldsTogether) {
  for (const LawCase& law_case : law_cases()) {
    SCOPED_TRACE(law_case.name);
    const std::size_t rows = 80;
    const Fixture fixture(law_case, 3, rows);
    const Crp crp(1.0, rows);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const IncrementalClustering found =
          incremental_clustering(fixture.family(), fixture.rows, random_order(rows, seed), crp);
      const MergeTree& forest = found.forest;
      forest.audit();
      const Labels labels = labels_of(found, rows);
      EXPECT_EQ(std::count(labels.begin(), labels.end(), -1), 0);
      Labels canonical = labels;
      canonicalize(canonical);
      EXPECT_EQ(labels, canonical) << "the trees are not ordered by their first rows";
      std::size_t apart = 0;
      for (const MergeTree::Node root : found.roots)
        forest.for_each_node(root, [&](MergeTree::Node node) { apart += forest.log_d(node) > 0.0 ? 1 : 0; });
      EXPECT_EQ(apart, 0u) << "inner nodes whose children belong apart";
    }
  }
}

TEST(IncrementalClustering, SomeRowsOrNone) {
  const Blobs blobs(2, 10, 6.0, 2);
  const Crp crp(1.0, 10);
  const std::vector<std::uint32_t> some{7, 3, 4};
  const IncrementalClustering found = incremental_clustering(*blobs.plan.family, blobs.encoded, some, crp);
  ASSERT_EQ(found.roots.size(), 2u);
  EXPECT_EQ(found.forest.first_row(found.roots[0]), 3u);
  EXPECT_EQ(found.forest.count(found.roots[0]), 2u);
  EXPECT_EQ(found.forest.first_row(found.roots[1]), 4u);
  EXPECT_TRUE(incremental_clustering(*blobs.plan.family, blobs.encoded, {}, crp).roots.empty());
}

}  // namespace
}  // namespace coppice::test
