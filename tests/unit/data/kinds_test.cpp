// What columns are inferred to be if the user does not say: every decision on small columns, and its reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "coppice/data/kinds/decide.hpp"
#include "coppice/data/kinds/histogram.hpp"
#include "coppice/data/kinds/measure.hpp"
#include "coppice/data/read.hpp"
#include "unit/data/support.hpp"

namespace coppice {
namespace {

using Texts = std::vector<std::string>;

/// A file with one column of these cells, each repeated so often, beside a column that is always modeled.
Dataset read_cells(const std::string& cells, std::size_t times = 1, const std::string& name = "v",
                   const ReadOptions& options = {}) {
  std::string text = "w;" + name + "\n";
  std::size_t row = 0;
  for (std::size_t i = 0; i < times; ++i)
    for (std::size_t at = 0; at < cells.size();) {
      const std::size_t end = std::min(cells.find(' ', at), cells.size());
      text += fmt::format("{};{}\n", 0.5 + std::fmod(7.13 * static_cast<double>(++row), 3.0),
                          cells.substr(at, end - at));
      at = end + 1;
    }
  return read_dataset_bytes(text, "d.csv", options);
}

const ColumnReport& report_of(const Dataset& data, const std::string& name = "v") {
  for (const ColumnReport& report : data.report)
    if (report.spec.name == name) return report;
  throw std::runtime_error("no such column");
}

std::vector<double> draws(std::size_t count, const std::function<double(std::mt19937_64&)>& draw) {
  std::mt19937_64 generator(7);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(draw(generator));
  return values;
}

Decision decide(const std::vector<double>& values, const std::string& name = "v",
                const KindRules& rules = {}) {
  return decide_numbers({name, values}, rules);
}

TEST(Decisions, OfSmallColumns) {
  struct Case {
    const char* cells;
    std::size_t times;
    const char* kind;  // of the report; or why it is left out
    bool ambiguous;
  };
  const Case cases[] = {
      {"0 1 1 0", 1, "binary", false},
      {"0 1 NA 1", 1, "binary", false},
      {"1 2", 5, "binary", false},
      {"1.5 2.5", 5, "binary", false},
      {"yes no", 2, "binary", false},
      {"MALE FEMALE", 3, "binary", false},
      {"a b", 1, "category", false},
      {"a b c", 3, "category", false},
      {"7 7 7 7", 1, "constant", false},
      {"a a a", 1, "constant", false},
      {"NA NA ?", 1, "empty", false},
      {"1 2 3", 5, "category", true},                  // passenger class
      {"1 2 3 4 5", 5, "category", true},              // Likert
      {"1 2 3 4 5 6 7", 5, "category", true},          // Likert 1-7
      {"0 1 2 3 4 5 6", 5, "count", true},             // starts at 0
      {"0 2 4 5 6 8", 5, "category", true},            // legs: not a count's distribution
      {"0 1 1 2 3 5 8 13 2 1 0 1", 1, "count", true},  // too few cells to tell
      {"0 1 2 3 4 5 6 7 8 9 10 11", 2, "count", false},
      {"3750 3800 3250 3450 3650 3625", 4, "real", true},  // grams; few enough to be codes
      {"21 35 28 44 50 31 27", 4, "real", false},
      {"-1 2 2 3 7 9 11", 3, "real", false},
      {"100 101 100 99 100 98 102", 2, "real", false},
      {"0.5 1.5 1.25 2 7 9", 1, "real", false},
      {"1 2 3 4 5", 1, "real", false},  // nothing repeats
      {"1 2 2 3.5", 1, "real", false},
      {"x 1 2", 1, "category", false},
  };
  for (const Case& test : cases) {
    const Dataset data = read_cells(test.cells, test.times);
    const ColumnReport& report = report_of(data);
    const std::string kind =
        report.left_out.empty() ? std::string(kind_name(report.spec.kind)) : report.left_out;
    EXPECT_EQ(kind, test.kind) << test.cells << ": " << report.spec.reason;
    EXPECT_EQ(!report.ambiguous.empty(), test.ambiguous) << test.cells << ": " << report.ambiguous;
    EXPECT_FALSE(report.spec.reason.empty()) << test.cells;
    EXPECT_EQ(data.codebook.columns.size(), data.table.columns.size());
  }
}

TEST(Decisions, NumbersThatAreCategoriesKeepTheirOrderAndShortestSpelling) {
  const Dataset data = read_cells("10.0 9.0 2.5", 4);
  const Column& column = data.table.columns.at(1);
  EXPECT_EQ(column.levels, (Texts{"2.5", "9", "10"}));
  EXPECT_EQ(column.text(0), "10");
  // New rows may spell them differently, but not bring others.
  const Table rows = read_like_bytes("w;v\n1;2.50\n1;10\n", "n.csv", data.codebook, "");
  EXPECT_EQ(rows.columns.at(1).text(0), "2.5");
  EXPECT_NE(
      message_of(ErrorCode::bad_data, [&] { read_like_bytes("w;v\n1;2.51\n", "n.csv", data.codebook, ""); })
          .find("'2.51' is not one of the levels '2.5', '9', '10'"),
      std::string::npos);
}

TEST(Decisions, FewWholeNumbersThatAreNotDistributedLikeCountsAreCategories) {
  // Scores from 1 to 10 with a heap at each end.
  const auto scores = draws(300, [](auto& g) {
    const double u = std::uniform_real_distribution<double>(0.0, 1.0)(g);
    return u < 0.5 ? 1.0 : u < 0.7 ? 10.0 : std::floor(std::uniform_real_distribution<double>(2.0, 10.0)(g));
  });
  EXPECT_EQ(decide(scores).kind, Kind::category);
  EXPECT_NE(decide(scores).reason.find("not distributed like counts"), std::string::npos);
  EXPECT_EQ(decide(scores).levels.size(), 10u);
  KindRules strict;
  strict.code_values = 9;
  EXPECT_EQ(decide(scores, "v", strict).kind, Kind::count);
  // Counts, overdispersed counts and rounded measurements stay what they are.
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 g(seed);
    std::vector<double> poisson, wide, rounded;
    for (int i = 0; i < 300; ++i) {
      poisson.push_back(std::poisson_distribution<int>(2.5)(g));
      wide.push_back(std::poisson_distribution<int>(std::gamma_distribution<double>(1.0, 1.0)(g))(g));
      rounded.push_back(std::max(0.0, std::round(std::normal_distribution<double>(8.0, 1.2)(g))));
    }
    EXPECT_EQ(decide(poisson).kind, Kind::count) << seed;
    EXPECT_EQ(decide(wide).kind, Kind::count) << seed;
    EXPECT_EQ(decide(rounded).kind, Kind::real) << seed;
  }
}

/// Cells of a column that has these numbers, so many of each.
std::vector<double> repeated(const std::vector<std::pair<double, int>>& numbers) {
  std::vector<double> cells;
  for (const auto& [number, times] : numbers)
    cells.insert(cells.end(), static_cast<std::size_t>(times), number);
  return cells;
}

TEST(Decisions, FewNumbersFarApartAreCategories) {
  // Incomes by bracket, and clock rates of models on sale: no cluster of measurements has such frequencies.
  const auto incomes = repeated(
      {{2500, 160}, {7500, 490}, {15000, 770}, {35000, 750}, {75000, 270}, {125000, 90}, {200000, 80}});
  EXPECT_EQ(decide(incomes).kind, Kind::category);
  EXPECT_NE(decide(incomes).reason.find("7 different numbers, most of them far apart, from 2500 to 200000"),
            std::string::npos);
  EXPECT_NE(decide(incomes).ambiguous.find("kind = \"real\""), std::string::npos);
  EXPECT_EQ(decide(repeated({{25, 560}, {33, 2030}, {50, 1020}, {66, 2100}, {75, 130}, {100, 420}})).kind,
            Kind::category);
  KindRules strict;
  strict.code_values = 6;
  EXPECT_EQ(decide(incomes, "v", strict).kind, Kind::real);
  KindRules certain;
  certain.code_evidence = 1e6;
  EXPECT_EQ(decide(incomes, "v", certain).kind, Kind::real);
}

TEST(Decisions, FewNumbersThatMeasurementsExplainStayReal) {
  // Most steps of the grid have cells, whatever their frequencies.
  EXPECT_EQ(
      decide(repeated({{100, 40}, {110, 5}, {120, 70}, {130, 5}, {140, 60}, {150, 5}, {160, 80}, {170, 4}}))
          .kind,
      Kind::real);
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 g(seed);
    std::vector<double> rounded, two_groups, four_groups, few;
    for (int i = 0; i < 300; ++i) {
      rounded.push_back(std::round(std::normal_distribution<double>(80.0, 1.5)(g)));
      two_groups.push_back(std::round(std::normal_distribution<double>(i % 3 == 0 ? 40.0 : 60.0, 1.0)(g)));
    }
    for (int i = 0; i < 24; ++i)
      few.push_back(std::round(std::normal_distribution<double>(20.0, 3.0)(g)) * 10.0);
    // Their extremes leave gaps by chance, and the two groups one between them.
    EXPECT_EQ(decide(rounded).kind, Kind::real) << seed;
    EXPECT_EQ(decide(two_groups).kind, Kind::real) << seed;
    EXPECT_EQ(decide(four_groups).kind, Kind::real) << seed;
    EXPECT_EQ(decide(few).kind, Kind::real) << seed;
  }
}

TEST(Decisions, NumbersBetweenThoseOfAScaleAreLevelsToo) {
  const Dataset data = read_cells("0 2 4 5 6 8", 5);
  EXPECT_EQ(data.table.columns.at(1).levels, (Texts{"0", "1", "2", "3", "4", "5", "6", "7", "8"}));
  EXPECT_EQ(read_like_bytes("w;v\n1;7\n", "n.csv", data.codebook, "").columns.at(1).text(0), "7");
  EXPECT_FALSE(message_of(ErrorCode::bad_data, [&] {
                 read_like_bytes("w;v\n1;9\n", "n.csv", data.codebook, "");
               }).empty());
}

TEST(Decisions, CountsAreOverdispersedIfTheVarianceIsClearlyAboveTheMean) {
  KindRules rules;
  rules.overdispersed_family = "negative-binomial";
  const auto poisson = draws(400, [](auto& g) { return std::poisson_distribution<int>(4.0)(g); });
  EXPECT_EQ(decide(poisson, "v", rules).kind, Kind::count);
  EXPECT_EQ(decide(poisson, "v", rules).family, "");
  const auto wide = draws(400, [](auto& g) {
    return std::poisson_distribution<int>(std::gamma_distribution<double>(1.5, 2.0)(g))(g);
  });
  EXPECT_EQ(decide(wide, "v", rules).kind, Kind::count);
  EXPECT_EQ(decide(wide, "v", rules).family, "negative-binomial");
  EXPECT_NE(decide(wide, "v", rules).reason.find("times the mean"), std::string::npos);
  EXPECT_EQ(decide(wide).family, "");  // a family that is not on the list is not named
  // Zeros that no count family explains are a hurdle; those of a wide one are not.
  EXPECT_FALSE(decide(wide).hurdle);
  auto inflated = draws(400, [](auto& g) {
    return std::bernoulli_distribution(0.6)(g) ? 0.0 : 5.0 + std::poisson_distribution<int>(6.0)(g);
  });
  EXPECT_EQ(decide(inflated).hurdle, std::optional(0.0));
}

TEST(Decisions, SkewedPositiveNumbersAreOnTheLogScale) {
  const auto skewed = draws(300, [](auto& g) { return std::lognormal_distribution<double>(0.0, 0.8)(g); });
  EXPECT_EQ(decide(skewed).transform, "log");
  EXPECT_NE(decide(skewed).reason.find("right-skewed"), std::string::npos);
  const auto symmetric = draws(300, [](auto& g) { return std::normal_distribution<double>(50.0, 5.0)(g); });
  EXPECT_EQ(decide(symmetric).transform, "");
  auto with_zero = skewed;
  with_zero[17] = 0.0;
  EXPECT_EQ(decide(with_zero).transform, "");
  // Left-skewed: the logarithm would make it worse.
  auto left = skewed;
  for (double& x : left) x = 100.0 - x;
  EXPECT_EQ(decide(left).transform, "");
  // Scale does not matter.
  for (const double scale : {1e-200, 1e-3, 1e3, 1e200}) {
    auto scaled = skewed;
    for (double& x : scaled) x *= scale;
    EXPECT_EQ(decide(scaled).transform, "log") << scale;
  }
}

TEST(Decisions, ASpikeIsAHurdleAndTheRestIsJudgedWithoutIt) {
  auto values = draws(300, [](auto& g) {
    return std::bernoulli_distribution(0.3)(g) ? 0.0 : std::lognormal_distribution<double>(2.0, 0.9)(g);
  });
  EXPECT_EQ(decide(values).hurdle, std::optional(0.0));
  EXPECT_EQ(decide(values).transform, "log");
  const auto rare = draws(300, [](auto& g) {
    return std::bernoulli_distribution(0.05)(g) ? 0.0 : std::normal_distribution<double>(2.0, 0.9)(g);
  });
  EXPECT_FALSE(decide(rare).hurdle);
  // Rounded numbers have frequent values, but none far above the next.
  const auto rounded =
      draws(300, [](auto& g) { return 40.0 + std::round(std::normal_distribution<double>(0.0, 3.0)(g)); });
  EXPECT_FALSE(decide(rounded).hurdle);
}

TEST(Decisions, RoundedNumbersHaveAResolution) {
  const auto rounded = draws(200, [](auto& g) {
    return 25.0 * std::round(std::normal_distribution<double>(4200.0, 800.0)(g) / 25.0);
  });
  EXPECT_EQ(decide(rounded).resolution, std::optional(25.0));
  const auto tenths = draws(
      200, [](auto& g) { return std::round(10.0 * std::normal_distribution<double>(40.0, 5.0)(g)) / 10.0; });
  ASSERT_TRUE(decide(tenths).resolution);
  EXPECT_NEAR(*decide(tenths).resolution, 0.1, 1e-9);
  // Twenty exact numbers are far apart without being rounded.
  const auto few = draws(20, [](auto& g) { return std::normal_distribution<double>(0.0, 1.0)(g); });
  EXPECT_FALSE(decide(few).resolution);
  const auto fine = draws(200, [](auto& g) {
    return std::round(1000.0 * std::normal_distribution<double>(0.0, 1.0)(g)) / 1000.0;
  });
  EXPECT_FALSE(decide(fine).resolution);
}

TEST(Decisions, LongColumnsAreDecidedAsShortOnes) {
  // More rows than the first look takes in: a rare feature must still be found where one is possible.
  const auto skewed = draws(20000, [](auto& g) { return std::lognormal_distribution<double>(0.0, 0.8)(g); });
  EXPECT_EQ(decide(skewed).transform, "log");
  const auto spike = draws(20000, [](auto& g) {
    return std::bernoulli_distribution(0.12)(g) ? 0.0 : std::normal_distribution<double>(2.0, 0.9)(g);
  });
  EXPECT_EQ(decide(spike).hurdle, std::optional(0.0));
  const auto counts = draws(20000, [](auto& g) { return std::poisson_distribution<int>(3.0)(g); });
  EXPECT_EQ(decide(counts).kind, Kind::count);
  const auto plain = draws(20000, [](auto& g) { return std::normal_distribution<double>(2.0, 0.9)(g); });
  EXPECT_EQ(decide(plain).kind, Kind::real);
  EXPECT_EQ(decide(plain).reason, "measurements");
  EXPECT_EQ(decide(plain).sentinel, "");
  auto coded = plain;
  coded[4711] = coded[12345] = -999.0;
  EXPECT_EQ(decide(coded).sentinel, "-999");
  const auto codes = draws(20000, [](auto& g) { return 1.0 + static_cast<double>(g() % 3); });
  EXPECT_EQ(decide(codes).kind, Kind::category);
}

TEST(Identifiers, AreNamedAndLeftOut) {
  std::string text = "id,row,zip,code,serial,year,velocity,x\n";
  for (int i = 0; i < 40; ++i)
    text += fmt::format("P{},{},{},{:05},{},{},{},{}\n", i, 3 * ((i * 7) % 40) + 1, 10000 + 97 * i,
                        2000 + 11 * (i * i % 101), 100 + (i * 17) % 40, 1980 + i, 9000 + 13 * i * i,
                        std::sin(i * 1.7));
  const Dataset data = read_text(text);
  EXPECT_EQ(report_of(data, "id").left_out, "identifier");
  EXPECT_EQ(report_of(data, "row").left_out, "identifier");     // by its name, all differ
  EXPECT_EQ(report_of(data, "zip").left_out, "identifier");     // by its name
  EXPECT_EQ(report_of(data, "code").left_out, "identifier");    // leading zeros
  EXPECT_EQ(report_of(data, "serial").left_out, "identifier");  // 100..139, each once
  EXPECT_EQ(report_of(data, "year").left_out, "");              // time is a measurement
  EXPECT_EQ(report_of(data, "velocity").left_out, "");          // rises, but has gaps
  EXPECT_FALSE(report_of(data, "velocity").ambiguous.empty());
  EXPECT_EQ(report_of(data, "x").left_out, "");
  ASSERT_FALSE(data.notes.empty());
  EXPECT_NE(data.notes[0].find("'id', 'row', 'zip', 'code', 'serial'"), std::string::npos) << data.notes[0];
  ReadOptions keep;
  keep.keep = {"row", "id"};
  const Dataset kept = read_text(text, keep);
  EXPECT_EQ(report_of(kept, "row").spec.kind, Kind::real);
  EXPECT_EQ(report_of(kept, "id").spec.kind, Kind::category);
  EXPECT_EQ(kept.table.columns.size(), data.table.columns.size() + 2);
  keep.keep = {"roow"};
  EXPECT_EQ(read_error(text, keep, "d.csv", ErrorCode::configuration),
            "--keep-column roow: d.csv has no such column; did you mean 'row'?");
}

TEST(Sentinels, AreWarnedAboutWithTheRemedy) {
  const auto sentinel = [](const char* cells) {
    const Dataset data = read_cells(cells, 2);
    for (const Finding& finding : data.findings)
      if (finding.topic == "sentinel") return finding.remedy;
    return std::string();
  };
  EXPECT_EQ(sentinel("171 165 180 -999 158 176 169"),
            "missing_values = [-999] in the codebook, or --na-values -999");
  EXPECT_NE(sentinel("22 35 -1 41 60 18 33"), "");
  EXPECT_NE(sentinel("3.5 4.25 9999 4.75 3.25 5.5 4"), "");
  EXPECT_EQ(sentinel("-1 0 1 2 3 0 1 2"), "");                    // a scale with -1
  EXPECT_EQ(sentinel("-1.5 0.25 1 -0.75 2 0.5 -1 1.25"), "");     // in the midst of others
  EXPECT_EQ(sentinel("9000 9500 9999 9700 9200 9990 9300"), "");  // near the others
}

TEST(MissingValues, FromTheCodebookAndTheFlag) {
  ReadOptions options;
  options.na_values = {"-999", "unknown"};
  const Dataset data = read_cells("171.5 165 -999.0 unknown 158 176 169", 2, "v", options);
  const Column& column = data.table.columns.at(1);
  EXPECT_EQ(column.kind, Kind::real);
  EXPECT_TRUE(is_missing(column.values[2]));
  EXPECT_TRUE(is_missing(column.values[3]));
  EXPECT_EQ(report_of(data).missing, 4u);
  // New rows are read with the same tokens.
  const Table rows = read_like_bytes("w;v\n1;-999\n1;unknown\n1;3\n", "n.csv", data.codebook, "");
  EXPECT_TRUE(is_missing(rows.columns[1].values[0]));
  EXPECT_TRUE(is_missing(rows.columns[1].values[1]));
  EXPECT_EQ(rows.columns[1].values[2], 3.0);
  Codebook book = parse_codebook("[[column]]\nname='v'\nkind='count'\nmissing_values=[9, 'x']\n", "b.toml");
  ReadOptions told;
  told.codebook = &book;
  const Dataset counts = read_cells("1 9 2 x 3", 1, "v", told);
  expect_values(counts.table.columns.at(1), {1, kMissing, 2, kMissing, 3});
  EXPECT_EQ(counts.codebook.columns.at(1).missing_values, (Texts{"9", "x"}));
}

TEST(MissingValues, LoneSignsAreMissingAmongWordsAndNumbersOnly) {
  expect_values(read_cells("1.5 - 2.5 . 7").table.columns.at(1), {1.5, kMissing, 2.5, kMissing, 7});
  const Dataset words = read_cells("a b - a b", 3);
  EXPECT_EQ(words.table.columns.at(1).levels, (Texts{"a", "b"}));
  const Dataset strands = read_cells("+ - + + -", 3);
  EXPECT_EQ(strands.table.columns.at(1).levels, (Texts{"+", "-"}));
  expect_values(read_cells("1.5 NAN 2.5 -nan 7 #N/A").table.columns.at(1),
                {1.5, kMissing, 2.5, kMissing, 7, kMissing});
}

TEST(InformativeGaps, BecomeAColumn) {
  const Codebook book =
      parse_codebook("[[column]]\nname='v'\nkind='real'\nmissing='informative'\n", "b.toml");
  ReadOptions options;
  options.codebook = &book;
  const Dataset data = read_cells("1.5 NA 2.5 NA 7 8", 1, "v", options);
  ASSERT_EQ(data.table.columns.size(), 3u);
  EXPECT_EQ(data.table.columns[2].name, "v_missing");
  EXPECT_EQ(data.table.columns[2].kind, Kind::binary);
  expect_values(data.table.columns[2], {0, 1, 0, 1, 0, 0});
  EXPECT_EQ(data.codebook.columns[2].name, "v_missing");
  // The codebook that was used can be used again, and new rows get the column too.
  options.codebook = &data.codebook;
  EXPECT_EQ(read_cells("1.5 NA 2.5 NA 7 8", 1, "v", options).codebook, data.codebook);
  const Table rows = read_like_bytes("v;w\nNA;1\n4;1\n", "n.csv", data.codebook, "");
  ASSERT_EQ(rows.columns.size(), 3u);
  expect_values(rows.columns[2], {1, 0});
  // Without gaps there is nothing to mark.
  options.codebook = &book;
  EXPECT_EQ(read_cells("1.5 2.5 7 8", 1, "v", options).table.columns.size(), 2u);
}

TEST(Histograms, AreSmall) {
  const Dataset data = read_cells("0 0 0 1 1 2 3 0 1 4 5 6", 2);
  const Column& counts = data.table.columns.at(1);
  EXPECT_EQ(small_histogram(counts, data.codebook.columns[1], 12),
            (std::vector<std::size_t>{8, 6, 2, 2, 2, 2, 2}));
  EXPECT_EQ(small_histogram(data.table.columns[0], data.codebook.columns[0], 12).size(), 12u);
  const Dataset words = read_cells("a b c a", 3);
  EXPECT_EQ(small_histogram(words.table.columns[1], words.codebook.columns[1], 2),
            (std::vector<std::size_t>{6, 6}));
}

}  // namespace
}  // namespace coppice
