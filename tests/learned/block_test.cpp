// The Gaussian block with a learned prior as a family: its statistics under other values, its missing cells.
#include <gtest/gtest.h>

#include "learned/learned_case.hpp"
#include "support/monte_carlo.hpp"

namespace coppice::test {
namespace {

TEST(LearnedBlock, IsTheGaussianWithThePriorItHas) {
  for (const std::size_t d : {1U, 2U, 5U, 20U}) {
    const double sd = 3.0;
    Gaussian block = learned_block(d, 30, sd);
    const std::vector<double> values = some_values(block, d);
    block.set_hyper(values.data());
    // The same prior, given: rows are measured from its mean.
    std::vector<double> mean;
    std::vector<double> scale(d * d, 0.0);
    const double* packed = values.data() + 3 + 2 * d;
    std::vector<double> lower(d * d, 0.0);
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t i = j; i < d; ++i) lower[i * d + j] = *packed++ * sd * std::sqrt(values[1]);
    for (std::size_t i = 0; i < d; ++i) {
      mean.push_back(sd * values[3 + i]);
      for (std::size_t j = 0; j < d; ++j)
        for (std::size_t k = 0; k < d; ++k) scale[i * d + j] += lower[i * d + k] * lower[j * d + k];
    }
    const Gaussian given(mean, values[0], values[1], scale, 30);
    const Rows rows = made_rows(12, d, 0.0, 3);
    Rows from_mean = rows;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < d; ++j) from_mean[i][j] -= mean[j];
    std::vector<double> a = stats_of(block, rows, 0, 5);
    std::vector<double> b = stats_of(given, from_mean, 0, 5);
    const auto same = [&](double x, double y) { EXPECT_NEAR(x, y, 1e-9 * (1.0 + std::abs(y))) << d; };
    same(block.log_marginal(a.data()), given.log_marginal(b.data()));
    same(block.log_predictive(a.data(), rows[7]), given.log_predictive(b.data(), from_mean[7]));
    block.merge(a.data(), stats_of(block, rows, 5, 12).data());
    given.merge(b.data(), stats_of(given, from_mean, 5, 12).data());
    same(block.log_marginal(a.data()), given.log_marginal(b.data()));
    same(block.log_marginal(a.data()), block.log_marginal(stats_of(block, rows, 0, 12).data()));
    ASSERT_TRUE(block.remove(a.data(), rows[3]));
    ASSERT_TRUE(given.remove(b.data(), from_mean[3]));
    same(block.log_marginal(a.data()), given.log_marginal(b.data()));
    std::vector<double> alone(rows.size());
    block.log_marginals_alone(rows.cells.data(), rows.size(), alone.data());
    for (std::size_t i = 0; i < rows.size(); ++i)
      same(alone[i], block.log_marginal(stats_of(block, rows, i, i + 1).data()));
    same(block.predict_cell(a.data(), 0).mean, given.predict_cell(b.data(), 0).mean);
    same(block.predict_cell(a.data(), 0).variance, given.predict_cell(b.data(), 0).variance);
  }
}

TEST(LearnedBlock, RebasedStatisticsAreThoseOfTheRows) {
  for (const std::size_t d : {1U, 3U, 24U}) {
    Gaussian block = learned_block(d, 60, 0.2);
    const Rows rows = made_rows(40, d, 0.0, 5);
    std::vector<double> stats = stats_of(block, rows, 0, 40);
    std::vector<double> before(block.hyper_size());
    for (std::uint64_t change = 1; change <= 20; ++change) {
      block.get_hyper(before.data());
      block.set_hyper(some_values(block, change).data());
      block.rebase(stats.data(), before.data());
      const std::vector<double> recomputed = stats_of(block, rows, 0, 40);
      for (std::size_t i = 0; i < stats.size(); ++i)
        ASSERT_NEAR(stats[i], recomputed[i], 1e-7 * (1.0 + std::abs(recomputed[i])))
            << d << " " << i << " " << change;
    }
    block.clear(stats.data());
    std::vector<double> empty = stats;
    block.get_hyper(before.data());
    block.set_hyper(some_values(block, 99).data());
    block.rebase(stats.data(), before.data());
    block.clear(empty.data());
    EXPECT_EQ(stats, empty);
  }
}

TEST(LearnedBlock, PresentCellsAreJudgedAlikeOneByOneAndEightAtATime) {
  for (const std::size_t d : {2U, 5U, 13U, 20U}) {
    Gaussian block = learned_block(d, 40);
    block.set_hyper(some_values(block, 2 * d).data());
    const Rows complete = made_rows(36, d, 0.0, 8);
    const Rows holes = made_rows(30, d, 0.4, 9);
    std::vector<std::vector<double>> stats;
    for (std::size_t c = 0; c < 11; ++c) stats.push_back(stats_of(block, complete, 0, 3 * c));
    const std::size_t stride = block.cache_size() * kLanes;
    AlignedVector cache(2 * stride);
    for (std::size_t c = 0; c < 16; ++c)
      block.fill_cache(stats[c % 11].data(), cache.data() + c / kLanes * stride + c % kLanes);
    for (std::size_t i = 0; i < holes.size(); ++i) {
      alignas(64) double out[2 * kLanes] = {};
      block.add_log_predictive_of_present(holes[i], cache.data(), stride, 2, out);
      for (std::size_t c = 0; c < 16; ++c) {
        const double one = block.log_predictive(stats[c % 11].data(), holes[i]);
        ASSERT_NEAR(out[c], one, 1e-9 * (1.0 + std::abs(one))) << d << " " << i << " " << c;
      }
    }
  }
}

TEST(LearnedBlock, MissingCellsAreDrawnFromTheirLawGivenTheOthers) {
  const std::size_t d = 4;
  Gaussian block = learned_block(d, 40);
  block.set_hyper(some_values(block, 5).data());
  const Rows rows = made_rows(9, d, 0.0, 6);
  const std::vector<double> stats = stats_of(block, rows, 0, 8);
  std::vector<double> row(rows[8], rows[8] + d);
  row[1] = row[3] = kMissing;
  // Bayes' rule: for draws x of the missing cells, p(x | present) p(present) = p(all). The average of
  // g(x) / (p(all) / p(present)) for a density g is then one, whatever g with light tails.
  RunningMean ratio;
  RunningMean mean;
  RunningMean square;
  const CellPredictive first = block.predict_cell_given(stats.data(), row.data(), 1);
  const CellPredictive second = block.predict_cell_given(stats.data(), row.data(), 3);
  ASSERT_TRUE(std::isfinite(first.variance));
  const double sd_a = std::sqrt(first.variance);
  const double sd_b = std::sqrt(second.variance);
  const double log_present = block.log_predictive(stats.data(), row.data());
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    Stream stream({1, 0, i}, Purpose::test);
    std::vector<double> complete = row;
    block.draw_missing(stats.data(), stream, complete.data());
    ASSERT_EQ(complete[0], row[0]);
    const double a = (complete[1] - first.mean) / sd_a;
    const double b = (complete[3] - second.mean) / sd_b;
    mean.add(a);
    square.add(a * a);
    // A uniform density on a square about the mean.
    const bool inside = std::abs(a) < 0.8 && std::abs(b) < 0.8;
    ratio.add(inside ? std::exp(log_present - block.log_predictive(stats.data(), complete.data())) /
                           (1.6 * sd_a * 1.6 * sd_b)
                     : 0.0);
  }
  expect_mean(ratio, 1.0);
  expect_mean(mean, 0.0);
  EXPECT_NEAR(square.mean(), 1.0, 5.0 * square.standard_error());
  // The density of one cell given the others integrates to one and has that mean.
  double total = 0.0;
  double center = 0.0;
  const double step = sd_a / 50.0;
  for (double x = -60.0 * sd_a; x < 60.0 * sd_a; x += step) {
    const double p =
        std::exp(block.cell_log_predictive_given(stats.data(), row.data(), 1, first.mean + x)) * step;
    total += p;
    center += p * x;
  }
  EXPECT_NEAR(total, 1.0, 1e-3);
  EXPECT_NEAR(center, 0.0, 1e-2 * sd_a);
}

TEST(LearnedBlock, CopiesDoNotShareWhatTheyLearn) {
  const Gaussian block = learned_block(2, 10);
  const std::unique_ptr<Family> copy = block.clone();
  std::vector<double> before(block.hyper_size());
  std::vector<double> after(block.hyper_size());
  block.get_hyper(before.data());
  copy->set_hyper(some_values(block, 1).data());
  block.get_hyper(after.data());
  EXPECT_EQ(before, after);
  EXPECT_EQ(block.hyper_names().size(), block.hyper_size());
  EXPECT_THROW(copy->set_hyper(std::vector<double>(block.hyper_size(), -1.0).data()), Error);
}

}  // namespace
}  // namespace coppice::test
