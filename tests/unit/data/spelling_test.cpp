// Numbers and dates as people write them: understood, or refused with the remedy, and never taken for words.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "coppice/data/kinds/date_text.hpp"
#include "coppice/data/kinds/number_text.hpp"
#include "coppice/data/read.hpp"
#include "unit/data/support.hpp"

namespace coppice {
namespace {

std::string lines(const std::string& header, const std::vector<std::string>& rows, std::size_t times = 1) {
  std::string text = header + "\n";
  for (std::size_t i = 0; i < times; ++i)
    for (const std::string& row : rows) text += row + "\n";
  return text;
}

TEST(WrittenNumbers, AreUnderstood) {
  using text::DecimalMark;
  struct Case {
    const char* text;
    DecimalMark mark;
    double value;  // NaN: is none
    const char* unit;
  };
  const Case cases[] = {
      {"12%", DecimalMark::point, 12, "%"},
      {"12.5 %", DecimalMark::point, 12.5, "%"},
      {"-3%", DecimalMark::point, -3, "%"},
      {"$1,234.50", DecimalMark::point, 1234.5, "$"},
      {"-$5", DecimalMark::point, -5, "$"},
      {"$-5", DecimalMark::point, -5, "$"},
      {"1.234,50 €", DecimalMark::comma, 1234.5, "€"},
      {"USD 12", DecimalMark::point, 12, "USD"},
      {"1_000", DecimalMark::point, 1000, ""},
      {"1_00_0", DecimalMark::point, 1000, ""},
      {"1,234", DecimalMark::point, 1234, ""},
      {"1,234", DecimalMark::comma, 1.234, ""},
      {"0,125", DecimalMark::point, kMissing, ""},
      {"0,125", DecimalMark::comma, 0.125, ""},
      {"1,234,567", DecimalMark::point, 1234567, ""},
      {"1 234 567,5", DecimalMark::comma, 1234567.5, ""},
      {"1'234.5", DecimalMark::point, 1234.5, ""},
      {"\xe2\x88\x92"
       "7,5",
       DecimalMark::comma, -7.5, ""},
      {"1,5e3", DecimalMark::comma, 1500, ""},
      {",5", DecimalMark::comma, 0.5, ""},
      {"+4", DecimalMark::point, 4, ""},
      {"12,34", DecimalMark::point, kMissing, ""},
      {"1,2345", DecimalMark::point, kMissing, ""},
      {"1234,567", DecimalMark::point, kMissing, ""},
      {"1,234,56", DecimalMark::point, kMissing, ""},
      {"1,,234", DecimalMark::point, kMissing, ""},
      {"1_", DecimalMark::point, kMissing, ""},
      {"_1", DecimalMark::point, kMissing, ""},
      {"$", DecimalMark::point, kMissing, ""},
      {"%", DecimalMark::point, kMissing, ""},
      {"$5%", DecimalMark::point, kMissing, ""},
      {"1 2", DecimalMark::point, kMissing, ""},
      {"abc", DecimalMark::point, kMissing, ""},
      {"", DecimalMark::point, kMissing, ""},
      {"--5", DecimalMark::point, kMissing, ""},
      {"1.2.3", DecimalMark::point, kMissing, ""},
      {"1e999", DecimalMark::point, kMissing, ""},
  };
  for (const Case& test : cases) {
    text::WrittenNumber number;
    const bool is_number = text::parse_written_number(test.text, test.mark, number);
    EXPECT_EQ(is_number, !is_missing(test.value)) << test.text;
    if (!is_number || is_missing(test.value)) continue;
    EXPECT_DOUBLE_EQ(number.value, test.value) << test.text;
    EXPECT_EQ(number.mark, test.unit) << test.text;
  }
}

TEST(Dates, AreUnderstood) {
  using text::DateOrder;
  struct Case {
    const char* text;
    DateOrder order;
    double seconds;  // NaN: is none
  };
  constexpr double kDay = 86400.0;
  const Case cases[] = {
      {"1970-01-02", DateOrder::year_first, kDay},
      {"1969-12-31", DateOrder::year_first, -kDay},
      {"2000/02/29", DateOrder::year_first, 11016 * kDay},
      {"1900-02-29", DateOrder::year_first, kMissing},
      {"1970-02", DateOrder::year_first, 31 * kDay},
      {"1970-01-01T01:00:00Z", DateOrder::year_first, 3600},
      {"1970-01-01 01:00", DateOrder::year_first, 3600},
      {"1970-01-01T01:00:00.5+01:00", DateOrder::year_first, 0.5},
      {"1970-01-01T00:00-0130", DateOrder::year_first, 5400},
      {"2 Jan 1970", DateOrder::year_first, kDay},
      {"02-JAN-1970", DateOrder::year_first, kDay},
      {"January 2, 1970", DateOrder::year_first, kDay},
      {"02.01.1970", DateOrder::day_first, kDay},
      {"2/1/1970", DateOrder::day_first, kDay},
      {"01/02/1970", DateOrder::month_first, kDay},
      {"1/2/1970 1:00 PM", DateOrder::month_first, kDay + 13 * 3600},
      {"19700102", DateOrder::digits, kDay},
      {"13:30", DateOrder::clock, 13.5 * 3600},
      {"1:30:05 pm", DateOrder::clock, 13.5 * 3600 + 5},
      {"12:00 am", DateOrder::clock, 0},
      {"24:00", DateOrder::clock, kMissing},
      {"1:3", DateOrder::clock, kMissing},
      {"13/13/1970", DateOrder::month_first, kMissing},
      {"31/04/1970", DateOrder::day_first, kMissing},
      {"1/2-1970", DateOrder::month_first, kMissing},
      {"2 Foo 1970", DateOrder::year_first, kMissing},
      {"1970-01-01T", DateOrder::year_first, kMissing},
      {"1970-01-01 x", DateOrder::year_first, kMissing},
      {"1970", DateOrder::year_first, kMissing},
  };
  for (const Case& test : cases) {
    const auto moment = text::parse_moment(test.text, test.order);
    EXPECT_EQ(moment.has_value(), !is_missing(test.seconds)) << test.text;
    if (!moment || is_missing(test.seconds)) continue;
    EXPECT_DOUBLE_EQ(moment->seconds, test.seconds) << test.text;
  }
  EXPECT_TRUE(text::has_short_year("01/31/24"));
  EXPECT_FALSE(text::has_short_year("01/31/2024"));
}

TEST(Dates, UnitsAreReadBack) {
  for (const char* unit :
       {"days since 2024-01-31", "seconds since 0476-09-04T12:30:05", "seconds since midnight",
        "days since 2024-01-31, day first", "days since 1999-12-31, yyyymmdd"}) {
    const auto parsed = text::parse_date_unit(unit);
    ASSERT_TRUE(parsed) << unit;
    EXPECT_EQ(text::to_text(*parsed), unit);
  }
  for (const char* other :
       {"", "%", "kg", "days since", "days since yesterday", "days since 2024-01-31, soon"})
    EXPECT_FALSE(text::parse_date_unit(other)) << other;
}

TEST(Dates, NumbersAreWrittenAsTheMomentsTheyCountTo) {
  const auto written = [](const char* unit, double number) {
    return text::moment_text(text::parse_date_unit(unit).value(), number);
  };
  EXPECT_EQ(written("days since 2024-02-28", 0.0), "2024-02-28");
  EXPECT_EQ(written("days since 2024-02-28", 1.4), "2024-02-29");
  EXPECT_EQ(written("days since 2024-02-28, day first", 1.6), "2024-03-01");
  EXPECT_EQ(written("days since 1970-01-01", -1.0), "1969-12-31");
  EXPECT_EQ(written("seconds since 2023-12-31T23:59:59", 1.2), "2024-01-01T00:00:00.200");
  EXPECT_EQ(written("seconds since 1970-01-01T00:00:00", -0.6), "1969-12-31T23:59:59.400");
  EXPECT_EQ(written("seconds since midnight", 3723.0), "01:02:03");
  EXPECT_EQ(written("seconds since midnight", -10.0), "23:59:50");
  EXPECT_EQ(written("seconds since midnight", 86399.9999), "00:00:00");
  EXPECT_EQ(written("days since 0001-01-01", 0.0), "0001-01-01");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double far : {4e6, 1e300, infinity}) {
    EXPECT_EQ(written("days since 0001-01-01", far), "9999-12-31");
    EXPECT_EQ(written("days since 2024-01-01", -far), "0001-01-01");
    EXPECT_EQ(written("seconds since midnight", far).size(), 8u) << far;
  }
  EXPECT_EQ(written("seconds since 9999-12-31T00:00:00", 86399.0), "9999-12-31T23:59:59");
  // What is read is written again.
  for (const char* moment : {"2024-01-31T12:30:05", "1903-07-01T00:00:00"}) {
    const text::DateUnit unit = text::parse_date_unit("seconds since 1999-01-01T08:00:00").value();
    const auto read = text::parse_moment(moment, text::DateOrder::year_first);
    EXPECT_EQ(text::moment_text(unit, unit.number_of(read.value())), moment);
  }
}

TEST(Dates, BecomeNumbersInAUnitThatNewRowsShare) {
  const Dataset data = read_text("when,x\n2024-03-01,1.5\n2024-01-31,2.5\n2024-02-15,0.5\n2024-02-01,9.5\n");
  EXPECT_EQ(data.codebook.columns.at(0).kind, Kind::real);
  EXPECT_EQ(data.codebook.columns[0].unit, "days since 2024-01-31");
  EXPECT_EQ(data.report[0].ambiguous, "");  // the year comes first
  expect_values(data.table.columns[0], {30, 0, 15, 1});
  const Table rows = read_like_bytes("when,x\n2024-01-01,1\n12,1\n", "n.csv", data.codebook, "");
  expect_values(rows.columns[0], {-30, 12});  // a number is in the unit already
  EXPECT_NE(message_of(ErrorCode::bad_data,
                       [&] { read_like_bytes("when,x\nsoon,1\n", "n.csv", data.codebook, ""); })
                .find("n.csv:2: column 'when': value 'soon' is not a date or time (days since 2024-01-31)"),
            std::string::npos);
}

TEST(Dates, TheOrderOfDayAndMonthIsFoundOrNamed) {
  const auto unit_of = [](const std::vector<std::string>& dates) {
    const Dataset data = read_text(lines("d", dates, 4));
    return data.codebook.columns.at(0).unit + (data.report[0].ambiguous.empty() ? "" : " ?");
  };
  EXPECT_EQ(unit_of({"31/01/2024", "02/03/2024", "05/06/2024", "1/7/2024", "2/7/2024", "3/7/2024"}),
            "days since 2024-01-31, day first");
  EXPECT_EQ(unit_of({"01/31/2024", "03/02/2024", "05/06/2024", "1/7/2024", "2/7/2024", "3/7/2024"}),
            "days since 2024-01-07, month first");
  EXPECT_EQ(unit_of({"01/02/2024", "03/02/2024", "05/06/2024", "1/7/2024", "2/7/2024", "3/7/2024"}),
            "days since 2024-01-02, month first ?");
  EXPECT_EQ(unit_of({"12:30", "13:45", "01:10", "02:20", "03:30", "04:40"}), "seconds since midnight");
  EXPECT_EQ(unit_of({"20240131", "20240201", "20231215", "20220704", "20240301", "20240302"}),
            "days since 2022-07-04, yyyymmdd ?");
  EXPECT_NE(read_error(lines("d", {"01/31/24", "03/02/24", "05/06/24"}, 4)).find("year has two digits"),
            std::string::npos);
}

TEST(Spellings, OfWholeColumns) {
  const Dataset percent = read_text(lines("p", {"12%", "7.5%", "30%", "45%", "50%", "0%"}, 2));
  EXPECT_EQ(percent.codebook.columns.at(0).unit, "%");
  EXPECT_EQ(percent.table.columns[0].values[1], 7.5);
  const Dataset money = read_text(lines("p", {"\"$1,234\"", "$999.5", "$12", "$77", "$1", "$3"}, 2));
  EXPECT_EQ(money.codebook.columns.at(0).unit, "$");
  EXPECT_EQ(money.table.columns[0].values[0], 1234.0);
  const Dataset commas =
      read_text(lines("a;b", {"1,5;10", "2,25;20,5", "1.234,5;7", "0,5;8", "0,25;9", "3,1;1"}, 2));
  expect_values(read_text("a;b\n1,5;10\n2,25;20,5\n1.234,5;7\n").table.columns.at(0), {1.5, 2.25, 1234.5});
  EXPECT_EQ(commas.table.columns.at(1).values[1], 20.5);
  // Without a header too, where a comma could be the delimiter.
  expect_values(read_text("1,5;10\n2,25;20,5\n3,5;9\n").table.columns.at(0), {1.5, 2.25, 3.5});
  const Dataset thousands =
      read_text(lines("n", {"\"1,234\"", "\"12,345\"", "999", "\"2,000\"", "7", "8"}, 2));
  EXPECT_EQ(thousands.table.columns.at(0).values[1], 12345.0);
  EXPECT_FALSE(thousands.report[0].ambiguous.empty());
  EXPECT_EQ(read_text(lines("n", {"1_000", "2_500", "300", "1", "2", "3"}, 2)).table.columns.at(0).values[0],
            1000.0);
  // New rows may be written in either way.
  const Table rows = read_like_bytes("p\n\"$2,000\"\n5\n", "n.csv", money.codebook, "");
  expect_values(rows.columns.at(0), {2000, 5});
}

TEST(Spellings, AnOddCellAmongNumbersIsAnError) {
  std::string text = "x,y\n";
  for (int i = 0; i < 40; ++i) text += i == 27 ? "abc,1.5\n" : fmt::format("{}.25,{}.5\n", i, 40 - i);
  EXPECT_EQ(
      read_error(text),
      "d.csv:29: column 'x': value 'abc' is not a number where 39 of 40 cells of the column are; correct "
      "it, leave the cell empty, say --na-values 'abc' if it means missing, make the column a category in "
      "the codebook, or leave it out with --drop 'x'");
  ReadOptions options;
  options.na_values = {"abc"};
  EXPECT_EQ(read_text(text, options).table.columns.at(0).kind, Kind::real);
  const Codebook book = parse_codebook("[[column]]\nname='x'\nkind='category'\n", "b.toml");
  options = {};
  options.codebook = &book;
  EXPECT_EQ(read_text(text, options).table.columns.at(0).kind, Kind::category);
  // One percent sign too few is such a cell.
  EXPECT_NE(read_error(lines("p", {"12%", "7%", "3%", "4%", "5%", "6%", "8%", "9%", "10%", "11%", "0.5"}))
                .find("d.csv:12: column 'p': value '0.5' is not a number with % where 10 of 11"),
            std::string::npos);
  // So is one too many, or a currency among plain numbers.
  for (const char* odd : {"12%", "$5", "5 €"}) {
    SCOPED_TRACE(odd);
    EXPECT_NE(read_error(lines("p", {"12", "7.5", "3", "4", "5", "6", "8", "9", "10", "11", odd}))
                  .find(fmt::format(
                      "d.csv:12: column 'p': value '{}' is not a number without a unit where 10 of 11", odd)),
              std::string::npos);
  }
  // A point among decimal commas does not turn the commas into separators of thousands.
  EXPECT_NE(read_error(lines("p;q", {"0,125;1", "-0,250;2", "0,5;3", "0,75;4", "0,125;5", "0,5;6", "0,875;7",
                                     "0,25;8", "0,1;9", "0,300;10", "1.5;11"}))
                .find("value '1.5' is not a number where 10 of 11"),
            std::string::npos);
  // Among a few cells, or where fewer are numbers, it stays a category, and is warned about.
  EXPECT_EQ(read_text("x\n1\n2\nabc\n").table.columns.at(0).kind, Kind::category);
  const Dataset mixed = read_text(lines("x", {"10", "20", "30", "40", "60+"}, 3));
  EXPECT_EQ(mixed.table.columns.at(0).kind, Kind::category);
  ASSERT_FALSE(mixed.findings.empty());
  EXPECT_EQ(mixed.findings[0].topic, "mixed");
}

TEST(Delimiters, BarsAndBlanks) {
  const Dataset bars = read_text("a|b\n1.5|x\n2.5|y\n3.5|x\n", {}, "d.txt");
  EXPECT_EQ(bars.table.columns.size(), 2u);
  const Dataset blanks = read_text("  a   b\n 1.5   2\n10.25   3.5\n2   1\n", {}, "d.txt");
  ASSERT_EQ(blanks.table.columns.size(), 2u);
  expect_values(blanks.table.columns[0], {1.5, 10.25, 2});
  const Dataset named = read_text("\"x\" \"y\"\n\"r 1\" 1.5 2\n\"r 2\" 2.5 7\n\"r 3\" 3.5 9\n", {}, "d.txt");
  EXPECT_EQ(named.table.columns.size() + (named.report.size() - named.table.columns.size()), 3u);
  EXPECT_EQ(named.report.at(0).spec.name, "row");
  // A bad cell is still found in its line.
  std::string text = "a b\n";
  for (int i = 0; i < 20; ++i) text += i == 13 ? "oops 1\n" : fmt::format("{}.5   {}\n", i, i % 7);
  EXPECT_EQ(read_error(text, {}, "d.txt").substr(0, 41), "d.txt:15: column 'a': value 'oops' is not");
  // Words with blanks are not columns.
  const Dataset names = read_text("full name\nAda Lovelace\nAlan Turing\nAda Lovelace\n", {}, "d.txt");
  EXPECT_EQ(names.report.size(), 1u);
}

}  // namespace
}  // namespace coppice
