// Rows of one table in the order of another's, by their names.
#include "coppice/post/row_order.hpp"

#include <gtest/gtest.h>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

TEST(RowOrder, CellsFollowTheNames) {
  Table table;
  table.row_ids = {"c", "a", "b"};
  table.columns = {{"x", Kind::real, {3.0, 1.0, 2.0}, {}}, {"y", Kind::real, {30.0, 10.0, 20.0}, {}}};
  const Table sorted = in_order_of(table, {"a", "b", "c"}, "file.csv");
  EXPECT_EQ(sorted.row_ids, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(sorted.columns[0].values, (std::vector<double>{1.0, 2.0, 3.0}));
  EXPECT_EQ(sorted.columns[1].values, (std::vector<double>{10.0, 20.0, 30.0}));
  EXPECT_THROW(in_order_of(table, {"a", "b"}, "file.csv"), Error);
  EXPECT_THROW(in_order_of(table, {"a", "b", "d"}, "file.csv"), Error);
}

TEST(RowOrder, OtherRowsMayBeThereTooAndTheFirstOfANameCounts) {
  EXPECT_EQ(places_of_rows({"b", "a"}, {"a", "x", "b", "a"}, "file.csv"), (std::vector<std::size_t>{2, 0}));
  try {
    places_of_rows({"a", "missing"}, {"a"}, "file.csv");
    FAIL() << "a row that is not there must be refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_STREQ(error.what(), "file.csv: there is no row 'missing'");
  }
}

}  // namespace
}  // namespace coppice
