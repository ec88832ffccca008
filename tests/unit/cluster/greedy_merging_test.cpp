// Greedy merging against the rule written out: all pairs are scored one by one at every merge, the best wins,
// of equal ones that of the smallest first rows. Tables with missing cells, rows that are equal, more rows
// and more columns than a word has bits, blocks to begin with; scores kept or computed again, on one thread
// or two.
#include "coppice/cluster/greedy_merging.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "coppice/base/math.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/prior/crp.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {
namespace {

struct Merge {
  std::uint32_t left, right;  // first rows
  double score;
  bool operator==(const Merge&) const = default;
};

double score_of(const Family& family, const ProductPartition& prior, const MergeTree& forest,
                MergeTree::Node a, MergeTree::Node b) {
  const std::size_t size = family.union_size() * kLanes;
  AlignedVector one(size, 0.0), other(size, 0.0);
  double log_marginal[kLanes] = {};
  family.fill_union(forest.stats(a), one.data());
  family.fill_union(forest.stats(b), other.data());
  family.add_log_marginals(one.data(), other.data(), size, 1, log_marginal);
  return (prior.log_kappa(forest.count(a) + forest.count(b)) + log_marginal[0]) -
         (forest.log_phi(a) + forest.log_phi(b));
}

std::vector<MergeTree::Node> plant(MergeTree& forest, std::size_t rows, bool has_block) {
  std::vector<MergeTree::Node> roots;
  const std::uint32_t together[] = {1, 2, 5};
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (has_block && row == 1)
      roots.push_back(forest.block(together));
    else if (!has_block || (row != 2 && row != 5))
      roots.push_back(forest.leaf(row));
  }
  return roots;
}

std::vector<Merge> by_the_rule(const Family& family, const Rows& rows, bool has_block) {
  const Crp prior(1.0, rows.size());
  MergeTree forest(family, rows, prior);
  std::vector<MergeTree::Node> roots = plant(forest, rows.size(), has_block);
  std::vector<Merge> merges;
  while (roots.size() > 1) {
    std::size_t first = 0, second = 0;
    double best = kMinusInfinity;
    for (std::size_t a = 0; a < roots.size(); ++a)
      for (std::size_t b = a + 1; b < roots.size(); ++b)
        if (const double score = score_of(family, prior, forest, roots[a], roots[b]); score > best) {
          first = a;
          second = b;
          best = score;
        }
    merges.push_back({forest.first_row(roots[first]), forest.first_row(roots[second]), best});
    roots[first] = forest.join(roots[first], roots[second]);
    roots.erase(roots.begin() + static_cast<std::ptrdiff_t>(second));
  }
  return merges;
}

void expect_the_same(const Family& family, const Rows& rows, bool has_block, const std::string& what) {
  const std::vector<Merge> expected = by_the_rule(family, rows, has_block);
  for (const bool keeps_scores : {true, false})
    for (const std::size_t threads : {1U, 2U}) {
      const Crp prior(1.0, rows.size());
      MergeTree forest(family, rows, prior);
      GreedyMerging merging(family, prior, forest, plant(forest, rows.size(), has_block), keeps_scores,
                            threads);
      std::size_t next = 0;
      merging.run([&](MergeTree::Node made) {
        ASSERT_LT(next, expected.size());
        const Merge& merge = expected[next];
        ASSERT_EQ(forest.first_row(forest.left(made)), merge.left) << what << ", merge " << next;
        ASSERT_EQ(forest.first_row(forest.right(made)), merge.right) << what << ", merge " << next;
        ++next;
      });
      EXPECT_EQ(next, expected.size()) << what;
    }
}

enum class Cells { noisy, two_kinds, all_equal, all_missing };

Rows binary_rows(std::size_t rows, std::size_t columns, Cells cells, double missing, std::uint64_t seed) {
  Rows made;
  made.width = columns;
  made.cells.resize(rows * columns);
  Stream stream({seed, 0, 0}, Purpose::test);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t j = 0; j < columns; ++j) {
      const double p = (row * 7 / 3 + j) % 3 == 0 ? 0.85 : 0.2;
      double x = draw_uniform(stream) < p ? 1.0 : 0.0;
      if (cells == Cells::two_kinds) x = static_cast<double>((row * row / 5 + j) % 2);
      if (cells == Cells::all_equal) x = static_cast<double>(j % 2);
      if (cells == Cells::all_missing || draw_uniform(stream) < missing) x = kMissing;
      made[row][j] = x;
    }
  return made;
}

FamilyPlan binary_plan(std::size_t rows, std::size_t columns) {
  Table table;
  for (std::size_t row = 0; row < rows; ++row) table.row_ids.push_back(fmt::format("{}", row));
  for (std::size_t j = 0; j < columns; ++j) {
    Column column{fmt::format("v{}", j), Kind::binary, {}, {"0", "1"}};
    for (std::size_t row = 0; row < rows; ++row) column.values.push_back(static_cast<double>(row % 2));
    table.columns.push_back(column);
  }
  return plan_family(table, {}, "bernoulli", {});
}

TEST(GreedyMerging, IsTheRuleForBinaryTables) {
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{70, 67}, {130, 5}, {9, 130}, {2, 1}}) {
    const FamilyPlan plan = binary_plan(rows, columns);
    for (const Cells cells : {Cells::noisy, Cells::two_kinds, Cells::all_equal, Cells::all_missing})
      for (const double missing : {0.0, 0.02, 0.4})
        expect_the_same(
            *plan.family, binary_rows(rows, columns, cells, missing, 1), rows > 6 && missing > 0.1,
            fmt::format("{} x {}, cells {}, missing {}", rows, columns, static_cast<int>(cells), missing));
  }
}

TEST(GreedyMerging, AmongEqualRowsTheFirstMergeFirst) {
  const FamilyPlan plan = binary_plan(67, 66);
  const Rows rows = binary_rows(67, 66, Cells::all_equal, 0.0, 1);
  const std::vector<Merge> merges = by_the_rule(*plan.family, rows, false);
  EXPECT_EQ(merges.front().left, 0U);
  EXPECT_EQ(merges.front().right, 1U);
}

class GreedyMergingOfFamilies : public ::testing::TestWithParam<LawCase> {};

TEST_P(GreedyMergingOfFamilies, IsTheRule) {
  const Fixture fixture(GetParam(), 1, 45);
  expect_the_same(fixture.family(), fixture.rows, false, "rows");
  expect_the_same(fixture.family(), fixture.rows, true, "with a block");
}

INSTANTIATE_TEST_SUITE_P(Families, GreedyMergingOfFamilies, ::testing::ValuesIn(law_cases()), CaseName());

}  // namespace
}  // namespace coppice::test
