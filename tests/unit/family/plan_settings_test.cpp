// Hyper-parameters of a plan: numbers, vectors, matrices, the codebook's per-column values, defaults from the
// data.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "unit/family/tables.hpp"

namespace coppice::test {
namespace {

TEST(PlanSettings, ANumberIsForEveryColumnAndAVectorHasOneEach) {
  const Table table = make_table({binary_column("a", {0, 1}), binary_column("b", {1, 1})});
  const FamilyPlan same = plan_family(table, {}, "auto", set({"a=3", "b=1"}));
  EXPECT_DOUBLE_EQ(prior_cell(same, 0).mean, 0.75);
  EXPECT_DOUBLE_EQ(prior_cell(same, 1).mean, 0.75);
  const FamilyPlan each = plan_family(table, {}, "auto", set({"a=[3, 1]", "b=1"}));
  EXPECT_DOUBLE_EQ(prior_cell(each, 0).mean, 0.75);
  EXPECT_DOUBLE_EQ(prior_cell(each, 1).mean, 0.5);
}

TEST(PlanSettings, TheCodebookWinsOverSet) {
  const Table table = make_table({binary_column("a", {0, 1}), binary_column("b", {1, 1})});
  Codebook codebook;
  codebook.columns = {{"b", Kind::binary, {}, "", set({"a=9"})}};
  const FamilyPlan plan = plan_family(table, codebook, "auto", set({"a=3", "b=1"}));
  EXPECT_DOUBLE_EQ(prior_cell(plan, 0).mean, 0.75);
  EXPECT_DOUBLE_EQ(prior_cell(plan, 1).mean, 0.9);
}

TEST(PlanSettings, ASettingGoesToEveryFamilyThatHasIt) {
  const Table table = make_table({binary_column("a", {0, 1}), count_column("n", {1, 4})});
  Codebook codebook;
  codebook.columns = {{"n", Kind::count, {}, "binomial", set({"trials=8"})}};
  const FamilyPlan plan = plan_family(table, codebook, "auto", set({"a=3", "b=1"}));
  EXPECT_DOUBLE_EQ(prior_cell(plan, 0).mean, 0.75);
  EXPECT_DOUBLE_EQ(prior_cell(plan, 1).mean, 6.0);
}

TEST(PlanSettings, BinomialTrialsDefaultToTheLargestValue) {
  const Table table = make_table({count_column("n", {1, 4, kMissing}), count_column("m", {0, 0, 0})});
  const FamilyPlan plan = plan_family(table, {}, "binomial", {});
  EXPECT_DOUBLE_EQ(prior_cell(plan, 0).mean, 2.0);
  EXPECT_DOUBLE_EQ(prior_cell(plan, 1).mean, 0.5);
}

TEST(PlanSettings, CategoricalWeights) {
  const Table table = make_table({category_column("c", {0, 1, 2}, {"x", "y", "z"})});
  const FamilyPlan plain = plan_family(table, {}, "auto", {});
  EXPECT_EQ(prior_cell(plain, 0).probabilities.size(), 3u);
  EXPECT_DOUBLE_EQ(prior_cell(plain, 0).probabilities[1], 1.0 / 3.0);
  const FamilyPlan weighted = plan_family(table, {}, "auto", set({"concentration=[1, 2, 5]"}));
  EXPECT_DOUBLE_EQ(prior_cell(weighted, 0).probabilities[2], 0.625);
  Codebook codebook;
  codebook.columns = {{"c", Kind::category, {}, "", set({"concentration=[6, 2, 2]"})}};
  const FamilyPlan own = plan_family(table, codebook, "auto", set({"concentration=[1, 2, 5]"}));
  EXPECT_DOUBLE_EQ(prior_cell(own, 0).probabilities[0], 0.6);
}

TEST(PlanSettings, GaussianScaleAsMatrixDiagonalAndNumber) {
  const Table table = real_table(2, 30);
  const std::vector<std::string> rest{"prior_mean=0", "mean_strength=1", "dof=5"};
  const auto plan_with = [&](const std::string& scale) {
    std::vector<std::string> all = rest;
    all.push_back("scale=" + scale);
    return plan_family(table, {}, "gaussian", set(all));
  };
  // E[S] = scale / (dof - 3); the predictive variance of a cell is (k + 1) / k times that.
  const FamilyPlan matrix = plan_with("[[4, 1], [1, 9]]");
  EXPECT_DOUBLE_EQ(prior_cell(matrix, 0).variance, 4.0);
  EXPECT_DOUBLE_EQ(prior_cell(matrix, 1).variance, 9.0);
  const FamilyPlan diagonal = plan_with("[4, 9]");
  EXPECT_DOUBLE_EQ(prior_cell(diagonal, 1).variance, 9.0);
  EXPECT_NE(log_marginal_of_first(matrix, table), log_marginal_of_first(diagonal, table));
  EXPECT_EQ(log_marginal_of_first(plan_with("[[4, 0], [0, 9]]"), table),
            log_marginal_of_first(diagonal, table));
  EXPECT_EQ(log_marginal_of_first(plan_with("[4, 4]"), table), log_marginal_of_first(plan_with("4"), table));
}

TEST(PlanSettings, GaussianPriorMeans) {
  const Table table = real_table(2, 30);
  Codebook codebook;
  codebook.columns = {{"x2", Kind::real, {}, "", set({"prior_mean=-7"})}};
  const FamilyPlan plan = plan_family(table, codebook, "gaussian", set({"prior_mean=[3, 4]"}));
  EXPECT_EQ(plan.family->origin(0), 3.0);
  EXPECT_EQ(plan.family->origin(1), -7.0);
}

TEST(PlanSettings, GaussianDefaultsFollowTheUnits) {
  // The same table in other units differs by the Jacobian alone: n D log(factor) for n rows.
  const Table table = real_table(3, 30);
  Table scaled = table;
  for (Column& column : scaled.columns)
    for (double& value : column.values) value = 1000.0 * value - 5.0;
  for (const std::string family : {"gaussian", "gaussian-diagonal", "gaussian-known"})
    EXPECT_NEAR(log_marginal_of_first(plan_family(scaled, {}, family, {}), scaled),
                log_marginal_of_first(plan_family(table, {}, family, {}), table) - 3.0 * std::log(1000.0),
                1e-9)
        << family;
}

TEST(PlanSettings, TheGaussianPreset) {
  const Table table = real_table(2, 30);
  const FamilyPlan plan = plan_family(table, {}, "gaussian", set({"preset=\"nips2015\""}));
  // dof = D + 6, strength 0.1, scale = covariance with determinant 0.1: E[S] = scale / 5, times 11 for the
  // mean.
  double xx = 0.0;
  double yy = 0.0;
  double xy = 0.0;
  for (std::size_t i = 0; i < 30; ++i) {
    const double x = table.columns[0].values[i] - plan.family->origin(0);
    const double y = table.columns[1].values[i] - plan.family->origin(1);
    xx += x * x / 29.0;
    yy += y * y / 29.0;
    xy += x * y / 29.0;
  }
  const double factor = std::sqrt(0.1 / (xx * yy - xy * xy));
  EXPECT_NEAR(prior_cell(plan, 0).variance, xx * factor / 5.0 * 11.0, 1e-12);
  EXPECT_NEAR(prior_cell(plan, 1).variance, yy * factor / 5.0 * 11.0, 1e-12);
}

TEST(ColumnScale, SkipsMissingCellsAndGivesConstantColumnsASpread) {
  const ColumnScale plain = column_scale(real_column("x", {1, kMissing, 3, 5}));
  EXPECT_DOUBLE_EQ(plain.mean, 3.0);
  EXPECT_DOUBLE_EQ(plain.sd, 2.0);
  EXPECT_EQ(column_scale(real_column("x", {4, 4, 4})).sd, 1.0);
  EXPECT_EQ(column_scale(real_column("x", {0.1, 0.1, 0.1, 0.1})).sd, 1.0);
  EXPECT_EQ(column_scale(real_column("x", {7})).sd, 1.0);
  EXPECT_EQ(column_scale(real_column("x", {})).mean, 0.0);
  EXPECT_EQ(column_scale(real_column("x", {kMissing})).sd, 1.0);
  const ColumnScale far = column_scale(real_column("x", {1e8 + 1, 1e8 + 3, 1e8 + 5}));
  EXPECT_DOUBLE_EQ(far.mean, 1e8 + 3);
  EXPECT_DOUBLE_EQ(far.sd, 2.0);
}

}  // namespace
}  // namespace coppice::test
