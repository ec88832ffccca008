// The CSV grammar: quotes, line ends, marks, headers, missing tokens, and every way a file can be wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "coppice/data/read.hpp"
#include "unit/data/support.hpp"

namespace coppice {
namespace {

using Values = std::vector<double>;
using Texts = std::vector<std::string>;

const double kGap = kMissing;

TEST(Csv, ReadsNumbersTextsAndMissingCells) {
  const Dataset data = read_text("x,color,y\n1.5,red,\n-2e3,blue,7\n.25,red,NA\n+3,,9.5\n");
  ASSERT_EQ(data.table.columns.size(), 3u);
  expect_values(data.table.columns[0], {1.5, -2000.0, 0.25, 3.0});
  EXPECT_EQ(data.table.columns[1].kind, Kind::category);
  EXPECT_EQ(data.table.columns[1].levels, (Texts{"blue", "red"}));
  expect_values(data.table.columns[1], {1, 0, 1, kGap});
  expect_values(data.table.columns[2], {kGap, 7, kGap, 9.5});
  EXPECT_EQ(data.table.row_ids, (Texts{"1", "2", "3", "4"}));
}

TEST(Csv, EveryMissingTokenIsMissing) {
  const Dataset data =
      read_text("x,y\n1.5,a\n,a\nNA,a\nN/A,a\nNaN,a\nnan,a\n?,a\nnull,a\nNULL,a\nNone,a\n\"\",a\n2.5,b\n");
  expect_values(data.table.columns[0],
                {1.5, kGap, kGap, kGap, kGap, kGap, kGap, kGap, kGap, kGap, kGap, 2.5});
  const Dataset texts = read_text("x,y\na,1.5\nnull,2\n?,3\nnone,4\n");
  EXPECT_EQ(texts.table.columns[0].levels, (Texts{"a", "none"}));
  expect_values(texts.table.columns[0], {0, kGap, kGap, 1});
}

TEST(Csv, QuotesMayHoldDelimitersLineEndsAndQuotes) {
  const Dataset data = read_text(
      "\"na\"\"me\",v\n\"a,b\",1.5\n\"line 1\nline 2\",2.5\n\"say \"\"hi\"\"\",\"3.5\"\n \"x\" , 4.5 \n");
  EXPECT_EQ(data.table.columns[0].name, "na\"me");
  EXPECT_EQ(data.table.columns[0].levels, (Texts{"a,b", "line 1\nline 2", "say \"hi\"", "x"}));
  expect_values(data.table.columns[0], {0, 1, 2, 3});
  expect_values(data.table.columns[1], {1.5, 2.5, 3.5, 4.5});
}

TEST(Csv, QuotedNumbersAmongLongRows) {
  // Long enough that the quick way over whole rows is taken for the rows without quotes.
  std::string text = "a,b,c\n";
  Values expected;
  for (int i = 0; i < 200; ++i) {
    text += i % 7 == 3 ? fmt::format("\"{}.5\",1.25, 2.25\n", i) : fmt::format("{}.5,1.25, 2.25\n", i);
    expected.push_back(i + 0.5);
  }
  ReadOptions all;
  all.leave_out = false;
  const Dataset data = read_text(text, all);
  expect_values(data.table.columns[0], expected);
  expect_values(data.table.columns[2], Values(200, 2.25));
}

TEST(Csv, LineEndsOfAllSorts) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    for (const std::string& last : {std::string(), end, end + end, fmt::format("{0}  {0}", end)}) {
      const Dataset data = read_text(fmt::format("x,y{0}1.5,a{0}2.5,b{1}", end, last));
      expect_values(data.table.columns.at(0), {1.5, 2.5});
      expect_values(data.table.columns.at(1), {0, 1});
    }
  }
  const Dataset mixed = read_text("x\n1.5\r2.5\r\n3.5\r4.5\r5.5");
  expect_values(mixed.table.columns.at(0), {1.5, 2.5, 3.5, 4.5, 5.5});
}

TEST(Csv, ByteOrderMarkAndUtf8Names) {
  const Dataset data = read_text(
      "\xef\xbb\xbfgr\xc3\xb6\xc3\x9f"
      "e,\xe5\x90\x8d\n1.5,\xc3\xa4\n2.5,b\n");
  EXPECT_EQ(data.table.columns[0].name,
            "gr\xc3\xb6\xc3\x9f"
            "e");
  EXPECT_EQ(data.table.columns[1].name, "\xe5\x90\x8d");
  EXPECT_EQ(data.table.columns[1].levels, (Texts{"b", "\xc3\xa4"}));
}

TEST(Csv, AMissingCellInASingleColumnIsABlankLine) {
  const Dataset data = read_text("x\n1.5\n\n2.5\n\n\n");
  expect_values(data.table.columns.at(0), {1.5, kGap, 2.5});
}

TEST(Csv, HeaderIsFoundOut) {
  const Dataset none = read_text("1.5,2\n2.5,3.5\n");
  EXPECT_EQ(none.table.columns[0].name, "c1");
  EXPECT_EQ(none.table.columns[1].name, "c2");
  expect_values(none.table.columns[0], {1.5, 2.5});
  ASSERT_FALSE(none.notes.empty());
  EXPECT_EQ(none.notes[0], "no header row: columns are named c1..c2");

  ReadOptions with;
  with.header = Header::yes;
  const Dataset forced = read_text("1990,1991\n1.5,2.5\n", with);
  EXPECT_EQ(forced.table.columns[1].name, "1991");
  EXPECT_EQ(forced.table.rows(), 1u);
  EXPECT_NE(forced.notes.at(0).find("names are numbers"), std::string::npos);

  ReadOptions without;
  without.header = Header::no;
  const Dataset texts = read_text("a,1.5\nb,2.5\na,3\n", without);
  EXPECT_EQ(texts.table.rows(), 3u);
  EXPECT_EQ(texts.table.columns[0].name, "c1");
  EXPECT_EQ(texts.table.columns[0].levels, (Texts{"a", "b"}));
}

TEST(Csv, UnnamedColumnsGetTheirPosition) {
  const Dataset data = read_text(",x\n1.5,2.5\n3.5,4.5\n");
  EXPECT_EQ(data.table.columns[0].name, "c1");
  EXPECT_NE(data.notes.at(0).find("'c1'"), std::string::npos);
}

TEST(Csv, DelimiterFollowsNameOrContent) {
  expect_values(read_text("a\tb\n1,5\t2.5\n", {}, "d.tsv").table.columns.at(1), {2.5});
  expect_values(read_text("a;b\n1.5;2.5\n", {}, "d.txt").table.columns.at(1), {2.5});
  expect_values(read_text("a\tb\n1.5\t2.5\n", {}, "d.data").table.columns.at(1), {2.5});
  expect_values(read_text("a;b\n1.5;2.5\n", {}, "d.csv").table.columns.at(1), {2.5});
  EXPECT_EQ(read_text("\"a;b;c\",d\nx,2.5\ny,3.5\n", {}, "stdin").table.columns.at(0).name, "a;b;c");
}

TEST(Csv, NumbersAreTheNearestDoubles) {
  std::mt19937_64 random(7);
  std::string text = "a,b,c,d,e\n";
  std::vector<Values> expected(5);
  const char* formats[] = {"%.6f", "%.17g", "%.3f", "%.12e", "%.0f"};
  for (int row = 0; row < 20000; ++row) {
    for (std::size_t j = 0; j < 5; ++j) {
      const double scale = std::pow(10.0, static_cast<double>(random() % 13) - 4.0);
      const double value = (static_cast<double>(random()) / 1.8e19 - 0.5) * scale;
      char cell[64];
      std::snprintf(cell, sizeof cell, formats[j], value);
      expected[j].push_back(std::strtod(cell, nullptr));
      text += cell;
      text += j == 4 ? "\n" : ",";
    }
  }
  const Dataset data = read_text(text);
  for (std::size_t j = 0; j < 5; ++j) {
    const Values& got = data.table.columns.at(j).values;
    ASSERT_EQ(got.size(), expected[j].size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], expected[j][i]) << "column " << j << " row " << i;
  }
}

TEST(Csv, HundredThousandRows) {
  const auto count_of = [](std::size_t i) { return std::countr_zero(static_cast<unsigned>(i + 1)); };
  std::string text = "id,x,n,group,note\n";
  for (int i = 0; i < 100000; ++i)
    text += fmt::format("r{},{}.125,{},{},{}\r\n", i, i, count_of(static_cast<std::size_t>(i)),
                        i % 3 == 0 ? "\"a\nb\"" : "c", i % 5 == 0 ? "" : fmt::format("w{}", i % 9));
  ReadOptions options;
  options.id = "id";
  const Dataset data = read_text(text, options);
  ASSERT_EQ(data.table.rows(), 100000u);
  EXPECT_EQ(data.table.row_ids[99999], "r99999");
  ASSERT_EQ(data.table.columns.size(), 4u);
  EXPECT_EQ(data.table.columns[1].kind, Kind::count);
  EXPECT_EQ(data.table.columns[2].levels, (Texts{"a\nb", "c"}));
  for (std::size_t i = 0; i < 100000; ++i) {
    ASSERT_EQ(data.table.columns[0].values[i], static_cast<double>(i) + 0.125);
    ASSERT_EQ(data.table.columns[1].values[i], static_cast<double>(count_of(i)));
    ASSERT_EQ(data.table.columns[2].values[i], i % 3 == 0 ? 0.0 : 1.0);
    ASSERT_EQ(is_missing(data.table.columns[3].values[i]), i % 5 == 0);
  }
}

TEST(Csv, AColumnThatTurnsToTextLateIsReadFromTheStart) {
  std::string text = "x,y\n";
  for (int i = 0; i < 3000; ++i) text += fmt::format("{},{}.5\n", i % 4, i);
  for (int i = 0; i < 1000; ++i) text += fmt::format("late,{}.25\n", i);
  const Column column = read_text(text).table.columns.at(0);
  EXPECT_EQ(column.kind, Kind::category);
  EXPECT_EQ(column.levels, (Texts{"0", "1", "2", "3", "late"}));
  EXPECT_EQ(column.values[2], 2.0);
  EXPECT_EQ(column.values[3000], 4.0);
}

TEST(Csv, VeryWideRows) {
  std::string header, row;
  for (int j = 0; j < 30000; ++j) {
    header += fmt::format("{}v{}", j == 0 ? "" : ",", j);
    row += fmt::format("{}{}.5", j == 0 ? "" : ",", j);
  }
  const Dataset data = read_text(header + "\n" + row + "\n" + row + "\n");
  ASSERT_EQ(data.table.columns.size(), 30000u);
  EXPECT_EQ(data.table.columns[29999].values[1], 29999.5);
}

TEST(CsvErrors, NameTheirPlace) {
  EXPECT_EQ(read_error(""), "d.csv:1: the file is empty; it needs rows of data");
  EXPECT_EQ(read_error("\n\n  \n"), "d.csv:1: the file is empty; it needs rows of data");
  EXPECT_EQ(read_error("a,b\n"), "d.csv:1: there is a header but no row of data below it; add rows");
  EXPECT_EQ(read_error("a,b\n1,2\n3\n4,5\n"),
            "d.csv:3: column 'b': the row ends after 1 of 2 cells; add the missing cells or remove the line");
  EXPECT_EQ(read_error("a,b\n1,2\n\n4,5\n"),
            "d.csv:3: column 'b': the row ends after 1 of 2 cells; add the missing cells or remove the line");
  EXPECT_EQ(read_error("a,b\n1,2\n3"),
            "d.csv:3: column 'b': the row ends after 1 of 2 cells; add the missing cells (the file may be "
            "cut off)");
  EXPECT_EQ(read_error("a,b\n1,2\n\"3\n\",4,extra\n"),
            "d.csv:4: cell 3: value 'extra' is beyond the 2 columns; remove it, or quote the cell that "
            "contains the "
            "delimiter ','");
  EXPECT_EQ(read_error("a,b,a\n1,2,3\n"),
            "d.csv:1: column 'a': cells 1 and 3 have the same name; rename one of them");
  EXPECT_EQ(
      read_error("a,b\n1,x\n2,\"open\n3,y\n"),
      "d.csv:3: column 'b': value '\"open\\n3,y' opens a quote that is never closed; add the closing quote");
  EXPECT_EQ(read_error("a,b\n1,\"x\"y\n"),
            "d.csv:2: column 'b': value '\"x\"y' has text after its closing quote; double the quotes inside "
            "the cell");
  EXPECT_EQ(read_error("a,\"b\n"),
            "d.csv:1: cell 2: value '\"b' opens a quote that is never closed; add the closing quote");
}

TEST(CsvErrors, InfiniteNumbers) {
  const std::string remedy = " is infinite; replace it by a finite number or leave the cell empty";
  for (const std::string word : {"inf", "-Inf", "Infinity", "+INF", "1e999", "-1e400"})
    EXPECT_EQ(read_error("a,b\n1.5,2\n2.5,3\n" + word + ",4\n"),
              fmt::format("d.csv:4: column 'a': value '{}'{}", word, remedy));
  // Too small for a double is zero, not infinite; and in a column of words the word is a word.
  expect_values(read_text("a\n1.5\n1e-999\n-1e-400\n").table.columns[0], {1.5, 0.0, 0.0});
  EXPECT_EQ(read_text("a,b\nInf,1.5\nSup,2.5\n").table.columns[0].levels, (Texts{"Inf", "Sup"}));
}

TEST(CsvErrors, BytesThatAreNoText) {
  using namespace std::string_literals;
  EXPECT_EQ(read_error("a,b\n1,x\n2,y\0z\n"s),
            "d.csv:3: column 'b': value 'y\\x00z' has a NUL byte, so the file is binary or UTF-16; save it "
            "as UTF-8 text");
  EXPECT_NE(read_error("a\0,\0b\0\n\0"s).find("d.csv:1: cell 1: value 'a\\x00' has a NUL byte"),
            std::string::npos);
  EXPECT_EQ(read_error("a,b\n1,x\n2,\xff\n"),
            "d.csv:3: column 'b': value '\\xff' is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(read_error("a,\xc3(\n1,x\n"),
            "d.csv:1: cell 2: the column name '\\xc3(' is not UTF-8; save the file as UTF-8");
  EXPECT_NE(read_error("PK\x03\x04 and so on\n1\n").find("zip archive"), std::string::npos);
}

TEST(CsvErrors, Files) {
  EXPECT_EQ(message_of(ErrorCode::cannot_read, [] { read_dataset("/nonexistent/d.csv", {}); }),
            "/nonexistent/d.csv: cannot be read: No such file or directory");
  const std::string folder = std::filesystem::temp_directory_path().string();
  EXPECT_EQ(message_of(ErrorCode::cannot_read, [&] { read_dataset(folder, {}); }),
            folder + ": cannot be read: Is a directory");
  const TemporaryFile empty(".csv", "");
  EXPECT_EQ(message_of(ErrorCode::bad_data, [&] { read_dataset(empty.path(), {}); }),
            empty.path() + ":1: the file is empty; it needs rows of data");
}

}  // namespace
}  // namespace coppice
