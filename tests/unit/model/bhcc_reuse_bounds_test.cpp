// Bounds of pairs of views by the trees that the two have: those of trees of these shapes built from nothing,
// after every merge; the same bits with profiles kept or computed again, on one thread or two, with trees
// whose leaves are blocks of rows.
#include <gtest/gtest.h>

#include "coppice/model/bhcc/pair_bounds.hpp"
#include "laws/law_case.hpp"
#include "support/copied_rows.hpp"

namespace coppice::bhcc {
namespace {

using Node = ColumnForest::Node;

test::LawCase views_case() {
  test::LawCase law_case{"views", "auto", {}, {}, 0.1};
  const test::CaseColumn kinds[] = {
      {Kind::binary}, {Kind::category, 3}, {Kind::count}, {Kind::real}, {Kind::binary}};
  for (int j = 0; j < 13; ++j) law_case.columns.push_back(kinds[j % 5]);
  return law_case;
}

struct Case {
  const Family& family;
  const Rows& rows;
  bool has_blocks;
  bool keeps_profiles;
  std::size_t threads;
};

/// All bounds that are asked for while views are merged; each is compared with trees built from nothing.
std::vector<double> bounds_of(const Case& how) {
  Options options(ParameterValues(parameter_table(), {}), how.rows.size(), how.rows.data_width());
  options.reuses_trees = true;
  if (!how.keeps_profiles) options.most_profile_bytes = 0;
  if (how.has_blocks) {
    options.divides_rows = true;
    options.row_division.threshold = options.row_division.subset = 2;
    options.row_division.levels = 3;
  }
  const TableColumns table(how.family, how.rows, "bhcc");
  ViewTrees trees(table, options);
  trees.set_threads(how.threads);
  ColumnForest forest(trees);
  std::vector<Node> nodes;
  for (std::size_t column = 0; column < table.count(); ++column) {
    const std::size_t alone[] = {column};
    forest.set_leaf(column, trees.grow(alone));
    nodes.push_back(static_cast<Node>(column));
  }
  const std::unique_ptr<PairBounds> bounds = make_reuse_bounds(trees, forest, nodes);
  for (std::size_t unit = 0; unit < bounds->units(nodes.size()); ++unit) bounds->prepare();
  std::vector<std::size_t> slots(nodes.size());
  for (std::size_t slot = 0; slot < slots.size(); ++slot) slots[slot] = slot;
  std::vector<double> all;
  while (slots.size() > 1) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      std::vector<std::size_t> others;
      for (const std::size_t slot : slots)
        if (slot != slots[i]) others.push_back(slot);
      std::vector<double> found(others.size());
      bounds->bounds(slots[i], others, found.data());
      for (std::size_t o = 0; o < others.size(); ++o) {
        const Node one = nodes[slots[i]];
        const Node other = nodes[others[o]];
        const std::vector<std::size_t> columns = forest.columns_of(one, other);
        const double expected = std::max(trees.reshape(columns, *forest.view(one).rows).log_bound,
                                         trees.reshape(columns, *forest.view(other).rows).log_bound);
        EXPECT_NEAR(found[o], expected, test::relative(1e-11, expected)) << one << " and " << other;
        all.push_back(found[o]);
      }
    }
    const std::size_t first = (7 * slots.size() + 3) % (slots.size() - 1);
    const std::size_t kept = slots[first];
    const std::size_t gone = slots[first + 1];
    const Node made = forest.join(nodes[kept], nodes[gone], bounds->merge(kept, gone));
    nodes[kept] = made;
    bounds->merged(kept, gone, made);
    slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  }
  return all;
}

void expect_the_same_bounds(const Family& family, const Rows& rows) {
  for (const bool has_blocks : {false, true}) {
    const std::vector<double> expected = bounds_of({family, rows, has_blocks, true, 1});
    EXPECT_EQ(bounds_of({family, rows, has_blocks, false, 1}), expected);
    EXPECT_EQ(bounds_of({family, rows, has_blocks, true, 2}), expected);
    EXPECT_EQ(bounds_of({family, rows, has_blocks, false, 2}), expected);
  }
}

TEST(ReuseBounds, AreThoseOfTreesBuiltFromNothingHoweverTheyAreFound) {
  const test::Fixture fixture(views_case(), 1, 15);
  expect_the_same_bounds(fixture.family(), fixture.rows);
}

TEST(ReuseBounds, OfRowsWithCopiesAreThoseOfTreesBuiltFromNothing) {
  const test::Fixture fixture(views_case(), 1, 15);
  constexpr std::size_t kCopyCounts[] = {1, 3, 1, 2};  // the family's tables go to twice the rows
  const test::CopiedRows rows(fixture, kCopyCounts);
  expect_the_same_bounds(rows.family, rows.weighted);
}

}  // namespace
}  // namespace coppice::bhcc
