// What a change of units or of the order of columns must not change: differences of log marginals between
// partitions, at the values from which learning begins and at values drawn from the hyper-prior.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "coppice/data/codebook.hpp"
#include "coppice/family/plan.hpp"
#include "learned/learned_case.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kRows = 24;

Table made_table() {
  Table table;
  const Rows cells = made_rows(kRows, 3, 0.0, 21);
  for (std::size_t j = 0; j < 3; ++j) {
    Column column{fmt::format("c{}", j), Kind::real, {}, {}};
    for (std::size_t i = 0; i < kRows; ++i) column.values.push_back(cells[i][j]);
    table.columns.push_back(column);
  }
  for (std::size_t i = 0; i < kRows; ++i) table.row_ids.push_back(fmt::format("{}", i));
  return table;
}

/// log p(two clusters) - log p(one), with learned values drawn with this seed (0: where learning begins).
double log_odds(const Table& table, const std::string& family, bool learn, std::uint64_t seed) {
  const FamilyPlan plan = plan_family(table, Codebook(), family, {}, false, {.learns_hyper = learn});
  const Rows rows = encode(plan, table);
  EXPECT_EQ(plan.family->hyper_size() != 0, learn);
  if (seed != 0) {
    Stream stream({seed, 0, 0}, Purpose::test, 5);
    plan.family->draw_hyper_prior(stream);
  }
  const auto log_marginal = [&](std::size_t begin, std::size_t end) {
    return plan.family->log_marginal(stats_of(*plan.family, rows, begin, end).data());
  };
  return log_marginal(0, kRows / 3) + log_marginal(kRows / 3, kRows) - log_marginal(0, kRows);
}

class Invariance : public ::testing::TestWithParam<std::string> {};

TEST_P(Invariance, UnitsAndOriginsChangeNoPartition) {
  const Table table = made_table();
  for (const double factor : {1000.0, 1e-6, 1e60, 1e-60})
    for (const double offset : {0.0, 50.0}) {
      Table other = table;
      for (double& value : other.columns[1].values) value = factor * (value + offset);
      for (const std::uint64_t seed : {0U, 1U, 2U, 3U})
        EXPECT_NEAR(log_odds(table, GetParam(), true, seed), log_odds(other, GetParam(), true, seed), 1e-7)
            << factor << ", " << offset << ", " << seed;
      EXPECT_NEAR(log_odds(table, GetParam(), false, 0), log_odds(other, GetParam(), false, 0), 1e-7);
    }
}

TEST_P(Invariance, TheOrderOfColumnsChangesNoPartition) {
  const Table table = made_table();
  Table other = table;
  std::rotate(other.columns.begin(), other.columns.begin() + 1, other.columns.end());
  for (const bool learn : {false, true})
    EXPECT_NEAR(log_odds(table, GetParam(), learn, 0), log_odds(other, GetParam(), learn, 0), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Families, Invariance, ::testing::Values("gaussian", "gaussian-diagonal"),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           return info.param == "gaussian" ? "gaussian" : "gaussian_diagonal";
                         });

/// The hyper-prior of the block knows no order either: the same values for permuted columns are as probable,
/// and give the rows the same density.
TEST(Invariance, LearnedValuesOfABlockGoWithTheirColumns) {
  constexpr std::size_t kColumns = 4;
  const std::size_t order[] = {2, 0, 3, 1};
  Gaussian block = learned_block(kColumns, kRows);
  Gaussian permuted = block;
  const Rows rows = made_rows(kRows, kColumns, 0.0, 22);
  Rows permuted_rows = rows;
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t j = 0; j < kColumns; ++j) permuted_rows[i][j] = rows[i][order[j]];
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::vector<double> values = some_values(block, seed);
    GaussianPrior prior(kColumns);
    prior.set_values(values.data());
    const Eigen::MatrixXd omega = prior.covariance();
    Eigen::MatrixXd moved(kColumns, kColumns);
    std::vector<double> others = values;
    // Three numbers of the block, the means, the targets, and the factor of Omega by columns.
    for (std::size_t j = 0; j < kColumns; ++j) {
      others[3 + j] = values[3 + order[j]];
      others[3 + kColumns + j] = values[3 + kColumns + order[j]];
      for (std::size_t i = 0; i < kColumns; ++i)
        moved(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
            omega(static_cast<Eigen::Index>(order[i]), static_cast<Eigen::Index>(order[j]));
    }
    const Eigen::MatrixXd lower = moved.llt().matrixL();
    double* packed = others.data() + 3 + 2 * kColumns;
    for (Eigen::Index j = 0; j < lower.cols(); ++j)
      for (Eigen::Index i = j; i < lower.rows(); ++i) *packed++ = lower(i, j);
    block.set_hyper(values.data());
    permuted.set_hyper(others.data());
    EXPECT_NEAR(block.log_hyper_prior(), permuted.log_hyper_prior(),
                1e-8 * std::abs(block.log_hyper_prior()));
    EXPECT_NEAR(block.log_marginal(stats_of(block, rows, 0, kRows).data()),
                permuted.log_marginal(stats_of(permuted, permuted_rows, 0, kRows).data()), 1e-8);
  }
}

}  // namespace
}  // namespace coppice::test
