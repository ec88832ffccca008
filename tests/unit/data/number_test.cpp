// The number parser against the standard library, at the edges where a quick way could go wrong.
#include "coppice/data/number.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include "coppice/data/text.hpp"

namespace coppice::text {
namespace {

double short_number(std::string cell, bool& read) {
  const std::size_t length = cell.size();
  cell += "," + std::string(64, '7');
  double value = -999.0;
  read = read_short_number(cell.data(), cell.data() + length, value);
  return value;
}

TEST(Number, ShortFormAgreesWithTheStandardLibrary) {
  std::mt19937_64 random(3);
  int quick = 0;
  for (int i = 0; i < 300000; ++i) {
    const std::size_t whole = random() % 9;
    const std::size_t decimals = random() % 20;
    std::string cell = random() % 2 == 0 ? "-" : "";
    for (std::size_t k = 0; k < whole; ++k) cell += static_cast<char>('0' + random() % 10);
    if (decimals > 0 || random() % 2 == 0) cell += ".";
    for (std::size_t k = 0; k < decimals; ++k) cell += static_cast<char>('0' + random() % 10);
    bool read = false;
    const double value = short_number(cell, read);
    if (!read) continue;
    ++quick;
    const double expected = std::strtod(cell.c_str(), nullptr);
    ASSERT_EQ(value, expected) << cell;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << cell;
  }
  EXPECT_GT(quick, 200000);
}

// Decimals next to the middle of two doubles, where the nearest one depends on the last digit of 17 to 19.
TEST(Number, NextToTheMiddleOfTwoDoubles) {
  std::mt19937_64 random(5);
  int quick = 0;
  for (int i = 0; i < 200000; ++i) {
    const int scale = static_cast<int>(random() % 24) - 4;
    const double low = std::ldexp(1.0 + std::ldexp(static_cast<double>(random() >> 12), -52), scale);
    // 64 bits of mantissa hold the middle exactly.
    const long double middle = static_cast<long double>(low) + std::ldexp(1.0L, scale - 53);
    const std::size_t whole = std::to_string(static_cast<unsigned long>(middle)).size();
    const int decimals = static_cast<int>(17 + random() % 3 - whole);
    std::array<char, 64> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.*Lf", decimals, middle);
    std::string cell(text.data(), static_cast<std::size_t>(length));
    // One step to either side, where that carries nothing.
    const int step = static_cast<int>(random() % 3) - 1;
    if (cell.back() + step >= '0' && cell.back() + step <= '9')
      cell.back() = static_cast<char>(cell.back() + step);
    const double expected = std::strtod(cell.c_str(), nullptr);
    double slow = 0.0;
    ASSERT_EQ(parse_number(cell, slow), Parsed::number) << cell;
    ASSERT_EQ(slow, expected) << cell;
    bool read = false;
    const double value = short_number(cell, read);
    if (!read) continue;
    ++quick;
    ASSERT_EQ(value, expected) << cell;
  }
  EXPECT_GT(quick, 1000);  // most are too near for the quick way, which must know that
}

TEST(Number, ExactQuotientAgreesWithTheStandardLibrary) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 300000; ++i) {
    const std::uint64_t mantissa = (random() >> (random() % 60)) | 1;
    const std::size_t decimals = random() % 20;
    const std::string text = std::to_string(mantissa) + "e-" + std::to_string(decimals);
    const double expected = std::strtod(text.c_str(), nullptr);
    ASSERT_EQ(nearest_quotient(mantissa, decimals), expected) << text;
    double quick = 0.0;
    if (decimals > 0 && quick_quotient(mantissa, decimals, quick)) {
      ASSERT_EQ(quick, expected) << text;
    }
  }
}

TEST(Number, TiesGoToEven) {
  // 2^53 + 1 and its neighbors lie half-way between doubles.
  for (const char* cell : {"9007199254740993", "9007199254740993.0", "9007199254740995", "900719925474099.3",
                           "0.5", "4503599627370496.5", "4503599627370497.5", "18014398509481986"}) {
    double value = 0.0;
    ASSERT_EQ(parse_number(cell, value), Parsed::number) << cell;
    EXPECT_EQ(value, std::strtod(cell, nullptr)) << cell;
  }
}

TEST(Number, RefusesWhatIsNoNumber) {
  for (const char* cell : {"",   "-",  ".",    "-.",  "+",   "+-1", "++1", "--1",   "1.2.3",    "1e",
                           "e5", "1x", "0x10", "1 2", "1,5", "nan", "NaN", "1_000", "infinite", "in"}) {
    double value = 0.0;
    EXPECT_EQ(parse_number(cell, value), Parsed::not_number) << cell;
    bool read = false;
    short_number(cell, read);
    EXPECT_FALSE(read) << cell;
  }
}

TEST(Number, LongAndExtremeNumbers) {
  for (const char* cell : {"123456789012345678901234567890", "0.00000000000000000000000000000000012345",
                           "1.7976931348623157e308", "2.2250738585072014e-308", "5e-324", "+1.5", "1.", ".5",
                           "-0", "-0.0", "00012.50", "1E5", "1e+5"}) {
    double value = 1.0;
    ASSERT_EQ(parse_number(cell, value), Parsed::number) << cell;
    EXPECT_EQ(value, std::strtod(cell, nullptr)) << cell;
    EXPECT_EQ(std::signbit(value), cell[0] == '-') << cell;
  }
  double value = 1.0;
  EXPECT_EQ(parse_number("1e309", value), Parsed::infinite);
  EXPECT_EQ(parse_number("-1" + std::string(400, '0') + "e-5", value), Parsed::infinite);
  EXPECT_EQ(parse_number("0." + std::string(400, '0') + "1e5", value), Parsed::number);
  EXPECT_EQ(value, 0.0);
  EXPECT_EQ(parse_number("0e99999999999999999999", value), Parsed::number);
  EXPECT_EQ(value, 0.0);
}

TEST(Text, Utf8) {
  for (const char* good : {"", "abc", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\xb3", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_valid_utf8(good)) << good;
  for (const char* bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf5\x80\x80\x80", "a\xff"})
    EXPECT_FALSE(is_valid_utf8(bad)) << display(bad);
}

TEST(Text, SuggestsCloseNames) {
  const std::vector<std::string> names = {"height", "weight", "age", "color"};
  EXPECT_EQ(suggest("wieght", names), "did you mean 'weight'?");
  EXPECT_EQ(suggest("eight", names), "did you mean 'height', 'weight'?");
  EXPECT_EQ(suggest("AGE", names), "did you mean 'age'?");
  EXPECT_EQ(suggest("zzzzzz", names), "the columns are 'height', 'weight', 'age', 'color'");
}

TEST(Text, DisplayIsOneShortLine) {
  EXPECT_EQ(display("a\nb\tc\xff"), "a\\nb\\x09c\\xff");
  EXPECT_EQ(display(std::string(100, 'x'), 10), "xxxxxxxxxx...");
}

}  // namespace
}  // namespace coppice::text
