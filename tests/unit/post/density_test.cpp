// Every predictive density of every model integrates to one over the numbers as they were given, with every
// transform; over the levels and counts of discrete columns it sums to one.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "coppice/post/predict.hpp"
#include "small_run.hpp"
#include "support/chains.hpp"

namespace coppice {
namespace {

/// A model and what it is told.
struct DensityModel {
  std::string name, model;
  std::string hyper = kFixedHyper;
  std::vector<std::string> parameters = {};
};

/// A table of one column (of two for principal components), and the points where its density is.
struct DensityColumn {
  std::string name;
  std::vector<std::string> cells;  // of the rows
  std::string codebook;
  bool standardize = false;
  std::size_t pca = 0;
  std::string family = "auto";
  /// Points with their weights: a quadrature rule, or 1 each.
  std::function<void(const std::function<void(const std::string& cell, double weight)>&)> points;
};

constexpr std::size_t kRows = 24;

/// Two clusters about 500, far from zero, with a standard deviation of about 13.
double real_value(std::size_t i) {
  return (i % 2 == 0 ? 490.0 : 515.0) + 4.0 * std::sin(5.0 * static_cast<double>(i));
}

std::vector<std::string> cells_of(const std::function<std::string(std::size_t)>& cell) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < kRows; ++i) cells.push_back(cell(i));
  return cells;
}

/// Trapezoids about the data in even steps, and far out, because tails are those of a t distribution, in
/// steps that grow.
void over_the_line(const std::function<void(const std::string&, double)>& visit) {
  std::vector<double> at;
  for (double x = 0.0; x < 200.0; x += 0.5) at.push_back(x);
  for (double x = 200.0; x < 1e6; x *= 1.01) at.push_back(x);
  std::vector<double> all;
  for (auto x = at.rbegin(); x != at.rend(); ++x) all.push_back(500.0 - *x);
  for (std::size_t i = 1; i < at.size(); ++i) all.push_back(500.0 + at[i]);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double left = i == 0 ? all[i] : all[i - 1];
    const double right = i + 1 == all.size() ? all[i] : all[i + 1];
    visit(fmt::format("{:.17g}", all[i]), 0.5 * (right - left));
  }
}

/// x > 0 in even steps of its logarithm: dx = x d log x.
void over_the_positive(const std::function<void(const std::string&, double)>& visit) {
  constexpr double kStep = 0.02;
  for (double log_x = -16.0; log_x < 20.0; log_x += kStep)
    visit(fmt::format("{:.17g}", std::exp(log_x)), kStep * std::exp(log_x));
}

auto over_counts(std::size_t end) {
  return [end](const std::function<void(const std::string&, double)>& visit) {
    for (std::size_t n = 0; n < end; ++n) visit(std::to_string(n), 1.0);
  };
}

std::string codebook_of(const std::string& kind, const std::string& more = "") {
  return "[[column]]\nname=\"x\"\nkind=\"" + kind + "\"\n" + more;
}

std::vector<DensityColumn> real_columns() {
  const std::vector<std::string> reals =
      cells_of([](std::size_t i) { return fmt::format("{:.4f}", real_value(i)); });
  return {{"plain", reals, codebook_of("real"), false, 0, "auto", over_the_line},
          {"standardized", reals, codebook_of("real"), true, 0, "auto", over_the_line},
          {"component", reals, codebook_of("real"), false, 1, "auto", over_the_line},
          {"standardized_component", reals, codebook_of("real"), true, 1, "auto", over_the_line}};
}

std::vector<DensityColumn> columns_of_any_kind() {
  const auto positive = [](std::size_t i) {
    return fmt::format("{}",
                       std::exp((i % 2 == 0 ? 0.5 : 3.0) + 0.4 * std::sin(5.0 * static_cast<double>(i))));
  };
  const auto with_zeros = [&](std::size_t i) { return i % 5 == 0 ? std::string("0") : positive(i); };
  const auto count = [](std::size_t i) { return std::to_string((i % 2 == 0 ? 2 : 9) + i % 3); };
  const auto at_zero_too = [](const auto& rule) {
    return [rule](const std::function<void(const std::string&, double)>& visit) {
      visit("0", 1.0);
      rule(visit);
    };
  };
  std::vector<DensityColumn> columns{
      {"logarithm", cells_of(positive), codebook_of("real", "transform=\"log\"\n"), false, 0, "auto",
       over_the_positive},
      {"logarithm_standardized", cells_of(positive), codebook_of("real", "transform=\"log\"\n"), true, 0,
       "auto", over_the_positive},
      {"logarithm_with_hurdle", cells_of(with_zeros), codebook_of("real", "transform=\"log\"\nhurdle=0\n"),
       false, 0, "auto", at_zero_too(over_the_positive)},
      {"hurdle", cells_of([](std::size_t i) {
         return i % 5 == 0 ? std::string("0") : fmt::format("{:.4f}", real_value(i));
       }),
       codebook_of("real", "hurdle=0\n"), false, 0, "auto", at_zero_too(over_the_line)},
      {"resolution", cells_of([](std::size_t i) { return fmt::format("{:.0f}", real_value(i)); }),
       codebook_of("real", "resolution=1\n"), true, 0, "auto", over_the_line},
      {"binary", cells_of([](std::size_t i) { return std::to_string(i % 3 == 0); }), codebook_of("binary"),
       false, 0, "auto", over_counts(2)},
      {"binomial", cells_of(count), codebook_of("count", "family=\"binomial\"\ntrials=15\n"), false, 0,
       "auto", over_counts(16)},
      {"poisson", cells_of(count), codebook_of("count", "family=\"poisson\"\nshape=3\nrate=2\n"), false, 0,
       "auto", over_counts(300)},
      {"negative_binomial", cells_of(count),
       codebook_of("count", "family=\"negative-binomial\"\nsize=2\na=30\nb=3\n"), false, 0, "auto",
       over_counts(600)},
      {"count_with_hurdle", cells_of([&](std::size_t i) { return i % 5 == 0 ? std::string("0") : count(i); }),
       codebook_of("count", "family=\"poisson\"\nshape=3\nrate=2\nhurdle=0\n"), false, 0, "auto",
       over_counts(300)},
      {"category", cells_of([](std::size_t i) { return std::string(1, "abc"[i % 3]); }),
       codebook_of("category", "levels=[\"a\", \"b\", \"c\"]\n"), false, 0, "auto",
       [](const std::function<void(const std::string&, double)>& visit) {
         for (const char* level : {"a", "b", "c"}) visit(level, 1.0);
       }}};
  for (DensityColumn& column : real_columns()) columns.push_back(std::move(column));
  return columns;
}

struct DensityCase {
  DensityModel model;
  DensityColumn column;
};

std::vector<DensityCase> density_cases() {
  const std::vector<DensityModel> models{
      {"nrmm", "nrmm"},
      {"nrmm_learned", "nrmm", kLearnedHyper},
      {"nrmm_ngg", "nrmm", kFixedHyper, {"process=\"ngg\""}},
      {"rbhmc", "rbhmc", kFixedHyper, {"penalty=0"}},
      {"rbhmc_learned", "rbhmc", kLearnedHyper, {"penalty=0"}},
      {"bhc", "bhc"},
      {"bhcc", "bhcc"},
      {"crosscat", "crosscat"},
      {"crosscat_learned", "crosscat", kLearnedHyper, {"learn=\"alpha-rows,alpha-columns\""}}};
  std::vector<DensityCase> cases;
  for (const DensityModel& model : models)
    for (const DensityColumn& column : columns_of_any_kind()) cases.push_back({model, column});
  for (const char* hyper : {kFixedHyper, kLearnedHyper})
    for (const DensityColumn& column : real_columns())
      cases.push_back({{hyper == kFixedHyper ? "nhcm" : "nhcm_learned", "nhcm", hyper}, column});
  return cases;
}

class PredictDensity : public RunTest, public testing::WithParamInterface<DensityCase> {};

TEST_P(PredictDensity, IntegratesToOneInTheUnitsOfTheData) {
  const DensityModel& model = GetParam().model;
  const DensityColumn& column = GetParam().column;
  std::string csv = "x\n";
  for (const std::string& cell : column.cells) csv += cell + "\n";
  const auto run = make_run({.csv = csv,
                             .family = column.family,
                             .codebook = column.codebook,
                             .parameters = test::settings_from(model.parameters),
                             .draws = 20,
                             .standardize = column.standardize,
                             .pca = column.pca,
                             .model = model.model,
                             .hyper = model.hyper});
  std::string grid = "x\n";
  std::vector<double> weights;
  column.points([&](const std::string& cell, double weight) {
    grid += cell + "\n";
    weights.push_back(weight);
  });
  const std::vector<Prediction> predictions = predict(*run, new_rows(*run, grid), Labels(kRows, 0));
  double total = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) total += weights[i] * std::exp(predictions[i].log_density);
  // The grids end where a thousandth is left at most, and trapezoids do the rest; sums are exact.
  const bool is_sum = weights.front() == 1.0 && weights.back() == 1.0;
  EXPECT_NEAR(total, 1.0, is_sum ? 1e-9 : 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Models, PredictDensity, testing::ValuesIn(density_cases()), [](const auto& info) {
  return info.param.model.name + "_" + info.param.column.name;
});

struct WordsModel {
  const char* name;
  const char* model;
  std::vector<std::string> parameters = {};
};
class PredictWords : public RunTest, public testing::WithParamInterface<WordsModel> {};

/// Rows of as many words: given their number, probabilities sum to one.
TEST_P(PredictWords, SumToOneOverRowsOfOneLength) {
  const std::string column = "[[column]]\nkind=\"count\"\nname=";
  const auto run = make_run({.csv = "u,v,w\n3,0,1\n2,1,0\n0,4,1\n1,5,0\n0,6,2\n5,0,0\n4,1,1\n0,3,0\n",
                             .family = "multinomial",
                             .codebook = column + "\"u\"\n" + column + "\"v\"\n" + column + "\"w\"\n",
                             .parameters = test::settings_from(GetParam().parameters),
                             .draws = 50,
                             .model = GetParam().model});
  constexpr int kWords = 5;
  std::string grid = "u,v,w\n";
  for (int u = 0; u <= kWords; ++u)
    for (int v = 0; u + v <= kWords; ++v) grid += fmt::format("{},{},{}\n", u, v, kWords - u - v);
  double total = 0.0;
  for (const Prediction& prediction : predict(*run, new_rows(*run, grid), Labels(8, 0)))
    total += std::exp(prediction.log_density);
  EXPECT_NEAR(total, 1.0, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Models, PredictWords,
                         testing::Values(WordsModel{"nrmm", "nrmm"},
                                         WordsModel{"nrmm_ngg", "nrmm", {"process=\"ngg\""}},
                                         WordsModel{"rbhmc", "rbhmc", {"penalty=0"}},
                                         WordsModel{"bhc", "bhc"}),
                         [](const auto& info) { return std::string(info.param.name); });

class PredictRotated : public RunTest {};

/// All components of two columns: the integral over both.
TEST_F(PredictRotated, IntegratesToOneInTheUnitsOfTheColumns) {
  std::string csv = "x,y\n";
  for (std::size_t i = 0; i < kRows; ++i) {
    const double other = 30.0 + 3.0 * std::cos(3.0 * static_cast<double>(i)) + 0.2 * (real_value(i) - 500.0);
    csv += fmt::format("{:.4f},{:.4f}\n", real_value(i), other);
  }
  const auto run = make_run({.csv = csv, .draws = 10, .standardize = true, .pca = 2});
  // Trapezoids in x = center + scale sinh(t): exponentially accurate, and it reaches the tails.
  constexpr double kReach = 9.0;
  constexpr int kSteps = 180;
  constexpr double kStep = 2.0 * kReach / kSteps;
  std::string grid = "x,y\n";
  std::vector<double> weights;
  for (int i = 0; i <= kSteps; ++i)
    for (int k = 0; k <= kSteps; ++k) {
      const double s = -kReach + i * kStep;
      const double t = -kReach + k * kStep;
      grid += fmt::format("{:.17g},{:.17g}\n", 502.0 + 6.0 * std::sinh(s), 30.0 + 2.0 * std::sinh(t));
      weights.push_back(6.0 * std::cosh(s) * 2.0 * std::cosh(t) * kStep * kStep);
    }
  const std::vector<Prediction> predictions = predict(*run, new_rows(*run, grid), Labels(kRows, 0));
  double total = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) total += weights[i] * std::exp(predictions[i].log_density);
  EXPECT_NEAR(total, 1.0, 5e-3);
}

}  // namespace
}  // namespace coppice
