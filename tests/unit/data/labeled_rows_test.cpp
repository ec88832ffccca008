// Sparse rows keep what is not zero, missing cells too, and refuse categories.
#include "coppice/data/labeled_rows.hpp"

#include <gtest/gtest.h>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

Table table_of(std::vector<Column> columns) {
  Table table;
  table.columns = std::move(columns);
  for (std::size_t row = 0; row < table.columns.at(0).values.size(); ++row)
    table.row_ids.push_back(std::to_string(row + 1));
  return table;
}

TEST(SparseRows, HoldEveryCellThatIsNotZero) {
  const Table table =
      table_of({{"a", Kind::count, {0.0, 2.0, kMissing}, {}}, {"b", Kind::real, {0.0, -1.5, 3.0}, {}}});
  const SparseRows rows = sparse_rows(table);
  ASSERT_EQ(rows.rows(), 3u);
  EXPECT_EQ(rows.columns, 2u);
  EXPECT_TRUE(rows.columns_of(0).empty());
  ASSERT_EQ(rows.columns_of(1).size(), 2u);
  EXPECT_EQ(rows.columns_of(1)[0], 0u);
  EXPECT_EQ(rows.values_of(1)[1], -1.5);
  ASSERT_EQ(rows.columns_of(2).size(), 2u);
  EXPECT_TRUE(is_missing(rows.values_of(2)[0]));
  EXPECT_EQ(rows.values_of(2)[1], 3.0);
}

TEST(SparseRows, RefuseCategories) {
  const Table table = table_of({{"color", Kind::category, {0.0, 1.0}, {"red", "blue"}}});
  try {
    sparse_rows(table);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::configuration);
    EXPECT_NE(std::string(error.what()).find("color"), std::string::npos);
  }
}

TEST(LabeledRows, KindsAndLabelsBelongToTheSameRows) {
  const Table features = table_of({{"x", Kind::real, {1.0, 2.0}, {}}});
  const Table labels =
      table_of({{"l", Kind::binary, {1.0, kMissing}, {}}, {"m", Kind::binary, {0.0, 1.0}, {}}});
  const LabeledRows rows = labeled_rows(features, labels);
  EXPECT_EQ(rows.kinds, std::vector<Kind>{Kind::real});
  EXPECT_EQ(rows.labels.columns, 2u);
  EXPECT_EQ(rows.labels.values_of(0)[0], 1.0);
  EXPECT_TRUE(is_missing(rows.labels.values_of(1)[0]));
  EXPECT_THROW(labeled_rows(features, table_of({{"l", Kind::binary, {1.0}, {}}})), Error);
}

}  // namespace
}  // namespace coppice
