// Families that are named take columns that were read as another kind if the values fit.
#include "coppice/family/adopt_kinds.hpp"

#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "coppice/family/plan.hpp"

namespace coppice {
namespace {

Table one_column(Kind kind, std::vector<double> values) {
  Table table;
  for (std::size_t row = 0; row < values.size(); ++row) table.row_ids.push_back(std::to_string(row + 1));
  table.columns.push_back({"x", kind, std::move(values), {}});
  return table;
}

TEST(AdoptKinds, WholeNumbersAreCountsForFamiliesOfCounts) {
  for (const char* family : {"binomial", "poisson"}) {
    Table table = one_column(Kind::real, {20, kMissing, 23, 21});
    Codebook codebook{{{"x", Kind::real, {}, "", {}}}, ""};
    adopt_kinds(table, codebook, family);
    EXPECT_EQ(table.columns[0].kind, Kind::count);
    EXPECT_EQ(codebook.columns[0].kind, Kind::count);
    EXPECT_EQ(plan_family(table, codebook, family, {}).blocks[0].family, family);
  }
}

TEST(AdoptKinds, TheCodebookNamesFamiliesOfColumns) {
  Table table = one_column(Kind::count, {0, 1, 1, kMissing});
  Codebook codebook{{{"x", Kind::count, {}, "bernoulli", {}}}, ""};
  adopt_kinds(table, codebook, "auto");
  EXPECT_EQ(table.columns[0].kind, Kind::binary);
}

TEST(AdoptKinds, WholeNumbersAreLevelsInTheirOrder) {
  Table table = one_column(Kind::real, {10, 2, kMissing, -3, 10});
  Codebook codebook{{{"x", Kind::real, {}, "", {}}}, ""};
  adopt_kinds(table, codebook, "categorical");
  EXPECT_EQ(table.columns[0].levels, (std::vector<std::string>{"-3", "2", "10"}));
  EXPECT_EQ(codebook.columns[0].levels, table.columns[0].levels);
  EXPECT_EQ(table.columns[0].text(0), "10");
  EXPECT_EQ(table.columns[0].text(3), "-3");
  EXPECT_TRUE(is_missing(table.columns[0].values[2]));
}

TEST(AdoptKinds, WhatDoesNotFitStaysAndIsToldInOneLine) {
  for (const auto& [family, words] : {std::pair{"poisson", "1.5 is not a whole number of at least 0"},
                                      std::pair{"bernoulli", "1.5 is neither 0 nor 1"},
                                      std::pair{"categorical", "1.5 is not a whole number"}}) {
    Table table = one_column(Kind::real, {1, 1.5, 0});
    Codebook codebook;
    adopt_kinds(table, codebook, family);
    EXPECT_EQ(table.columns[0].kind, Kind::real);
    try {
      plan_family(table, codebook, family, {});
      FAIL() << family;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::configuration);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(AdoptKinds, TheFirstKindThatFitsAndLevelsLast) {
  const auto kind_of = [](Kind inferred, std::vector<double> values, const char* family) {
    Table table = one_column(inferred, std::move(values));
    Codebook codebook;
    adopt_kinds(table, codebook, family);
    return table.columns[0].kind;
  };
  EXPECT_EQ(kind_of(Kind::binary, {0, 1}, "poisson"), Kind::count);  // more may come
  EXPECT_EQ(kind_of(Kind::count, {0, 7}, "gaussian"), Kind::real);
  EXPECT_EQ(kind_of(Kind::binary, {0, 1, 1}, "categorical"), Kind::binary);
  EXPECT_EQ(kind_of(Kind::count, {0, 2, 1}, "categorical"), Kind::category);
  EXPECT_EQ(kind_of(Kind::real, {-1, 2}, "poisson"), Kind::real);
}

TEST(AdoptKinds, NothingChangesWithoutAName) {
  Table table = one_column(Kind::real, {20, 23, 21});
  Codebook codebook;
  adopt_kinds(table, codebook, "auto");
  EXPECT_EQ(table.columns[0].kind, Kind::real);
}

}  // namespace
}  // namespace coppice
