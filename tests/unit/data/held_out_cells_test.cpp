#include "coppice/data/held_out_cells.hpp"

#include <gtest/gtest.h>

#include <set>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

Table small_table() {
  Table table;
  table.row_ids = {"1", "2", "3", "4"};
  table.columns.push_back({"a", Kind::real, {1.0, 2.0, kMissing, 4.0}, {}});
  table.columns.push_back({"b", Kind::count, {5.0, 6.0, 7.0, 8.0}, {}});
  return table;
}

TEST(HeldOutCells, EveryObservedCellIsInOneFold) {
  const Table table = small_table();
  const auto folds = deal_cells(table, 3, 5);
  ASSERT_EQ(folds.size(), 3u);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const auto& fold : folds) {
    EXPECT_GE(fold.size(), 2u);
    EXPECT_LE(fold.size(), 3u);
    for (const HeldOutCell& cell : fold) {
      EXPECT_EQ(cell.value, table.columns[cell.column].values[cell.row]);
      EXPECT_TRUE(seen.insert({cell.row, cell.column}).second);
    }
  }
  EXPECT_EQ(seen.size(), 7u);
}

TEST(HeldOutCells, TheSeedDecidesTheFolds) {
  const auto cells_of = [](std::uint64_t seed) {
    std::vector<std::pair<std::size_t, std::size_t>> cells;
    const auto folds = deal_cells(small_table(), 2, seed);
    for (const HeldOutCell& cell : folds[0]) cells.emplace_back(cell.row, cell.column);
    return cells;
  };
  EXPECT_EQ(cells_of(1), cells_of(1));
  bool differs = false;
  for (std::uint64_t seed = 2; seed < 10; ++seed) differs |= cells_of(seed) != cells_of(1);
  EXPECT_TRUE(differs);
}

TEST(HeldOutCells, OnlyTheCellsOfTheFoldAreTakenOut) {
  const Table table = small_table();
  const std::vector<HeldOutCell> cells{{0, 1, 5.0}, {3, 0, 4.0}};
  const Table rest = without_cells(table, cells);
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t column = 0; column < 2; ++column) {
      const bool out = (row == 0 && column == 1) || (row == 3 && column == 0) || (row == 2 && column == 0);
      EXPECT_EQ(is_missing(rest.columns[column].values[row]), out);
    }
}

TEST(HeldOutCells, FoldsThatCannotBeAreRefused) {
  EXPECT_THROW(deal_cells(small_table(), 1, 1), Error);
  EXPECT_THROW(deal_cells(small_table(), 8, 1), Error);
}

}  // namespace
}  // namespace coppice
