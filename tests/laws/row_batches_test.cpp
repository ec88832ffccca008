// Batches of rows: log likelihoods of many rows under a few parameters are those of single rows, up to a term
// that depends on the row alone; statistics of many rows are those of rows added one by one; missing cells
// are integrated out, and drawn from their law given the others.
#include "coppice/family/row_batches.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/aligned.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/gaussian.hpp"
#include "laws/law_case.hpp"
#include "support/sampling_error.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kClusters = 3;

std::vector<double> drawn_thetas(const Family& family, const Rows& rows, std::uint64_t seed) {
  std::vector<double> thetas(kClusters * family.theta_size());
  for (std::size_t k = 0; k < kClusters; ++k) {
    Stats stats(family);
    for (std::size_t row = k; row < rows.size(); row += kClusters) stats.add(rows[row]);
    Stream stream({seed, k, 0}, Purpose::test);
    family.draw_theta(stats.data(), stream, thetas.data() + k * family.theta_size());
  }
  return thetas;
}

/// Log likelihoods of rows, cluster after cluster.
std::vector<double> in_batch(const Family& family, const Rows& rows, std::span<const double> thetas) {
  const std::size_t padded = (rows.size() + kLanes - 1) / kLanes * kLanes;
  EXPECT_LE(padded, kTileRows);
  AlignedVector columns(rows.width * kTileRows), out(kClusters * kTileRows, 0.0);
  for (std::size_t i = 0; i < padded; ++i)
    for (std::size_t j = 0; j < rows.width; ++j)
      columns[j * kTileRows + i] = rows[std::min(i, rows.size() - 1)][j];
  row_batches(family).likelihoods(thetas)->add(columns.data(), padded, out.data());
  std::vector<double> values;
  for (std::size_t k = 0; k < kClusters; ++k)
    values.insert(values.end(), out.begin() + static_cast<std::ptrdiff_t>(k * kTileRows),
                  out.begin() + static_cast<std::ptrdiff_t>(k * kTileRows + rows.size()));
  return values;
}

class RowBatchLaws : public ::testing::TestWithParam<LawCase> {};

TEST_P(RowBatchLaws, LikelihoodsAreThoseOfSingleRows) {
  const Fixture fixture(GetParam(), 3, 29);
  const Family& family = fixture.family();
  bool must_fill = false;
  for (std::size_t j = 0; j < family.width(); ++j) must_fill |= family.must_fill(j);
  if (must_fill && GetParam().missing > 0.0) GTEST_SKIP() << "filled cells have a test of their own";
  const std::vector<double> thetas = drawn_thetas(family, fixture.rows, 3);
  const std::vector<double> found = in_batch(family, fixture.rows, thetas);
  for (std::size_t row = 0; row < fixture.rows.size(); ++row)
    for (std::size_t k = 1; k < kClusters; ++k) {
      const auto alone = [&](std::size_t cluster) {
        return family.log_likelihood(thetas.data() + cluster * family.theta_size(), fixture.rows[row]);
      };
      const double expected = alone(k) - alone(0);
      if (!std::isfinite(expected)) continue;  // a probability that underflowed
      EXPECT_NEAR(found[k * fixture.rows.size() + row] - found[row], expected, relative(1e-9, alone(k)))
          << "row " << row << ", cluster " << k;
    }
}

TEST_P(RowBatchLaws, StatisticsAreThoseOfRowsOneByOne) {
  const Fixture fixture(GetParam(), 4, 37);
  const Family& family = fixture.family();
  for (std::size_t j = 0; j < family.width(); ++j)
    if (family.must_fill(j) && GetParam().missing > 0.0) GTEST_SKIP() << "statistics take complete rows";
  std::vector<std::uint32_t> first, second;
  for (std::uint32_t row = 0; row < 37; ++row) (row % 3 == 0 ? first : second).push_back(row);
  Stats one_by_one(family);
  for (const auto* part : {&first, &second})
    for (const std::uint32_t row : *part) one_by_one.add(fixture.rows[row]);
  std::vector<double> stats(family.stats_size());
  family.clear(stats.data());
  for (const auto* part : {&first, &second})
    row_batches(family).add_rows(stats.data(), fixture.rows.cells.data(), fixture.rows.width, *part);
  EXPECT_EQ(count_of(stats.data()), 37.0);
  const double expected = one_by_one.log_marginal();
  EXPECT_NEAR(family.log_marginal(stats.data()), expected, relative(1e-9, expected));
  for (std::size_t row = 0; row < 5; ++row) {
    const double predictive = one_by_one.log_predictive(fixture.rows[row]);
    EXPECT_NEAR(family.log_predictive(stats.data(), fixture.rows[row]), predictive,
                relative(1e-9, predictive));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, RowBatchLaws, ::testing::ValuesIn(law_cases()), CaseName());
INSTANTIATE_TEST_SUITE_P(Learned, RowBatchLaws, ::testing::ValuesIn(learned_cases()), CaseName());

/// Every dimension that has a kernel of its own, and some that have none.
class GaussianBatches : public ::testing::TestWithParam<std::size_t> {
 protected:
  GaussianBatches() : d_(GetParam()) {
    std::vector<double> scale(d_ * d_, 0.2);
    for (std::size_t j = 0; j < d_; ++j) scale[j * d_ + j] = 1.0 + 0.1 * static_cast<double>(j);
    family_.emplace(std::vector<double>(d_, 0.0), 0.3, static_cast<double>(d_) + 2.0, scale, 200);
    rows_.width = d_;
    Stream stream({5, d_, 0}, Purpose::test);
    for (std::size_t i = 0; i < 61 * d_; ++i) rows_.cells.push_back(3.0 + 2.0 * draw_normal(stream));
  }

  std::size_t d_;
  std::optional<Gaussian> family_;
  Rows rows_;
};

TEST_P(GaussianBatches, AreThoseOfSingleRows) {
  const std::vector<double> thetas = drawn_thetas(*family_, rows_, 5);
  const std::vector<double> found = in_batch(*family_, rows_, thetas);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto alone = [&](std::size_t k) {
      return family_->log_likelihood(thetas.data() + k * family_->theta_size(), rows_[row]);
    };
    for (std::size_t k = 1; k < kClusters; ++k)
      EXPECT_NEAR(found[k * rows_.size() + row] - found[row], alone(k) - alone(0), relative(1e-9, alone(k)));
  }
  Stats one_by_one(*family_, rows_, 0, rows_.size());
  std::vector<double> stats(family_->stats_size());
  family_->clear(stats.data());
  std::vector<std::uint32_t> all(rows_.size());
  for (std::uint32_t row = 0; row < all.size(); ++row) all[row] = row;
  family_->add_rows(stats.data(), rows_.cells.data(), d_, all);
  for (std::size_t i = 0; i < stats.size(); ++i)
    EXPECT_NEAR(stats[i], one_by_one.data()[i], relative(1e-10, one_by_one.data()[i])) << "number " << i;
}

TEST_P(GaussianBatches, MissingCellsAreIntegratedOut) {
  if (d_ < 2) GTEST_SKIP() << "a row without cells";
  const std::vector<double> thetas = drawn_thetas(*family_, rows_, 6);
  Rows holes = rows_;
  for (std::size_t row = 0; row < holes.size(); row += 3) holes[row][row % d_] = kMissing;
  const std::vector<double> found = in_batch(*family_, holes, thetas);
  const std::size_t size = family_->theta_size();
  for (std::size_t row = 0; row < holes.size(); row += 15) {
    double integral[kClusters] = {};
    std::vector<double> cells(rows_[row], rows_[row] + d_);
    for (std::size_t k = 0; k < kClusters; ++k)
      for (double x = -60.0; x < 60.0; x += 0.01) {
        cells[row % d_] = x;
        integral[k] += 0.01 * std::exp(family_->log_likelihood(thetas.data() + k * size, cells.data()));
      }
    for (std::size_t k = 1; k < kClusters; ++k)
      EXPECT_NEAR(found[k * rows_.size() + row] - found[row], std::log(integral[k] / integral[0]), 1e-6);
  }
}

TEST_P(GaussianBatches, MissingCellsAreDrawnFromTheirLaw) {
  if (d_ < 2 || d_ > 4) GTEST_SKIP() << "one law for all dimensions";
  const std::vector<double> thetas = drawn_thetas(*family_, rows_, 7);
  const std::size_t hole = d_ - 1;
  std::vector<double> cells(rows_[0], rows_[0] + d_);
  double total = 0.0, mean = 0.0, square = 0.0;
  for (double x = -60.0; x < 60.0; x += 0.01) {
    cells[hole] = x;
    const double density = std::exp(family_->log_likelihood(thetas.data(), cells.data()));
    total += density;
    mean += density * x;
    square += density * x * x;
  }
  std::vector<double> seen, squares;
  for (std::uint64_t draw = 0; draw < 20'000; ++draw) {
    Stream stream({8, d_, draw}, Purpose::test);
    cells[hole] = kMissing;
    family_->draw_missing_given(thetas.data(), stream, cells.data());
    seen.push_back(cells[hole]);
    squares.push_back(cells[hole] * cells[hole]);
  }
  Agreement agreement;
  agreement.check("mean", batch_estimate(seen), mean / total);
  agreement.check("mean square", batch_estimate(squares), square / total);
  EXPECT_TRUE(agreement.holds()) << agreement;
}

INSTANTIATE_TEST_SUITE_P(Dimensions, GaussianBatches,
                         ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 17, 24));

}  // namespace
}  // namespace coppice::test
