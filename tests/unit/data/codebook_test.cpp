// The codebook's TOML form: exact round trips, and errors that name their line.
#include "coppice/data/codebook.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "unit/data/support.hpp"

namespace coppice {
namespace {

Codebook rich_codebook() {
  Codebook codebook;
  ColumnSpec visits{"visits", Kind::count, {}, "binomial", {}};
  visits.settings["trials"] = Setting::number(50);
  visits.settings["a"] = Setting::number(0.1);
  visits.settings["tiny"] = Setting::number(5e-324);
  visits.settings["pi"] = Setting::number(std::numbers::pi);
  visits.settings["huge"] = Setting::number(1.7976931348623157e308);
  visits.settings["odd key"] = Setting::vector({1.0, -2.5, 1e-300});
  visits.settings["none"] = Setting::vector({});
  visits.settings["scale"] = Setting{Setting::Shape::matrix, {2, 0.5, 0.5, 3}, 2, {}};
  visits.settings["mode"] = Setting{Setting::Shape::text, {}, 0, "quote \" and \\ back"};
  codebook.columns.push_back(visits);
  codebook.columns.push_back(
      {"gr\xc3\xb6\xc3\x9f"
       "e \"x\"\n\t\\",
       Kind::category,
       {"a", "\"b\"", "c\nd", "#e", "\xe5\x90\x8d"},
       {},
       {}});
  codebook.columns.push_back({"flag", Kind::binary, {"no", "yes"}, {}, {}});
  codebook.columns.push_back({"x", Kind::real, {}, {}, {}});
  return codebook;
}

TEST(Codebook, RoundTripIsExact) {
  const Codebook codebook = rich_codebook();
  const std::string text = to_toml(codebook);
  const Codebook again = parse_codebook(text, "book.toml");
  EXPECT_EQ(again, codebook);
  EXPECT_EQ(to_toml(again), text);
  EXPECT_EQ(text.front(), '#');
  EXPECT_NE(text.find("\n[[column]]\nname = \"visits\"\nkind = \"count\"\nfamily = \"binomial\"\n"),
            std::string::npos);
}

TEST(Codebook, ReadsWhatTheManualShows) {
  const Codebook codebook = parse_codebook(
      "[[column]]\nname = \"visits\"\nkind = \"count\"            # real | count | binary | category\nfamily "
      "= \"binomial\"\n"
      "trials = 50\na = 0.5\nb = 0.5\n",
      "book.toml");
  ASSERT_EQ(codebook.columns.size(), 1u);
  const ColumnSpec& visits = codebook.columns[0];
  EXPECT_EQ(visits.kind, Kind::count);
  EXPECT_EQ(visits.family, "binomial");
  EXPECT_EQ(visits.settings.size(), 3u);
  EXPECT_EQ(visits.settings.at("trials"), Setting::number(50.0));
  EXPECT_EQ(codebook.find("visits"), &visits);
  EXPECT_EQ(codebook.find("other"), nullptr);
  EXPECT_EQ(parse_codebook("", "book.toml").columns.size(), 0u);
}

TEST(Codebook, SmallNumbersInArraysSurvive) {
  const Codebook codebook = parse_codebook(
      "[[column]]\nname = \"v\"\nkind = \"real\"\nm = [0, 1e-3, -5e-324]\ns = [[0.001, 0], [0, 1e300]]\n",
      "b");
  EXPECT_EQ(codebook.columns[0].settings.at("m"), Setting::vector({0.0, 1e-3, -5e-324}));
  EXPECT_EQ(codebook.columns[0].settings.at("s"),
            (Setting{Setting::Shape::matrix, {0.001, 0, 0, 1e300}, 2, {}}));
  EXPECT_EQ(parse_codebook(to_toml(codebook), "b"), codebook);
}

TEST(Codebook, LettersBeyondAsciiMayStandInTextsAndComments) {
  const Codebook codebook = parse_codebook(
      "\xef\xbb\xbf# \xc3\xa4 \"\n[[column]] # '\xc3\xa4\nname = '\xc3\xa4\\'\nkind = \"category\"\n"
      "levels = [\"a\\\"\xc3\xa4\", \"\"\"\"\xc3\xa4\"\"\"\", '''\xc3\xa4\\n''', \"\"\"b \\\n "
      "c\"\"\"]\n\"\xc3\xa4\" = 1\n",
      "b");
  EXPECT_EQ(codebook.columns.at(0).name, "\xc3\xa4\\");
  EXPECT_EQ(codebook.columns[0].levels,
            (std::vector<std::string>{"a\"\xc3\xa4", "\"\xc3\xa4\"", "\xc3\xa4\\n", "b c"}));
  EXPECT_EQ(codebook.columns[0].settings.count("\xc3\xa4"), 1u);
}

TEST(Codebook, WholeNumbersMayBeLevels) {
  const Codebook codebook =
      parse_codebook("[[column]]\nname = \"v\"\nkind = \"category\"\nlevels = [1, 2, \"x\"]", "b");
  EXPECT_EQ(codebook.columns[0].levels, (std::vector<std::string>{"1", "2", "x"}));
}

TEST(Codebook, ErrorsNameTheirLine) {
  const auto error = [](const std::string& text) {
    return message_of(ErrorCode::bad_data, [&] { parse_codebook(text, "book.toml"); });
  };
  EXPECT_EQ(error("[[column]]\nname = \"v\"\nkind = \"int\"\n"),
            "book.toml:3: column 'v': kind 'int' is not one of real, count, binary, category");
  EXPECT_EQ(error("[[column]]\nkind = \"real\"\n"),
            "book.toml:1: a [[column]] has no name; add name = \"...\"");
  EXPECT_EQ(
      error("\n[[column]]\nname = \"v\"\n"),
      "book.toml:2: column 'v': it has no kind; add kind = \"real\", \"count\", \"binary\" or \"category\"");
  EXPECT_EQ(error("[[column]]\nname = 3\nkind = \"real\"\n"),
            "book.toml:2: name is 3, not a text; put it in quotes");
  EXPECT_EQ(error("[[column]]\nname = \"\"\nkind = \"real\"\n"),
            "book.toml:2: the name is empty; write the name in the file's header");
  EXPECT_EQ(error("[[column]]\nname = \"v\"\nkind = \"real\"\nlevels = [\"a\"]\n"),
            "book.toml:4: column 'v': a real column has no levels; remove them or make it a category");
  EXPECT_EQ(error("[[column]]\nname = \"v\"\nkind = \"binary\"\nlevels = [\"a\"]\n"),
            "book.toml:4: column 'v': a binary column has 2 levels, not 1; list the texts of 0 and 1 or make "
            "it a category");
  EXPECT_EQ(error("[[column]]\nname = \"v\"\nkind = \"category\"\nlevels = [\"a\", 1.5]\n"),
            "book.toml:4: column 'v': level 1.5 is not a text; put it in quotes");
  EXPECT_EQ(error("[[column]]\nname = \"v\"\nkind = \"category\"\nlevels = [\"a\", \"a\"]\n"),
            "book.toml:4: column 'v': level 'a' is listed twice; remove one");
  EXPECT_EQ(error("[[column]]\nname = \"v\"\nkind = \"category\"\nlevels = [\"\"]\n"),
            "book.toml:4: column 'v': a level is the empty text, which means missing; remove it");
  EXPECT_EQ(error("[[column]]\nname = \"v\"\nkind = \"category\"\nlevels = \"a\"\n"),
            "book.toml:4: column 'v': levels is not an array; write levels = [\"a\", \"b\"]");
  EXPECT_EQ(
      error("[[column]]\nname = \"v\"\nkind = \"real\"\nshape = {a = 1}\n"),
      "book.toml:4: column 'v': shape = {...} is not a number, an array of numbers, a matrix or a text");
  EXPECT_EQ(error("[[column]]\nname = \"v\"\nkind = \"real\"\n[[column]]\nname = \"v\"\nkind = \"real\"\n"),
            "book.toml:4: column 'v' is described twice; remove one");
  EXPECT_EQ(error("\ncolumns = 3\n"),
            "book.toml:2: 'columns' is unknown here; a codebook is made of [[column]] tables");
  EXPECT_EQ(error("column = [1]\n"),
            "book.toml:1: a column is not a table; write [[column]] and its keys below");
  EXPECT_EQ(error("[[column]]\n\xc3\xa4 = \"\xc3\xa4\"\n"),
            "book.toml:2: value '\xc3\xa4 = \"\xc3\xa4\"' begins with a letter that TOML allows only in "
            "quotes; put it in quotes");
  EXPECT_EQ(error("x = \"\"\"\\\n  \xc2\xa7\"\"\"\n").substr(0, 12), "book.toml:2:");
  EXPECT_EQ(error("\xff"), "book.toml:1: the codebook is not UTF-8; save it as UTF-8");
  EXPECT_EQ(error("[[column]]\nname = \"v\n").substr(0, 12), "book.toml:2:");
}

TEST(Table, KindNames) {
  for (const Kind kind : {Kind::real, Kind::count, Kind::binary, Kind::category})
    EXPECT_EQ(kind_from_name(kind_name(kind)), kind);
  EXPECT_EQ(kind_name(Kind::category), "category");
  EXPECT_NE(message_of(ErrorCode::configuration, [] { kind_from_name("integer"); }).find("'integer'"),
            std::string::npos);
}

TEST(Table, TextGivesTheShortestDigits) {
  const Column numbers{"x", Kind::real, {0.1, 1.0, -2.5e-10, 1e22, kMissing, 123456789.0}, {}};
  EXPECT_EQ(numbers.text(0), "0.1");
  EXPECT_EQ(numbers.text(1), "1");
  EXPECT_EQ(numbers.text(2), "-2.5e-10");
  EXPECT_EQ(numbers.text(3), "1e+22");
  EXPECT_EQ(numbers.text(4), "");
  EXPECT_EQ(numbers.text(5), "123456789");
  EXPECT_TRUE(numbers.has_missing());
  const Column category{"c", Kind::category, {1, 0}, {"a", "b"}};
  EXPECT_EQ(category.text(0), "b");
  EXPECT_FALSE(category.has_missing());
  const Table table{{numbers, category}, {}};
  EXPECT_EQ(table.find("c")->name, "c");
  EXPECT_EQ(table.find("d"), nullptr);
}

}  // namespace
}  // namespace coppice
