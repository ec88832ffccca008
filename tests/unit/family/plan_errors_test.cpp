// Everything a plan refuses, with its words: they name the column, the value and the remedy.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/family/tables.hpp"

namespace coppice::test {
namespace {

Table two_reals() { return real_table(2, 30); }

Codebook codebook_for(const std::string& column, const std::string& family,
                      const std::vector<std::string>& settings) {
  Codebook codebook;
  codebook.columns = {{column, Kind::real, {}, family, set(settings)}};
  return codebook;
}

TEST(PlanErrors, NoColumn) { EXPECT_EQ(refusal({}, "auto"), "there is no column left to model"); }

TEST(PlanErrors, UnknownFamily) {
  std::string families = "the families are auto";
  for (const FamilyEntry& entry : all_families()) families += ", " + entry.name;
  EXPECT_EQ(refusal(two_reals(), "gausian"), "family gausian: there is no such family; " + families);
  EXPECT_EQ(refusal(two_reals(), "auto", {}, codebook_for("x1", "normal", {})),
            "family normal: there is no such family; " + families);
}

TEST(PlanErrors, WrongKind) {
  const Table table = make_table({category_column("town", {0, 1}, {"A", "B"})});
  EXPECT_EQ(refusal(table, "gaussian"),
            "family gaussian cannot model the category column 'town': its cells are words; use --family "
            "auto, --drop town, or "
            "give the column "
            "another family in the codebook");
  EXPECT_NE(refusal(two_reals(), "bernoulli"), "accepted");
  EXPECT_NE(refusal(two_reals(), "poisson"), "accepted");
  EXPECT_NE(refusal(two_reals(), "categorical"), "accepted");
  EXPECT_NE(refusal(make_table({count_column("n", {1, 2})}), "bernoulli"), "accepted");
  EXPECT_NE(refusal(two_reals(), "auto", {}, codebook_for("x1", "binomial", {})), "accepted");
}

TEST(PlanErrors, MissingCells) {
  Table reals = two_reals();
  reals.columns[1].values[3] = kMissing;
  EXPECT_EQ(refusal(reals, "gaussian"),
            "family gaussian needs complete rows, but column 'x2' has missing cells: use gaussian-diagonal");
  const Table counts = make_table({count_column("n", {1, kMissing})});
  EXPECT_EQ(refusal(counts, "multinomial"),
            "family multinomial needs complete rows, but column 'n' has missing cells: use poisson");
}

TEST(PlanErrors, UnknownSettings) {
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"dofs=3"}),
            "--set dofs: no family in use has that hyper-parameter; they have prior_mean, mean_strength, "
            "dof, scale, preset");
  const Table mixed = make_table({real_column("x", {1, 2}), count_column("n", {1, 2})});
  EXPECT_EQ(refusal(mixed, "auto", {"trials=3"}),
            "--set trials: no family in use has that hyper-parameter; they have prior_mean, mean_strength, "
            "shape, rate, within_fraction");
  EXPECT_EQ(
      refusal(mixed, "auto", {}, codebook_for("x", "", {"trials=3"})),
      "codebook: column 'x': family gaussian-diagonal has no hyper-parameter 'trials'; it has prior_mean, "
      "mean_strength, shape, rate, within_fraction");
}

TEST(PlanErrors, VectorsOfTheWrongLength) {
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"prior_mean=[1, 2, 3]"}),
            "--set prior_mean=[1, 2, 3]: give a number, or an array of 2 numbers (one for each column)");
  EXPECT_EQ(refusal(two_reals(), "gaussian-diagonal", {"rate=[[1, 2]]"}),
            "--set rate=[[1, 2]]: give a number, or an array of 2 numbers (one for each column)");
  EXPECT_EQ(refusal(two_reals(), "gaussian-diagonal", {"rate=\"big\""}),
            "--set rate=\"big\": give a number, or an array of 2 numbers (one for each column)");
  EXPECT_EQ(refusal(two_reals(), "gaussian-diagonal", {"rate=[]"}),
            "--set rate=[]: give a number, or an array of 2 numbers (one for each column)");
  EXPECT_EQ(refusal(two_reals(), "gaussian-diagonal", {}, codebook_for("x1", "", {"rate=[1, 2]"})),
            "codebook: column 'x1': rate must be a number");
}

TEST(PlanErrors, ValuesOutOfRange) {
  EXPECT_EQ(refusal(two_reals(), "gaussian-diagonal", {"shape=[1, 0]"}),
            "--set shape=0 for column 'x2' must be greater than 0");
  EXPECT_EQ(refusal(two_reals(), "gaussian-known", {"noise_variance=-1"}),
            "--set noise_variance=-1 for column 'x1' must be greater than 0");
  EXPECT_EQ(refusal(two_reals(), "gaussian-diagonal", {"rate=nan"}),
            "--set rate=nan for column 'x1' must be a finite number");
  EXPECT_EQ(refusal(two_reals(), "gaussian-diagonal", {"rate=inf"}),
            "--set rate=inf for column 'x1' must be a finite number");
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"prior_mean=-inf"}),
            "--set prior_mean=-inf for column 'x1' must be a finite number");
  EXPECT_EQ(refusal(two_reals(), "gaussian-diagonal", {}, codebook_for("x2", "", {"mean_strength=0"})),
            "column 'x2': mean_strength = 0 must be greater than 0");
  for (const std::string setting : {"a=0", "b=-2"})
    EXPECT_NE(refusal(make_table({binary_column("y", {0, 1})}), "auto", {setting}), "accepted");
}

TEST(PlanErrors, Trials) {
  const Table table = make_table({count_column("n", {1, 4, 2})});
  const std::string rest = " must be a whole number of at least 4, its largest value";
  EXPECT_EQ(refusal(table, "binomial", {"trials=3"}), "--set trials=3 for column 'n'" + rest);
  EXPECT_EQ(refusal(table, "binomial", {"trials=4.5"}), "--set trials=4.5 for column 'n'" + rest);
  EXPECT_EQ(refusal(table, "binomial", {"trials=4"}), "accepted");
}

TEST(PlanErrors, Concentrations) {
  const Table table = make_table({category_column("c", {0, 1, 2}, {"x", "y", "z"})});
  EXPECT_EQ(
      refusal(table, "auto", {"concentration=[1, 2]"}),
      "--set concentration=[1, 2] for column 'c' must be a number, or an array of 3 (one for each level)");
  EXPECT_EQ(
      refusal(table, "auto", {"concentration=\"flat\""}),
      "--set concentration=\"flat\" for column 'c' must be a number, or an array of 3 (one for each level)");
  EXPECT_EQ(refusal(table, "auto", {"concentration=[1, 0, 2]"}),
            "--set concentration=[1, 0, 2] for column 'c' must be finite and greater than 0");
  EXPECT_EQ(refusal(table, "auto", {"concentration=inf"}),
            "--set concentration=inf for column 'c' must be finite and greater than 0");
  const Table counts = make_table({count_column("n", {1, 4}), count_column("m", {1, 4})});
  EXPECT_EQ(refusal(counts, "multinomial", {"concentration=[1, 0]"}),
            "--set concentration=0 for column 'm' must be greater than 0");
}

TEST(PlanErrors, GaussianNumbers) {
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"dof=1"}),
            "--set dof=1 must be a finite number greater than 1");
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"dof=inf"}),
            "--set dof=inf must be a finite number greater than 1");
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"dof=[4, 4]"}), "--set dof=[4, 4] must be a number");
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"mean_strength=0"}),
            "--set mean_strength=0 must be a finite number greater than 0");
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"mean_strength=\"weak\""}),
            "--set mean_strength=\"weak\" must be a number");
}

TEST(PlanErrors, GaussianScales) {
  const std::string rest =
      ": give a 2 x 2 matrix, an array of 2 (its diagonal) or a number (times the identity)";
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"scale=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]"}),
            "--set scale=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]" + rest);
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"scale=[[1, 0]]"}), "--set scale=[[1, 0]]" + rest);
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"scale=[1, 2, 3]"}), "--set scale=[1, 2, 3]" + rest);
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"scale=\"one\""}), "--set scale=\"one\"" + rest);
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"scale=[[1, 0.5], [0.4, 1]]"}),
            "--set scale: the matrix is not symmetric (entry 1,2 differs from 2,1)");
  for (const std::string scale : {"[[1, 2], [2, 1]]", "[1, -1]", "0", "-3"})
    EXPECT_EQ(refusal(two_reals(), "gaussian", {"scale=" + scale}),
              "gaussian: scale must be a symmetric positive definite 2 x 2 matrix")
        << scale;
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"scale=nan"}), "--set scale=nan: every number must be finite");
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"scale=[1, inf]"}),
            "--set scale=[1, inf]: every number must be finite");
}

TEST(PlanErrors, GaussianPresets) {
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"preset=\"icml\""}),
            "--set preset=\"icml\": the only preset is \"nips2015\"");
  EXPECT_EQ(refusal(two_reals(), "gaussian", {"preset=1"}),
            "--set preset=1: the only preset is \"nips2015\"");
  Table constant = two_reals();
  for (double& value : constant.columns[1].values) value = 3.0;
  EXPECT_EQ(refusal(constant, "gaussian", {"preset=\"nips2015\""}),
            "--set preset=\"nips2015\": the covariance of the columns is singular (a constant column, or one "
            "that follows "
            "from the others): drop such columns, or leave the preset out");
}

TEST(PlanErrors, WhatTheColumnsOfAGaussianShareIsNotInTheCodebook) {
  // It used to be ignored, which is worse than an error.
  EXPECT_EQ(
      refusal(two_reals(), "gaussian", {}, codebook_for("x1", "", {"dof=9"})),
      "codebook: column 'x1': dof is shared by all columns of family gaussian: give --set dof=9 instead");
}

TEST(PlanErrors, TooManyColumnsForAFullCovariance) {
  EXPECT_EQ(refusal(real_table(257, 3), "gaussian"),
            "family gaussian takes at most 256 columns, not 257: use gaussian-diagonal or --pca");
  EXPECT_EQ(refusal(real_table(256, 3), "gaussian"), "accepted");
}

}  // namespace
}  // namespace coppice::test
