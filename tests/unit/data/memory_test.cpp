// Tables from columns in memory must be what the readers make of the same cells in a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "coppice/data/read.hpp"
#include "unit/data/support.hpp"

namespace coppice {
namespace {

RawColumn numbers(std::string name, std::vector<double> values) {
  RawColumn column;
  column.name = std::move(name);
  column.values = std::move(values);
  return column;
}

RawColumn texts(std::string name, std::vector<double> codes, std::vector<std::string> levels) {
  RawColumn column = numbers(std::move(name), std::move(codes));
  column.is_text = true;
  column.levels = std::move(levels);
  return column;
}

RawTable table_of(std::vector<RawColumn> columns) {
  RawTable raw;
  raw.file = "X";
  raw.rows = columns.front().values.size();
  raw.columns = std::move(columns);
  raw.locate = [](std::size_t row, std::size_t) { return Place{fmt::format("row {}", row), "it"}; };
  return raw;
}

RawTable five_rows() {
  return table_of({numbers("weight", {1.5, 2.25, kMissing, -3.0, 0.125}),
                   numbers("bit", {0, 1, 1, 0, kMissing}), numbers("count", {0, 7, 7, 40, 3}),
                   texts("letter", {0, 1, 0, 2, kMissing}, {"z", "a", "m"}),
                   texts("answer", {0, 1, 1, 0, 0}, {"yes", "no"})});
}

constexpr std::string_view kFile =
    "weight,bit,count,letter,answer\n1.5,0,0,z,yes\n2.25,1,7,a,no\n,1,7,z,no\n-3,0,40,m,yes\n0.125,,3,,yes\n";

TEST(MemoryTable, IsWhatTheReaderMakesOfTheSameCells) {
  const Dataset read = read_dataset_bytes(kFile, "x.csv", {});
  const Dataset made = dataset_of(five_rows(), {});
  EXPECT_EQ(made.codebook, read.codebook);
  ASSERT_EQ(made.table.columns.size(), read.table.columns.size());
  for (std::size_t j = 0; j < made.table.columns.size(); ++j) {
    EXPECT_EQ(made.table.columns[j].levels, read.table.columns[j].levels);
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_EQ(made.table.columns[j].text(i), read.table.columns[j].text(i)) << j << " " << i;
  }
  EXPECT_EQ(made.digest.size(), 64U);
  RawTable other = five_rows();
  other.columns[0].values[0] = 1.6;
  EXPECT_NE(dataset_of(std::move(other), {}).digest, made.digest);
}

TEST(MemoryTable, ObeysTheCodebook) {
  Codebook codebook;
  codebook.columns = {{"count", Kind::category, {}, {}, {}},
                      {"letter", Kind::category, {"m", "z", "a", "q"}, {}, {}}};
  ReadOptions options;
  options.codebook = &codebook;
  const Dataset made = dataset_of(five_rows(), options);
  EXPECT_EQ(made.table.find("count")->levels, (std::vector<std::string>{"0", "3", "7", "40"}));
  EXPECT_EQ(made.table.find("letter")->levels, (std::vector<std::string>{"m", "z", "a", "q"}));
  EXPECT_EQ(made.table.find("letter")->text(1), "a");
  codebook.columns = {{"letter", Kind::real, {}, {}, {}}};
  EXPECT_EQ(
      message_of(ErrorCode::bad_data, [&] { dataset_of(five_rows(), options); }),
      "row 0: column 'letter': value 'it' is not a number; correct it, or leave the cell empty if it is "
      "missing");
}

TEST(MemoryTable, InfinityIsNoCell) {
  RawTable raw = five_rows();
  raw.columns[0].values[3] = std::numeric_limits<double>::infinity();
  const std::string message = message_of(ErrorCode::bad_data, [&] { dataset_of(std::move(raw), {}); });
  EXPECT_TRUE(message.starts_with("row 3: column 'weight': value 'it' is infinite")) << message;
}

TEST(MemoryTable, NewRowsAreCodedLikeTheFittedOnes) {
  const Dataset made = dataset_of(five_rows(), {});
  RawTable raw = table_of({numbers("weight", {9.0}), numbers("bit", {1.0}), numbers("count", {4.0}),
                           texts("letter", {0}, {"m"}), texts("answer", {0}, {"yes"})});
  const Table table = table_like(raw, made.table);
  for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(table.columns[j].levels, made.table.columns[j].levels);
  EXPECT_EQ(table.columns[3].text(0), "m");
  EXPECT_EQ(table.columns[3].values[0], made.table.columns[3].values[3]);
  EXPECT_EQ(table.columns[4].values[0], 1.0);

  // Names decide, not the order; without names the order decides.
  RawTable turned = raw;
  std::reverse(turned.columns.begin(), turned.columns.end());
  const Table by_name = table_like(turned, made.table);
  RawTable unnamed = raw;
  for (RawColumn& column : unnamed.columns) column.name += "?";
  const Table by_order = table_like(unnamed, made.table);
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_EQ(by_name.columns[j].values, table.columns[j].values);
    EXPECT_EQ(by_order.columns[j].values, table.columns[j].values);
  }

  const auto message = [&](ErrorCode code, const RawTable& wrong) {
    return message_of(code, [&] { table_like(wrong, made.table); });
  };
  RawTable unknown = raw;
  unknown.columns[3].levels = {"elephant"};
  EXPECT_NE(message(ErrorCode::bad_data, unknown).find("is not one of the levels"), std::string::npos);
  RawTable broken = raw;
  broken.columns[2].values = {4.5};
  EXPECT_NE(message(ErrorCode::bad_data, broken).find("is not a count"), std::string::npos);
  RawTable narrow = raw;
  narrow.columns.pop_back();
  EXPECT_EQ(message(ErrorCode::usage, narrow), "X: 4 columns where 5 were fitted");
}

}  // namespace
}  // namespace coppice
