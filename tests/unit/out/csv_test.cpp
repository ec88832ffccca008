#include "coppice/out/csv.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "coppice/base/error.hpp"
#include "support/scratch_folder.hpp"

namespace coppice {
namespace {

namespace fs = std::filesystem;

class Csv : public testing::Test {
 protected:
  test::ScratchFolder folder_;
};

std::string written(double value) {
  std::string text;
  CsvWriter csv(&text);
  csv.cell(value).close();
  return text;
}

TEST_F(Csv, QuotesOnlyWhereNeeded) {
  std::string text;
  CsvWriter csv(&text);
  csv.cell("plain")
      .cell("a,b")
      .cell("say \"hi\"")
      .cell("two\nlines")
      .cell(" padded")
      .cell("")
      .cell("naïve")
      .end_row();
  csv.close();
  EXPECT_EQ(text, "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\" padded\",,naïve\n");
}

TEST_F(Csv, SeparatorCanBeChosen) {
  std::string text;
  CsvWriter csv(&text, '\t');
  csv.cell("a,b").cell("c\td").end_row().close();
  EXPECT_EQ(text, "a,b\t\"c\td\"\n");
}

TEST_F(Csv, NumbersAreShortAndReadBack) {
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(1.0), "1");
  EXPECT_EQ(written(-0.0), "-0");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(written(-std::numeric_limits<double>::infinity()), "-inf");
  for (const double value : {1.0 / 3.0, 1e300, 5e-324, 123456789.123456789, 0.1 + 0.2, -2.5e-8}) {
    EXPECT_EQ(std::strtod(written(value).c_str(), nullptr), value);
  }
  std::string text;
  CsvWriter csv(&text);
  csv.cell(std::int64_t{-9007199254740993}).cell(std::size_t{18446744073709551615U}).cell(std::int32_t{-3});
  csv.end_row().close();
  EXPECT_EQ(text, "-9007199254740993,18446744073709551615,-3\n");
}

TEST_F(Csv, WritesSpansAndStreams) {
  std::ostringstream stream;
  CsvWriter csv(stream);
  const std::array<double, 3> values{1.5, 2.0, 3.25};
  csv.cell("x").cells(std::span<const double>(values)).end_row().close();
  EXPECT_EQ(stream.str(), "x,1.5,2,3.25\n");
}

TEST_F(Csv, FileAppearsWhole) {
  const fs::path file = folder_.file("out.csv");
  {
    CsvWriter csv(file);
    for (std::size_t i = 0; i < 50000; ++i) csv.cell(i).cell("row").end_row();
    EXPECT_FALSE(fs::exists(file));
    csv.close();
  }
  const std::string text = test::read_bytes(file);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 50000);
  EXPECT_EQ(text.substr(0, 12), "0,row\n1,row\n");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(Csv, AbandonedFileLeavesTheOldOne) {
  const fs::path file = folder_.file("out.csv");
  write_file(file, "old\n");
  {
    CsvWriter csv(file);
    for (std::size_t i = 0; i < 50000; ++i) csv.cell(i).end_row();
  }
  EXPECT_EQ(test::read_bytes(file), "old\n");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(Csv, ReplacementKeepsPermissionsAndLinks) {
  const fs::path file = folder_.file("real.csv");
  const fs::path link = folder_.file("link.csv");
  write_file(file, "old\n");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(file, link);
  write_file(link, "new\n");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(test::read_bytes(file), "new\n");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Csv, DevicesAreWrittenToAndNotReplaced) {
  write_file("/dev/null", "gone\n");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Csv, ErrorsNameTheFileAndTheReason) {
  const auto expect_error = [](const fs::path& target, const std::string& reason) {
    try {
      write_file(target, "x");
      FAIL() << target;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cannot_write);
      EXPECT_NE(std::string(error.what()).find(target.string()), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  expect_error(folder_.file("no/such/folder.csv"), "No such file or directory");
  expect_error(folder_.path(), "Is a directory");
  expect_error("/dev/full", "No space left on device");
}

TEST_F(Csv, AFailedStreamIsReported) {
  std::ostringstream stream;
  stream.setstate(std::ios::badbit);
  CsvWriter csv(stream);
  csv.cell("x").end_row();
  EXPECT_THROW(csv.close(), Error);
}

}  // namespace
}  // namespace coppice
