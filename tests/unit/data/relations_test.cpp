// Columns that repeat others, and columns that give the truth away.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
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

/// The name of every modeled column on the log scale.
std::string on_log_scale(const Dataset& data) {
  std::string names;
  for (const ColumnSpec& spec : data.codebook.columns)
    if (spec.transform == "log") names += spec.name + " ";
  return names;
}

/// A skewed positive column and one that depends on it, linearly as it is or on the log scale.
std::string skewed_pair(bool linear, double unit, std::size_t rows = 200, bool reversed = false) {
  return table(reversed ? "other,skewed" : "skewed,other", rows, [&](Maker& m) {
    const double x = std::exp(0.6 * m.normal());
    const double other = (linear ? x : std::log(x)) + 0.1 * m.normal() - 3.0;
    return reversed ? fmt::format("{:.9f},{:.9f}", other, unit * x)
                    : fmt::format("{:.9f},{:.9f}", unit * x, other);
  });
}

TEST(LogScale, IsLeftWhereAnotherColumnIsLinearInTheOriginalUnits) {
  for (const double unit : {1.0, 1000.0, 1e-4})
    for (const bool reversed : {false, true}) {
      EXPECT_EQ(on_log_scale(read_text(skewed_pair(true, unit, 200, reversed))), "");
      EXPECT_EQ(on_log_scale(read_text(skewed_pair(false, unit, 200, reversed))), "skewed ");
    }
  const Dataset data = read_text(skewed_pair(true, 1.0));
  EXPECT_NE(data.codebook.columns[0].reason.find("right-skewed"), std::string::npos);
  EXPECT_NE(data.codebook.columns[0].reason.find("as it is"), std::string::npos);
  // Alone the skewed column is on the log scale, and with too few rows skewness alone decides.
  ReadOptions options;
  options.drop = {"other"};
  EXPECT_EQ(on_log_scale(read_text(skewed_pair(true, 1.0), options)), "skewed ");
  EXPECT_EQ(on_log_scale(read_text(skewed_pair(true, 1.0, 23))), "skewed ");
}

TEST(LogScale, IsChosenByTheDensityOfAllColumnsTogether) {
  // Products of skewed columns: each of them is linear in the others' logarithms only if all have them.
  const std::string text = table("length,width,area", 200, [](Maker& m) {
    const double length = std::exp(0.6 * m.normal());
    const double width = std::exp(0.6 * m.normal());
    return fmt::format("{:.9f},{:.9f},{:.9f}", length, width, length * width * std::exp(0.1 * m.normal()));
  });
  EXPECT_EQ(on_log_scale(read_text(text)), "length width area ");
}

/// Log density per row, in original units and up to a constant, under the normal with the moments of the
/// rows.
double joint_log_density(const std::vector<std::vector<double>>& columns, const std::vector<bool>& logs) {
  const auto n = static_cast<Eigen::Index>(columns[0].size());
  Eigen::MatrixXd z(n, static_cast<Eigen::Index>(columns.size()));
  double total = 0.0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto at = static_cast<Eigen::Index>(j);
    z.col(at) = Eigen::Map<const Eigen::VectorXd>(columns[j].data(), n);
    if (!logs[j]) continue;
    z.col(at) = z.col(at).array().log();
    total -= z.col(at).mean();
  }
  z.rowwise() -= z.colwise().mean().eval();
  const Eigen::MatrixXd factor = Eigen::MatrixXd(z.transpose() * z / static_cast<double>(n)).llt().matrixL();
  return total - factor.diagonal().array().log().sum();
}

TEST(LogScale, NoOtherScaleOfOneColumnHasAHigherDensity) {
  std::size_t mixed = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    constexpr std::size_t kColumns = 4, kRows = 150;
    // What is skewed is in all columns, in the last one linearly, with more or less of their own.
    std::vector<double> own(kColumns);
    for (double& share : own) share = std::exp(normal(generator) - 2.0);
    std::vector<std::vector<double>> columns(kColumns);
    std::string text = "a,b,c,d\n";
    for (std::size_t i = 0; i < kRows; ++i) {
      const double common = std::exp(0.5 * normal(generator));
      for (std::size_t j = 0; j < kColumns; ++j) {
        const double noise = normal(generator);
        columns[j].push_back(j + 1 == kColumns
                                 ? common - 2.0 + own[j] * noise
                                 : common * std::exp(0.3 * own[j] * noise) + own[j] * std::exp(noise));
        text += fmt::format("{:.17g}{}", columns[j].back(), j + 1 < kColumns ? "," : "\n");
      }
    }
    const Dataset data = read_text(text);
    ASSERT_EQ(data.codebook.columns.size(), kColumns);
    std::vector<bool> logs(kColumns), all_logs(kColumns);
    for (std::size_t j = 0; j < kColumns; ++j) {
      logs[j] = data.codebook.columns[j].transform == "log";
      all_logs[j] = data.codebook.columns[j].reason.find("right-skewed") != std::string::npos;
    }
    mixed += logs != all_logs;
    const double density = joint_log_density(columns, logs);
    EXPECT_GE(density, joint_log_density(columns, all_logs) - 1e-6) << seed;
    EXPECT_GE(density, joint_log_density(columns, std::vector<bool>(kColumns, false)) - 1e-6) << seed;
    for (std::size_t j = 0; j < kColumns; ++j) {
      if (!all_logs[j]) continue;
      std::vector<bool> other = logs;
      other[j] = !other[j];
      EXPECT_GE(density, joint_log_density(columns, other) - 1e-6) << seed << " " << j;
    }
  }
  EXPECT_GT(mixed, 3u);
}

TEST(LogScale, OfTheCodebookStays) {
  Codebook codebook;
  ColumnSpec spec;
  spec.name = "skewed";
  spec.kind = Kind::real;
  spec.transform = "log";
  codebook.columns.push_back(spec);
  ReadOptions options;
  options.codebook = &codebook;
  EXPECT_EQ(on_log_scale(read_text(skewed_pair(true, 1.0), options)), "skewed ");
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
