// Bayes' rule between theta and the integrated form: averages of likelihoods over prior draws are marginals,
// over posterior draws predictives; a posterior draw cannot be told from the theta that made the rows; and
// rows drawn through theta follow the predictive.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "laws/law_case.hpp"
#include "support/monte_carlo.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

class PriorAverage : public ::testing::TestWithParam<LawCase> {};

TEST_P(PriorAverage, OfLikelihoodsIsTheMarginal) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), 1);  // an outlying row would leave the average without any precision
    const Family& family = fixture.family();
    const Rows& rows = fixture.rows;
    const Stats empty(family);
    Stream stream({seed, 0, 0}, Purpose::test, 1);
    std::vector<double> theta(family.theta_size());
    std::vector<RunningMean> averages(4);
    std::vector<Stats> first(4, empty);  // statistics of rows 0 .. count - 1
    for (std::size_t count = 1; count <= 3; ++count) {
      first[count] = first[count - 1];
      first[count].add(rows[count - 1]);
    }
    for (int i = 0; i < 200000; ++i) {
      family.draw_theta(empty.data(), stream, theta.data());
      double log_likelihood = 0.0;
      for (std::size_t count = 1; count <= 3; ++count) {
        log_likelihood += family.log_likelihood(theta.data(), rows[count - 1]);
        averages[count].add(std::exp(log_likelihood - first[count].log_marginal()));
      }
    }
    for (std::size_t count = 1; count <= 3; ++count) {
      SCOPED_TRACE(::testing::Message() << count << " rows, seed " << seed);
      expect_mean(averages[count], 1.0);
      EXPECT_LT(averages[count].standard_error(), 0.05) << "too few draws to see an error of 25 %";
    }
  }
}

TEST_P(PriorAverage, AfterThreeRowsIsThePredictiveOfTheNextThree) {
  // A posterior of few rows is wide: a law of theta that is too narrow or too wide by a little shows here
  // first.
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), 1);
    const Family& family = fixture.family();
    const Rows& rows = fixture.rows;
    const Stats stats(family, rows, 0, 3);
    const double log_predictive = Stats(family, rows, 0, 6).log_marginal() - stats.log_marginal();
    Stream stream({seed, 0, 0}, Purpose::test, 6);
    std::vector<double> theta(family.theta_size());
    RunningMean average;
    for (int i = 0; i < 100000; ++i) {
      family.draw_theta(stats.data(), stream, theta.data());
      double log_likelihood = 0.0;
      for (std::size_t k = 3; k < 6; ++k) log_likelihood += family.log_likelihood(theta.data(), rows[k]);
      average.add(std::exp(log_likelihood - log_predictive));
    }
    SCOPED_TRACE(seed);
    expect_mean(average, 1.0);
    EXPECT_LT(average.standard_error(), 0.05) << "too few draws to see an error of 25 %";
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, PriorAverage, ::testing::ValuesIn(narrow_cases()), CaseName());

class BayesRule : public ::testing::TestWithParam<LawCase> {};

TEST_P(BayesRule, PosteriorAverageOfLikelihoodsIsThePredictive) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), 1);  // an outlying row would leave the average without any precision
    const Family& family = fixture.family();
    const Rows& rows = fixture.rows;
    const std::size_t known = rows.size() - 3;
    const Stats stats(family, rows, 0, known);
    Stream stream({seed, 0, 0}, Purpose::test, 2);
    std::vector<double> theta(family.theta_size());
    std::vector<RunningMean> averages(3);
    std::vector<double> log_predictive;
    for (std::size_t i = 0; i < 3; ++i) log_predictive.push_back(stats.log_predictive(rows[known + i]));
    for (int i = 0; i < 20000; ++i) {
      family.draw_theta(stats.data(), stream, theta.data());
      for (std::size_t k = 0; k < 3; ++k)
        averages[k].add(std::exp(family.log_likelihood(theta.data(), rows[known + k]) - log_predictive[k]));
    }
    for (const RunningMean& average : averages) {
      SCOPED_TRACE(seed);
      expect_mean(average, 1.0);
      EXPECT_LT(average.standard_error(), 0.05) << "too few draws to see an error of 25 %";
    }
  }
}

/// Counts how often one of two numbers is the larger; ties are left out.
class SignTest {
 public:
  void add(double a, double b) {
    if (a == b) return;
    wins_ += a > b ? 1.0 : 0.0;
    count_ += 1.0;
  }
  void expect_even() const {
    EXPECT_LT(std::abs(wins_ - 0.5 * count_), kStandardErrors * 0.5 * std::sqrt(count_) + 1e-9)
        << wins_ << " of " << count_;
  }

 private:
  double wins_ = 0.0, count_ = 0.0;
};

TEST_P(BayesRule, PosteriorDrawsAreExchangeableWithTheTruth) {
  // theta ~ prior, rows ~ theta, theta' ~ posterior: given the rows the two thetas are independent draws of
  // the same law, so any comparison of them is even. Needs no moments, so it holds for the heaviest tails and
  // any width.
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Family& family = fixture.family();
    const Stats empty(family);
    Stream stream({seed, 0, 0}, Purpose::test, 3);
    std::vector<double> truth(family.theta_size());
    std::vector<double> drawn(family.theta_size());
    const std::size_t count = 5;
    std::vector<double> rows(count * family.width());
    std::vector<SignTest> coordinates(std::min<std::size_t>(family.theta_size(), 12));
    SignTest likelihoods;
    for (int repeat = 0; repeat < 10000; ++repeat) {
      family.draw_theta(empty.data(), stream, truth.data());
      Stats stats(family);
      for (std::size_t i = 0; i < count; ++i) {
        family.draw(truth.data(), stream, rows.data() + i * family.width());
        stats.add(rows.data() + i * family.width());
      }
      family.draw_theta(stats.data(), stream, drawn.data());
      double difference = 0.0;
      for (std::size_t i = 0; i < count; ++i) {
        const double* row = rows.data() + i * family.width();
        difference += family.log_likelihood(truth.data(), row) - family.log_likelihood(drawn.data(), row);
      }
      likelihoods.add(difference, 0.0);
      for (std::size_t j = 0; j < coordinates.size(); ++j) coordinates[j].add(truth[j], drawn[j]);
    }
    SCOPED_TRACE(seed);
    likelihoods.expect_even();
    for (const SignTest& coordinate : coordinates) coordinate.expect_even();
  }
}

TEST_P(BayesRule, RowsDrawnThroughThetaFollowThePredictive) {
  // For rows from the predictive p, the average of q / p is 1 for every other density q. With q the
  // predictive after a few more rows the ratio is bounded, and the average is sharp.
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Family& family = fixture.family();
    const std::size_t half = fixture.rows.size() / 2;
    const Stats stats(family, fixture.rows, 0, half);
    std::vector<Stats> others;
    others.emplace_back(family, fixture.rows, 0, half + half / 4);
    others.emplace_back(family, fixture.rows, 0, fixture.rows.size());
    Stream stream({seed, 0, 0}, Purpose::test, 4);
    std::vector<double> theta(family.theta_size());
    std::vector<double> row(family.width());
    std::vector<RunningMean> ratios(others.size());
    for (int i = 0; i < 20000; ++i) {
      family.draw_theta(stats.data(), stream, theta.data());
      family.draw(theta.data(), stream, row.data());
      const double log_predictive = stats.log_predictive(row.data());
      for (std::size_t k = 0; k < others.size(); ++k)
        ratios[k].add(std::exp(others[k].log_predictive(row.data()) - log_predictive));
    }
    for (const RunningMean& ratio : ratios) {
      SCOPED_TRACE(seed);
      expect_mean(ratio, 1.0);
    }
  }
}

/// Compares predict_cell with the cells of rows drawn through theta.
void expect_cells_of_drawn_rows(const Fixture& fixture, const Stats& stats, Stream stream) {
  const Family& family = fixture.family();
  std::vector<double> theta(family.theta_size());
  std::vector<double> row(family.width());
  std::vector<CellPredictive> cells;
  std::vector<std::vector<double>> counts;
  for (std::size_t j = 0; j < family.width(); ++j) {
    cells.push_back(family.predict_cell(stats.data(), j));
    counts.emplace_back(cells[j].probabilities.size(), 0.0);
  }
  std::vector<RunningMean> means(family.width());
  std::vector<RunningMean> squares(family.width());
  for (int i = 0; i < 20000; ++i) {
    family.draw_theta(stats.data(), stream, theta.data());
    family.draw(theta.data(), stream, row.data());
    for (std::size_t j = 0; j < family.width(); ++j) {
      const double value = row[j] + family.origin(j);
      means[j].add(value);
      squares[j].add((value - cells[j].mean) * (value - cells[j].mean));
      if (!counts[j].empty()) counts[j].at(static_cast<std::size_t>(value)) += 1.0;
    }
  }
  for (std::size_t j = 0; j < family.width(); ++j) {
    SCOPED_TRACE(::testing::Message() << "cell " << j);
    const Kind kind = fixture.table.columns[fixture.plan.order[j]].kind;
    EXPECT_EQ(cells[j].probabilities.empty(), kind != Kind::binary && kind != Kind::category);
    // What 20,000 draws hardly ever show has no Monte Carlo error to compare with.
    if (kind != Kind::real && cells[j].variance < 0.01) continue;
    expect_mean(means[j], cells[j].mean);
    expect_mean(squares[j], cells[j].variance);
    if (!counts[j].empty()) expect_frequencies(counts[j], cells[j].probabilities);
  }
}

TEST_P(BayesRule, PredictedCellsAreThoseOfDrawnRows) {
  // Small clusters have the wide predictives; real columns need a dozen rows before their fourth moments
  // exist.
  const std::vector<CaseColumn>& columns = GetParam().columns;
  const bool real =
      std::any_of(columns.begin(), columns.end(), [](const CaseColumn& c) { return c.kind == Kind::real; });
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Family& family = fixture.family();
    for (const std::size_t count : {real ? std::size_t{15} : std::size_t{1}, fixture.rows.size()}) {
      SCOPED_TRACE(::testing::Message() << count << " rows, seed " << seed);
      Stats stats(family, fixture.rows, 0, count);
      if (family.name() == "multinomial") {
        // Predicted for a row of the cluster's average length, but drawn with a length of the family's own:
        // so the cluster is made of drawn rows.
        stats.clear();
        Stream stream({seed, 0, 0}, Purpose::test, 7);
        std::vector<double> theta(family.theta_size());
        std::vector<double> row(family.width());
        family.draw_theta(stats.data(), stream, theta.data());
        for (std::size_t i = 0; i < count; ++i) {
          family.draw(theta.data(), stream, row.data());
          stats.add(row.data());
        }
      }
      expect_cells_of_drawn_rows(fixture, stats, Stream({seed, 0, 0}, Purpose::test, 5));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, BayesRule, ::testing::ValuesIn(law_cases()), CaseName());
INSTANTIATE_TEST_SUITE_P(Learned, BayesRule, ::testing::ValuesIn(learned_cases()), CaseName());

}  // namespace
}  // namespace coppice::test
