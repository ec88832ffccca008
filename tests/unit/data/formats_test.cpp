// NPY and svmlight files, good and bad.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "coppice/data/read.hpp"
#include "unit/data/support.hpp"

namespace coppice {
namespace {

using Texts = std::vector<std::string>;

std::string npy_header(const std::string& dictionary, int version = 1) {
  std::string text = dictionary + "\n";
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (std::size_t i = 0; i < (version == 1 ? 2u : 4u); ++i)
    out += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return out + text;
}

template <typename T>
std::string npy(const std::string& descr, const std::string& shape, const std::vector<T>& values,
                bool fortran = false, int version = 1) {
  std::string out = npy_header(fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}   ", descr,
                                           fortran ? "True" : "False", shape),
                               version);
  for (const T value : values) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out.append(bytes, sizeof(T));
  }
  return out;
}

template <typename T>
void expect_type(const std::string& descr, const std::vector<double>& expected,
                 const std::vector<T>& values) {
  const Dataset data = read_text(npy<T>(descr, "(4,)", values), {}, "d.npy");
  ASSERT_EQ(data.table.columns.size(), 1u) << descr;
  EXPECT_EQ(data.table.columns[0].name, "c1");
  expect_values(data.table.columns[0], expected);
}

TEST(Npy, EveryElementType) {
  expect_type<double>("<f8", {1.5, -2, kMissing, 4}, {1.5, -2, std::nan(""), 4});
  expect_type<float>("<f4", {1.5, -2, kMissing, 0.25}, {1.5f, -2.0f, std::nanf(""), 0.25f});
  expect_type<std::int8_t>("|i1", {-128, 0, 5, 127}, {-128, 0, 5, 127});
  expect_type<std::int8_t>("<i1", {-1, 0, 5, 7}, {-1, 0, 5, 7});
  expect_type<std::int16_t>("<i2", {-300, 0, 5, 300}, {-300, 0, 5, 300});
  expect_type<std::int32_t>("<i4", {-70000, 0, 5, 70000}, {-70000, 0, 5, 70000});
  expect_type<std::int64_t>("<i8", {-5e9, 0, 5, 5e9}, {-5000000000, 0, 5, 5000000000});
  expect_type<std::uint8_t>("|u1", {255, 0, 5, 127}, {255, 0, 5, 127});
  expect_type<std::uint16_t>("<u2", {65535, 0, 5, 127}, {65535, 0, 5, 127});
  expect_type<std::uint32_t>("<u4", {4294967295.0, 0, 5, 127}, {4294967295u, 0, 5, 127});
  expect_type<std::uint64_t>("<u8", {1e19, 0, 5, 127}, {10000000000000000000u, 0, 5, 127});
  expect_type<std::uint8_t>("|b1", {1, 0, 0, 1}, {1, 0, 0, 1});
}

TEST(Npy, BothOrdersAndAllVersions) {
  for (int version = 1; version <= 3; ++version) {
    const Dataset rows =
        read_text(npy<double>("<f8", "(2, 3)", {1.5, 2, 3, 4, 5, 6}, false, version), {}, "d.npy");
    ASSERT_EQ(rows.table.columns.size(), 3u);
    expect_values(rows.table.columns[0], {1.5, 4});
    expect_values(rows.table.columns[2], {3, 6});
    EXPECT_EQ(rows.table.row_ids, (Texts{"1", "2"}));
    const Dataset columns =
        read_text(npy<double>("<f8", "(2, 3)", {1.5, 2, 3, 4, 5, 6}, true, version), {}, "d.npy");
    expect_values(columns.table.columns[0], {1.5, 2});
    expect_values(columns.table.columns[2], {5, 6});
  }
}

TEST(Npy, KindsRolesAndMagic) {
  ReadOptions options;
  options.truth = {"c3"};
  // Known by its first bytes, whatever its name.
  const Dataset data =
      read_text(npy<std::int32_t>("<i4", "(3, 3)", {0, 4, 7, 1, 0, 8, 1, 4, 7}), options, "stdin");
  EXPECT_EQ(data.table.columns.at(0).kind, Kind::binary);
  EXPECT_EQ(data.table.columns.at(1).kind, Kind::count);
  EXPECT_EQ(data.truth.columns.at(0).levels, (Texts{"7", "8"}));
  const Table rows = read_like_bytes(npy<double>("<f8", "(1, 2)", {1, 9}), "new.npy", data.table, "");
  expect_values(rows.columns.at(1), {9});
}

TEST(Npy, Errors) {
  const auto error = [](const std::string& bytes) { return read_error(bytes, {}, "d.npy"); };
  const std::string good = npy<double>("<f8", "(2, 2)", {1, 2, 3, 4});
  EXPECT_EQ(error(good.substr(0, good.size() - 1)),
            "d.npy: the header promises 2 x 2 cells of 8 bytes but 31 bytes follow; write it again with "
            "numpy.save");
  EXPECT_EQ(error(good + "x"),
            "d.npy: the header promises 2 x 2 cells of 8 bytes but 33 bytes follow; write it again with "
            "numpy.save");
  EXPECT_EQ(error("hello"), "d.npy: it is not an .npy file; write it again with numpy.save");
  EXPECT_EQ(error(good.substr(0, 30)), "d.npy: the header is cut off; write it again with numpy.save");
  EXPECT_NE(error(npy_header("{'descr': '<f8'}")).find("is not that of an .npy file"), std::string::npos);
  EXPECT_NE(error(npy_header("garbage")).find("is not that of an .npy file"), std::string::npos);
  EXPECT_NE(error(npy<double>("<f8", "(2, 99999999999999999999)", {})).find("is not that of an .npy file"),
            std::string::npos);
  EXPECT_NE(error(npy<double>("<f8", "(9223372036854775808, 2)", {})).find("but 0 bytes follow"),
            std::string::npos);
  EXPECT_NE(error(npy<double>(">f8", "(1,)", {1})).find("type '>f8'"), std::string::npos);
  EXPECT_NE(error(npy<double>("<c16", "(1,)", {1})).find("astype('<f8')"), std::string::npos);
  EXPECT_NE(error(npy_header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}"))
                .find("named fields"),
            std::string::npos);
  EXPECT_NE(error(npy<double>("<f8", "(1, 1, 1)", {1})).find("3 dimensions"), std::string::npos);
  EXPECT_NE(error(npy<double>("<f8", "()", {1})).find("0 dimensions"), std::string::npos);
  EXPECT_NE(error(npy<double>("<f8", "(0, 3)", {})).find("0 rows and 3 columns"), std::string::npos);
  EXPECT_NE(error(npy<double>("<f8", "(1,)", {1}, false, 9)).find("version 9"), std::string::npos);
  EXPECT_EQ(error(npy<double>("<f8", "(2, 2)", {1, 2, 3, std::numeric_limits<double>::infinity()})),
            "d.npy: row 2: column 'c2': value 'inf' is infinite; replace it by a finite number or by NaN for "
            "missing");
}

TEST(Svmlight, ReadsLabelsAndFeatures) {
  const Dataset data =
      read_text("# a comment\n1,3 1:0.5 3:2 # tail\n\n-1 2:1e1\n 3:4\n2 qid:7 1:1\r\n", {}, "d.svm");
  ASSERT_EQ(data.table.columns.size(), 3u);
  EXPECT_EQ(data.table.columns[0].name, "f1");
  expect_values(data.table.columns[0], {0.5, 0, 0, 1});
  expect_values(data.table.columns[1], {0, 10, 0, 0});
  expect_values(data.table.columns[2], {2, 0, 4, 0});
  for (const Column& column : data.table.columns) EXPECT_EQ(column.kind, Kind::real);
  ASSERT_EQ(data.truth.columns.size(), 1u);
  EXPECT_EQ(data.truth.columns[0].name, "label");
  EXPECT_EQ(data.truth.columns[0].levels, (Texts{"-1", "1,3", "2"}));
  expect_values(data.truth.columns[0], {1, 0, kMissing, 2});
}

TEST(Svmlight, OneKindForAll) {
  EXPECT_EQ(read_text("a 1:1 2:3\nb 1:1\n", {}, "d.libsvm").table.columns.at(0).kind, Kind::count);
  EXPECT_EQ(read_text("a 1:1 2:1\nb 1:1\n", {}, "d.svmlight").table.columns.at(0).kind, Kind::binary);
  EXPECT_EQ(read_text("a 1:1 2:-3\nb 1:1\n", {}, "d.svm").table.columns.at(0).kind, Kind::real);
}

TEST(Svmlight, IndicesAreNames) {
  const Dataset zero_based = read_text("1 0:2 2:5\n2 1:3\n", {}, "d.svm");
  ASSERT_EQ(zero_based.table.columns.size(), 3u);
  EXPECT_EQ(zero_based.table.columns[0].name, "f0");
  expect_values(zero_based.table.columns[0], {2, 0});
  // New rows that mention neither the first nor the last feature still fit.
  const Table rows = read_like_bytes("9 1:7\n", "new.svm", zero_based.table, "");
  ASSERT_EQ(rows.columns.size(), 3u);
  expect_values(rows.columns[0], {0});
  expect_values(rows.columns[1], {7});
  expect_values(rows.columns[2], {0});
}

TEST(Svmlight, Errors) {
  const auto error = [](const std::string& text) { return read_error(text, {}, "d.svm"); };
  EXPECT_EQ(error(""), "d.svm:1: the file is empty; it needs rows of data");
  EXPECT_EQ(error("1\n2\n"), "d.svm:1: no row has a feature; write features such as 3:0.5 after the label");
  EXPECT_EQ(error("1 1:2\n1 x:2\n"),
            "d.svm:2: value 'x:2' is not index:value; write features such as 3:0.5 after the label");
  EXPECT_EQ(error("1 1:2\n1 5\n"),
            "d.svm:2: value '5' is not index:value; write features such as 3:0.5 after the label");
  EXPECT_EQ(error("1 1:2\n1 3:abc\n"), "d.svm:2: column 'f3': value 'abc' is not a number; correct it");
  EXPECT_EQ(error("1 1:2\n1 3:inf\n"),
            "d.svm:2: column 'f3': value 'inf' is infinite; replace it by a finite number");
  EXPECT_EQ(
      error("1 3:2 2:1\n"),
      "d.svm:1: value '2:1' does not come in increasing order after '3:2'; sort the features of the row");
  EXPECT_EQ(error("1 3:2 3:1\n").substr(0, 30), "d.svm:1: value '3:1' does not ");
  EXPECT_EQ(error("1 4000000000:1\n"),
            "d.svm:1: value '4000000000:1' has an index above 1000000, the largest that is read");
  EXPECT_EQ(error("\xff 1:1\n"),
            "d.svm:1: column 'label': value '\\xff' is not UTF-8; save the file as UTF-8");
  std::string sparse = "1 1000000:1\n";
  for (int i = 0; i < 100; ++i) sparse += "1 1:1\n";
  EXPECT_NE(error(sparse).find("too sparse"), std::string::npos);
  EXPECT_NE(error(std::string("1 1:1\n\0", 7)).find("d.svm:2: the file has a NUL byte"), std::string::npos);
}

TEST(Svmlight, CodebookErrorsFindTheirLine) {
  Codebook codebook;
  codebook.columns.push_back({"f2", Kind::count, {}, {}, {}});
  ReadOptions options;
  options.codebook = &codebook;
  EXPECT_EQ(read_error("# c\n1 1:1 2:3\n2 2:2.50\n", options, "d.svm"),
            "d.svm:3: column 'f2': value '2.50' is not a count (a whole number from 0); correct it or make "
            "the column real in "
            "the codebook");
}

}  // namespace
}  // namespace coppice
