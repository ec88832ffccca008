// Tables as people and programs write them: row names without a header, identifiers that repeat, answers in
// many spellings, sums in the last row, titles above the header, and counts that are measurements.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "coppice/data/read.hpp"
#include "unit/data/support.hpp"

namespace coppice {
namespace {

using Texts = std::vector<std::string>;

const ColumnReport& column_of(const Dataset& data, const std::string& name) {
  for (const ColumnReport& report : data.report)
    if (report.spec.name == name) return report;
  throw std::runtime_error("no such column");
}

const Finding* finding_of(const Dataset& data, const std::string& topic) {
  for (const Finding& finding : data.findings)
    if (finding.topic == topic) return &finding;
  return nullptr;
}

/// A file with this header and this first column, and measurements beside it.
std::string beside_measurements(const std::string& header, const Texts& cells) {
  std::string text = header + ",x\n";
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += fmt::format("{},{}\n", cells[i], 0.5 + std::fmod(7.13 * static_cast<double>(i), 3.0));
  return text;
}

/// The same cells, so many times.
Texts repeated(const Texts& cells, std::size_t times) {
  Texts all;
  for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), cells.begin(), cells.end());
  return all;
}

TEST(RowNames, AreLeftOutHoweverFew) {
  for (const std::string header : {"", "rownames", "row.names", "Unnamed: 0"}) {
    const std::string name = header.empty() ? "c1" : header;
    EXPECT_EQ(column_of(read_text(beside_measurements(header, {"4", "10", "85", "86", "91"})), name).left_out,
              "identifier")
        << header;
    EXPECT_EQ(
        column_of(read_text(beside_measurements(header, {"Fiat", "Honda", "Mazda", "Volvo"})), name).left_out,
        "identifier")
        << header;
  }
  // Numbers that repeat or have decimals are data, as is a column of another name.
  EXPECT_EQ(column_of(read_text(beside_measurements("", {"4", "10", "10", "86", "91"})), "c1").left_out, "");
  EXPECT_EQ(column_of(read_text(beside_measurements("", {"4.5", "10", "85", "86", "91"})), "c1").left_out,
            "");
  EXPECT_EQ(column_of(read_text(beside_measurements("dose", {"4", "10", "85", "86", "91"})), "dose").left_out,
            "");
  EXPECT_EQ(column_of(read_text("x,\n1.5,4\n2.5,10\n0.5,85\n3.5,86\n7.5,91\n"), "c2").left_out, "");
}

TEST(RowNames, AreNotDataUnderAnotherName) {
  const Dataset data = read_text(",serial,x\n4,4,1.5\n10,10,0.25\n85,85,2.5\n86,86,3.75\n91,91,9.5\n");
  EXPECT_EQ(column_of(data, "serial").left_out, "identifier");
  EXPECT_EQ(column_of(data, "serial").spec.reason, "equal to the names of the rows");
}

TEST(RepeatedIdentifiers, AreLeftOutByTheirName) {
  Texts twice;
  for (int i = 0; i < 60; ++i) twice.push_back(fmt::format("{}", 1000 + 37 * (i / 2)));
  EXPECT_EQ(column_of(read_text(beside_measurements("id", twice)), "id").left_out, "");  // only 30 of them
  for (int i = 0; i < 20; ++i) twice.push_back(fmt::format("{}", 9000 + 37 * (i / 2)));
  EXPECT_EQ(column_of(read_text(beside_measurements("id", twice)), "id").left_out, "identifier");
  EXPECT_EQ(column_of(read_text(beside_measurements("customerId", twice)), "customerId").left_out,
            "identifier");
  EXPECT_EQ(column_of(read_text(beside_measurements("price_index", twice)), "price_index").left_out, "");
}

TEST(DatesOfARegularSeries, AreNotIdentifiers) {
  Texts days;
  for (int day = 1; day <= 28; ++day) days.push_back(fmt::format("{:02}.02.2023", day));
  const Dataset data = read_text(beside_measurements("Buchung", days));
  EXPECT_EQ(column_of(data, "Buchung").left_out, "");
  EXPECT_EQ(column_of(data, "Buchung").spec.kind, Kind::real);
}

TEST(YesAndNo, InAnySpelling) {
  const Dataset data =
      read_text(beside_measurements("smoker", repeated({"yes", "No", "NO", "Y", "n", "yes", "No"}, 4)));
  EXPECT_EQ(column_of(data, "smoker").spec.kind, Kind::binary);
  EXPECT_EQ(column_of(data, "smoker").spec.reason, "yes or no, in 5 spellings");
  EXPECT_EQ(data.table.columns[0].levels, (Texts{"No", "yes"}));
  const std::vector<double>& codes = data.table.columns[0].values;
  EXPECT_EQ(std::vector<double>(codes.begin(), codes.begin() + 7),
            (std::vector<double>{1, 0, 0, 1, 0, 1, 0}));
  const Table rows = read_like_bytes("smoker,x\nYES,1\nf,1\nyes,1\n", "n.csv", data.codebook, "");
  expect_values(rows.columns[0], {1, 0, 1});
  EXPECT_NE(message_of(ErrorCode::bad_data,
                       [&] { read_like_bytes("smoker,x\nmaybe,1\n", "n.csv", data.codebook, ""); })
                .find("is not one of the levels 'No', 'yes'"),
            std::string::npos);
  const Dataset third = read_text(beside_measurements("smoker", repeated({"yes", "No", "NO", "used to"}, 4)));
  EXPECT_EQ(column_of(third, "smoker").spec.kind, Kind::category);
  EXPECT_EQ(third.table.columns[0].levels.size(), 4u);
}

TEST(Spellings, ThatDifferOnlyInCaseAreNamed) {
  const Dataset data =
      read_text(beside_measurements("status", repeated({"active", "Active", "closed", "closed"}, 4)));
  ASSERT_NE(finding_of(data, "spelling"), nullptr);
  EXPECT_EQ(finding_of(data, "spelling")->what,
            "has texts that differ only in case or blanks: 'Active', 'active'");
  EXPECT_EQ(finding_of(read_text(beside_measurements("status", repeated({"active", "closed", "open"}, 4))),
                       "spelling"),
            nullptr);
}

TEST(TotalRows, AreNamed) {
  const std::string text = beside_measurements("region", repeated({"North", "South", "East"}, 4));
  const Dataset data = read_text(text + "TOTAL,31.5\n");
  ASSERT_NE(finding_of(data, "total"), nullptr);
  EXPECT_EQ(finding_of(data, "total")->columns, (Texts{"region"}));
  ReadOptions named;
  named.id = "region";
  named.truth = {"x"};
  EXPECT_EQ(
      finding_of(read_text("region,x,y\nNorth,a,1.5\nSouth,b,2.5\nTotal,a,4\n", named), "total")->columns,
      (Texts{"region"}));
  EXPECT_EQ(finding_of(read_text(text), "total"), nullptr);
  EXPECT_EQ(finding_of(read_text(text + "Total,3\nNorth,1\n"), "total"), nullptr);  // not the last row
  EXPECT_EQ(finding_of(read_text(text + "total,3\ntotal,1\n"), "total"), nullptr);  // one of the values
}

TEST(UnclearTexts, AreLeftOutWithAWarning) {
  Texts limits;
  Texts thousands;
  for (int i = 0; i < 60; ++i) {
    limits.push_back(i % 4 == 0 ? fmt::format("<0.{}", i) : fmt::format("{}.{}", i, i % 10));
    thousands.push_back(fmt::format("{}k", 20 + i));
  }
  for (const Texts& cells : {limits, thousands}) {
    const Dataset data = read_text(beside_measurements("v", cells));
    EXPECT_EQ(column_of(data, "v").left_out, "unclear");
    ASSERT_NE(finding_of(data, "unclear"), nullptr);
    EXPECT_EQ(finding_of(data, "unclear")->severity, Severity::warning);
  }
  EXPECT_EQ(column_of(read_text(beside_measurements("v", limits)), "v").spec.reason,
            "has numbers in 45 of 60 cells, but also others such as '<0.0'");
  EXPECT_EQ(column_of(read_text(beside_measurements("v", thousands)), "v").spec.reason,
            "numbers with 'k' behind them");
}

TEST(OddTexts, AmongFewNumbersAreAnotherCategory) {
  Texts cylinders = repeated({"4", "6", "4", "8"}, 10);
  cylinders.push_back("rotary");
  const Dataset data = read_text(beside_measurements("cylinders", cylinders));
  EXPECT_EQ(column_of(data, "cylinders").spec.kind, Kind::category);
  EXPECT_EQ(data.table.columns[0].levels, (Texts{"4", "6", "8", "rotary"}));
  EXPECT_NE(finding_of(data, "mixed"), nullptr);
  // Among many numbers it is an error, whose message also says that units are no data.
  std::string text = "x\nmm\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{}.5\n", i);
  const std::string message = read_error(text);
  EXPECT_TRUE(message.starts_with("d.csv:2: column 'x': value 'mm' is not a number where 40 of 41"))
      << message;
  EXPECT_NE(message.find("remove the row if it holds units"), std::string::npos) << message;
  EXPECT_NE(message.find("--drop 'x'"), std::string::npos) << message;
}

TEST(NumberedHeaders, AreHeaders) {
  const Dataset indexed = read_text(",0,1\n0,1.5,2.5\n1,0.5,7.25\n2,3.5,1.25\n");
  EXPECT_EQ(indexed.table.columns.size(), 2u);
  EXPECT_EQ(indexed.table.columns[0].name, "0");
  EXPECT_EQ(indexed.table.rows(), 3u);
  const Dataset plain = read_text("0,1,2\n1.5,2.5,0.5\n0.5,7.25,1.5\n3.5,1.25,2\n");
  EXPECT_EQ(plain.table.columns[2].name, "2");
  // A row of whole numbers above others is data.
  EXPECT_EQ(read_text("0,1,2\n3,4,5\n7,6,8\n").table.rows(), 3u);
  EXPECT_EQ(read_text("0,1\n1.5,2.5\n3.5,0.5\n").table.rows(), 3u);
}

TEST(Titles, AreRefusedWithTheRemedy) {
  EXPECT_EQ(
      read_error("Report 2023,,\na,b,c\n1,2,3\n"),
      "d.csv:1: only the first of 3 cells has a name, 'Report 2023'; if it is a title, remove the lines "
      "above the names of the columns, else name the columns");
  EXPECT_EQ(
      read_error("# exported\na,b\n1,2\n"),
      "d.csv:2: cell 2: value 'b' is beyond the 1 column; remove comments or a title above the names of "
      "the columns, or quote the cell that contains the delimiter ','");
}

TEST(None, IsAnAnswerAmongWordsAndMissingAmongNumbers) {
  const Dataset words = read_text(beside_measurements("improved", repeated({"None", "Some", "Marked"}, 4)));
  EXPECT_EQ(words.table.columns[0].levels, (Texts{"Marked", "None", "Some"}));
  EXPECT_EQ(column_of(words, "improved").ambiguous,
            "None is taken as an answer; --na-values None if it means missing");
  ReadOptions options;
  options.na_values = {"None"};
  EXPECT_EQ(read_text(beside_measurements("improved", repeated({"None", "Some", "Marked"}, 4)), options)
                .table.columns[0]
                .levels,
            (Texts{"Marked", "Some"}));
  expect_values(read_text("a,b\n1.5,\"1,250.5\"\nNone,None\n2.5,\"2,000.5\"\n0.5,3.5\n").table.columns[0],
                {1.5, kMissing, 2.5, 0.5});
  expect_values(read_text("a,b\n1.5,\"1,250.5\"\nNone,None\n2.5,\"2,000.5\"\n0.5,3.5\n").table.columns[1],
                {1250.5, kMissing, 2000.5, 3.5});
  // Where levels are known and None is not among them, it is missing.
  Codebook book =
      parse_codebook("[[column]]\nname='improved'\nkind='binary'\nlevels=['no','yes']\n", "b.toml");
  ReadOptions told;
  told.codebook = &book;
  expect_values(read_text(beside_measurements("improved", {"no", "None", "yes"}), told).table.columns[0],
                {0, kMissing, 1});
}

TEST(FewRows, ColumnsThatAreOneUpToScaleAreCountedOnce) {
  EXPECT_EQ(column_of(read_text("a,b\n1,2\n2,3\n3,4\n"), "b").left_out, "duplicate");
  EXPECT_EQ(column_of(read_text("a,b\n1,-2\n2,-4\n3,-6\n5,-10\n"), "b").left_out, "duplicate");
  EXPECT_EQ(column_of(read_text("a,b\n1,2\n2,3\n3,5\n"), "b").left_out, "");
  EXPECT_EQ(column_of(read_text("a,b\n1,2\n2,3\n"), "b").left_out, "");
}

/// Counts that follow the measurement x closely, or not at all, in two groups.
Dataset counts_beside_x(bool follows, unsigned seed) {
  std::mt19937_64 g(seed);
  std::string text = "v,x\n";
  for (int i = 0; i < 200; ++i) {
    const double mean = i % 2 == 0 ? 10.0 : 18.0;
    const double spread = std::normal_distribution<double>(0.0, 2.0)(g);
    const double v = follows ? std::round(mean + spread + std::normal_distribution<double>(0.0, 0.8)(g))
                             : std::poisson_distribution<int>(mean)(g);
    const double x = 3.0 * (follows ? mean + spread : std::normal_distribution<double>(0.0, 2.0)(g));
    text += fmt::format("{},{:.3f}\n", std::max(v, 0.0), x);
  }
  return read_text(text);
}

TEST(MeasuredCounts, AreMeasurements) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Dataset follows = counts_beside_x(true, seed);
    EXPECT_EQ(column_of(follows, "v").spec.kind, Kind::real) << seed;
    EXPECT_EQ(column_of(follows, "v").spec.resolution, std::optional(1.0)) << seed;
    EXPECT_EQ(follows.table.columns[0].kind, Kind::real) << seed;
    EXPECT_EQ(column_of(counts_beside_x(false, seed), "v").spec.kind, Kind::count) << seed;
  }
}

}  // namespace
}  // namespace coppice
