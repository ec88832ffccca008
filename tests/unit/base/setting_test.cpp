// Settings: TOML values in, equal values back, and what is refused with which words.
#include "coppice/base/setting.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

using Shape = Setting::Shape;

void expect_refused(const std::string& text, const std::string& message) {
  try {
    parse_setting(text);
    FAIL() << "'" << text << "' was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage) << text;
    EXPECT_EQ(error.what(), message);
  }
}

TEST(Setting, Numbers) {
  EXPECT_EQ(parse_setting("3"), Setting::number(3.0));
  EXPECT_EQ(parse_setting("-0.25"), Setting::number(-0.25));
  EXPECT_EQ(parse_setting("1e-300"), Setting::number(1e-300));
  EXPECT_EQ(parse_setting(" 7 "), Setting::number(7.0));
  EXPECT_EQ(parse_setting("true"), Setting::number(1.0));
  EXPECT_EQ(parse_setting("false"), Setting::number(0.0));
  EXPECT_EQ(parse_setting("inf"), Setting::number(HUGE_VAL));
  EXPECT_TRUE(std::isnan(parse_setting("nan").numbers[0]));
}

TEST(Setting, VectorsMatricesAndTexts) {
  EXPECT_EQ(parse_setting("[1, 2.5, -3]"), Setting::vector({1.0, 2.5, -3.0}));
  EXPECT_EQ(parse_setting("[]"), Setting::vector({}));
  const Setting matrix = parse_setting("[[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQ(matrix.shape, Shape::matrix);
  EXPECT_EQ(matrix.rows, 2u);
  EXPECT_EQ(matrix.numbers, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  const Setting text = parse_setting("\"nips2015\"");
  EXPECT_EQ(text.shape, Shape::text);
  EXPECT_EQ(text.text, "nips2015");
  EXPECT_EQ(parse_setting("'C:\\data'").text, "C:\\data");
}

TEST(Setting, RoundTripIsExact) {
  const std::vector<Setting> settings{
      Setting::number(0.1),
      Setting::number(-0.0),
      Setting::number(1e300),
      Setting::number(-1e-300),
      Setting::number(123456789012345680.0),
      Setting::number(9007199254740994.0),
      Setting::number(1e15),
      Setting::number(4.9e-324),
      Setting::number(HUGE_VAL),
      Setting::vector({}),
      Setting::vector({1.0, 1.0 / 3.0, 1e22}),
      {Shape::matrix, {1.0, 2.0, 3.0, 4.0, 5.0, 6.5}, 3, {}},
      {Shape::matrix, {}, 2, {}},
      {Shape::text, {}, 0, ""},
      {Shape::text, {}, 0, "a \"quoted\" \\ text,\nwith\ta tab, \x01, \x7f and \xc3\xa9"}};
  for (const Setting& setting : settings)
    EXPECT_EQ(parse_setting(to_toml(setting)), setting) << to_toml(setting);
}

TEST(Setting, TomlTextIsShort) {
  EXPECT_EQ(to_toml(Setting::number(0.1)), "0.1");
  EXPECT_EQ(to_toml(Setting::number(3.0)), "3");
  EXPECT_EQ(to_toml(Setting::vector({1.0, 0.5})), "[1, 0.5]");
  EXPECT_EQ(to_toml(parse_setting("[[1,0],[0,1]]")), "[[1, 0], [0, 1]]");
  EXPECT_EQ(to_toml(parse_setting("'x\"y'")), "\"x\\\"y\"");
}

TEST(Setting, RefusesWhatIsNotToml) {
  for (const std::string text : {"", "abc", "[1, 2", "1 2", "1\nother = 2", "\"open", "[1,,2]"})
    expect_refused(text, "'" + text + "' is not a TOML value (a number, an array, a matrix or a \"text\")");
}

TEST(Setting, RefusesOtherTomlTypes) {
  for (const std::string text :
       {"1979-05-27", "{a = 1}", "[\"a\"]", "[true]", "[1, [2]]", "[[1], [\"a\"]]", "[[[1]]]"})
    expect_refused(text,
                   "'" + text + "' is not a number, an array of numbers or an array of arrays of numbers");
}

TEST(Setting, RefusesRaggedMatrices) {
  for (const std::string text : {"[[1, 2], [3]]", "[[1], 2]", "[[], [1]]"})
    expect_refused(text, "'" + text + "' is not a matrix: its rows have different lengths");
}

TEST(Setting, Assignments) {
  Settings settings;
  parse_assignment("dof=5", settings);
  parse_assignment("scale=[[1, 0], [0, 1]]", settings);
  parse_assignment("preset=\"a=b\"", settings);
  parse_assignment("dof=7", settings);
  EXPECT_EQ(settings.size(), 3u);
  EXPECT_EQ(settings.at("dof"), Setting::number(7.0));
  EXPECT_EQ(settings.at("scale").rows, 2u);
  EXPECT_EQ(settings.at("preset").text, "a=b");
}

TEST(Setting, RefusesBadAssignments) {
  for (const std::string text : {"dof", "=3", ""}) {
    Settings settings;
    try {
      parse_assignment(text, settings);
      FAIL() << "'" << text << "' was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(error.what(), "'" + text + "' is not of the form NAME=VALUE");
    }
    EXPECT_TRUE(settings.empty());
  }
  Settings settings;
  EXPECT_THROW(parse_assignment("dof=", settings), Error);
  EXPECT_THROW(parse_assignment("dof=five", settings), Error);
  EXPECT_TRUE(settings.empty());
}

TEST(Setting, NumbersMayBeginWithTheirPoint) {
  EXPECT_EQ(parse_setting(".3"), parse_setting("0.3"));
  EXPECT_EQ(parse_setting("-.5e2"), parse_setting("-50.0"));
  EXPECT_EQ(parse_setting("[1, .25,.5]"), parse_setting("[1, 0.25, 0.5]"));
  EXPECT_EQ(parse_setting("\" .3\"").text, " .3");
  EXPECT_EQ(parse_setting("\"a\\\" .3\"").text, "a\" .3");
  EXPECT_THROW(parse_setting("."), Error);
}

}  // namespace
}  // namespace coppice
