// Columns that repeat others, and columns that give the truth away.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "coppice/data/kinds/missingness.hpp"
#include "coppice/data/read.hpp"
#include "unit/data/support.hpp"

namespace coppice {
namespace {

struct Maker {
  std::mt19937_64 generator{3};
  double normal() { return std::normal_distribution<double>()(generator); }
  std::size_t below(std::size_t n) { return generator() % n; }
};

/// A table of so many rows, each as `row` writes it.
std::string table(const std::string& header, std::size_t rows,
                  const std::function<std::string(Maker&)>& row) {
  Maker maker;
  std::string text = header + "\n";
  for (std::size_t i = 0; i < rows; ++i) text += row(maker) + "\n";
  return text;
}

std::string left_out(const Dataset& data) {
  std::string text;
  for (const ColumnReport& report : data.report)
    if (!report.left_out.empty()) text += fmt::format("{} {}; ", report.spec.name, report.left_out);
  return text;
}

TEST(Duplicates, AreCountedOnce) {
  const std::string text = table("x,copy,scaled,noisy,y,c,codes,words", 120, [](Maker& m) {
    const double x = m.normal();
    const std::size_t c = m.below(4);
    return fmt::format("{},{},{},{},{},{},{},{}", x, x, 32.0 - 1.8 * x, x + 0.01 * m.normal(), m.normal(),
                       "abcd"[c], 7 * c + 1, std::string(c + 1, 'z'));
  });
  const Dataset data = read_text(text);
  EXPECT_EQ(left_out(data), "copy duplicate; scaled duplicate; codes duplicate; words duplicate; ");
  ReadOptions options;
  options.keep = {"scaled"};
  EXPECT_EQ(left_out(read_text(text, options)),
            "x duplicate; copy duplicate; codes duplicate; words duplicate; ");
  const Codebook book = parse_codebook("[[column]]\nname='copy'\nkind='real'\n", "b.toml");
  options = {};
  options.codebook = &book;
  EXPECT_EQ(left_out(read_text(text, options)),
            "x duplicate; scaled duplicate; codes duplicate; words duplicate; ");
}

TEST(Duplicates, FewRowsAreOnlyNamed) {
  const std::string text = table("a,b,x", 40, [](Maker& m) {
    const bool on = m.below(2) == 0;
    return fmt::format("{},{},{}", on ? 1 : 0, on ? 0 : 1, m.normal());
  });
  const Dataset data = read_text(text);
  EXPECT_EQ(left_out(data), "");
  ASSERT_FALSE(data.findings.empty());
  EXPECT_EQ(data.findings[0].topic, "duplicate");
}

TEST(Duplicates, AreFoundInWideTables) {
  Maker maker;
  std::string header;
  std::vector<std::string> rows(30);
  for (std::size_t j = 0; j < 2000; ++j) {
    header += fmt::format("{}x{}", j == 0 ? "" : ",", j);
    for (std::string& row : rows) {
      const double value = maker.normal();
      row += fmt::format("{}{}", j == 0 ? "" : ",", value);
    }
  }
  header += ",copy";
  for (std::string& row : rows) {
    const std::size_t end = row.find(',', row.find(',') + 1);
    row += fmt::format(",{}", -2.0 * std::stod(row.substr(row.find(',') + 1, end)));
  }
  std::string text = header + "\n";
  for (const std::string& row : rows) text += row + "\n";
  EXPECT_EQ(left_out(read_text(text)), "copy duplicate; ");
}

TEST(Collinear, ColumnsAreLeftOutAndNamed) {
  const std::string text = table("r,g,b,mean,nearly,z", 200, [](Maker& m) {
    const double r = m.normal();
    const double g = m.normal() + 0.5 * r;
    const double b = m.normal();
    return fmt::format("{},{},{},{},{},{}", r, g, b, (r + g + b) / 3.0, 2.0 * r - g + 0.1 * m.normal(),
                       m.normal());
  });
  const Dataset data = read_text(text);
  EXPECT_EQ(left_out(data), "mean collinear; ");
  EXPECT_NE(data.report[3].spec.reason.find("'r'"), std::string::npos) << data.report[3].spec.reason;
  EXPECT_NE(data.report[3].spec.reason.find("'b'"), std::string::npos) << data.report[3].spec.reason;
  ReadOptions options;
  options.keep = {"mean"};
  EXPECT_EQ(left_out(read_text(text, options)), "b collinear; ");
  // The threshold is a share of the variance: 0.1^2 of about 3.25.
  options = {};
  options.rules.collinear_residual = 1e-2;
  EXPECT_EQ(left_out(read_text(text, options)), "mean collinear; nearly collinear; ");
}

TEST(Collinear, IsNotLookedForWithTooFewRows) {
  const std::string text = table("a,b,c,d,e,f,g,h", 24, [](Maker& m) {
    std::string row;
    for (int j = 0; j < 8; ++j) row += fmt::format("{}{}", j == 0 ? "" : ",", m.normal());
    return row;
  });
  EXPECT_EQ(left_out(read_text(text)), "");
}

TEST(Truth, ACopyIsRefusedUnlessForced) {
  const std::string text = table("x,group,copy,finer", 60, [](Maker& m) {
    const std::size_t c = m.below(3);
    return fmt::format("{},{},{},{}", m.normal(), "abc"[c], c * 10,
                       fmt::format("{}{}", "abc"[c], m.below(2)));
  });
  ReadOptions options;
  options.truth = {"group"};
  EXPECT_EQ(
      read_error(text, options, "d.csv", ErrorCode::configuration),
      "column 'copy' of d.csv is a copy of --truth group: each of its values goes with one label, so "
      "scores would mean nothing; leave it out with --drop 'copy', or model it with --keep-column 'copy'");
  options.keep = {"copy"};
  const Dataset kept = read_text(text, options);
  EXPECT_EQ(kept.table.columns.size(), 3u);
  EXPECT_EQ(kept.findings.at(0).topic, "truth");
  options.keep = {};
  options.drop = {"copy"};
  const Dataset dropped = read_text(text, options);
  ASSERT_FALSE(dropped.findings.empty());
  EXPECT_EQ(dropped.findings[0].columns, std::vector<std::string>{"finer"});  // gives it away
  // Labels that name rows are no labels to leak.
  options = {};
  options.truth = {"id"};
  EXPECT_EQ(read_text("id,x\na,1.5\nb,2.5\nc,3.5\nd,9.5\n", options).table.columns.size(), 1u);
}

TEST(InformativeGaps, AreFoundWhereAnotherColumnExplainsThem) {
  Table table;
  Maker maker;
  table.columns = {{"a", Kind::real, {}, {}}, {"b", Kind::real, {}, {}}, {"c", Kind::real, {}, {}}};
  for (int i = 0; i < 300; ++i) {
    const double a = maker.normal();
    table.columns[0].values.push_back(a);
    table.columns[1].values.push_back(a + maker.normal() > 1.0 ? kMissing : maker.normal());
    table.columns[2].values.push_back(maker.below(5) == 0 ? kMissing : maker.normal());
    table.row_ids.push_back(fmt::format("{}", i));
  }
  const std::vector<InformativeGaps> found = find_informative_gaps(table);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].column, "b");
  EXPECT_EQ(found[0].with, "a");
}

}  // namespace
}  // namespace coppice
