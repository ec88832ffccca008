// Table counts against Stirling numbers and their moments, rising factorials and the probability of counts
// under a Dirichlet law.
#include "coppice/prior/hdp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "coppice/base/math.hpp"
#include "support/monte_carlo.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

/// Unsigned Stirling numbers of the first kind, as logs.
std::vector<double> log_stirling(std::size_t n) {
  std::vector<double> row{0.0};
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> next(row.size() + 1, kMinusInfinity);
    for (std::size_t m = 0; m < row.size(); ++m) {
      next[m + 1] = log_add_exp(next[m + 1], row[m]);
      if (i > 0) next[m] = log_add_exp(next[m], row[m] + std::log(static_cast<double>(i)));
    }
    row = next;
  }
  return row;
}

TEST(Hdp, TableCountsAreAntoniaks) {
  for (const std::uint64_t seed : test_seeds())
    for (const std::size_t customers : {1u, 2u, 6u, 9u, 40u, 200u})
      for (const double mass : {1e-3, 0.3, 1.0, 7.0, 300.0}) {
        Stream stream({seed, customers, 0}, Purpose::test);
        const std::vector<double> stirling = log_stirling(customers);
        std::vector<double> probabilities(customers + 1), counts(customers + 1, 0.0);
        for (std::size_t m = 0; m <= customers; ++m)
          probabilities[m] = std::exp(stirling[m] + static_cast<double>(m) * std::log(mass) +
                                      log_gamma(mass) - log_gamma(mass + static_cast<double>(customers)));
        for (int draw = 0; draw < 10000; ++draw) counts[draw_table_count(stream, customers, mass)] += 1.0;
        SCOPED_TRACE(testing::Message() << customers << " customers, mass " << mass);
        EXPECT_EQ(counts[0], 0.0);
        expect_frequencies(counts, probabilities);
      }
}

TEST(Hdp, TableCountsOfManyCustomers) {
  for (const std::uint64_t seed : test_seeds())
    for (const std::uint64_t customers : {std::uint64_t{3000}, std::uint64_t{100000}})
      for (const double mass : {0.01, 1.0, 20.0}) {
        double mean = 0.0, variance = 0.0;
        for (std::uint64_t i = 0; i < customers; ++i) {
          const double p = mass / (mass + static_cast<double>(i));
          mean += p;
          variance += p * (1.0 - p);
        }
        Stream stream({seed, customers, 1}, Purpose::test);
        RunningMean first, second;
        for (int draw = 0; draw < 5000; ++draw) {
          const auto tables = static_cast<double>(draw_table_count(stream, customers, mass));
          first.add(tables);
          second.add((tables - mean) * (tables - mean));
        }
        SCOPED_TRACE(testing::Message() << customers << " customers, mass " << mass);
        expect_mean(first, mean);
        expect_mean(second, variance);
      }
}

TEST(Hdp, TableCountsAtTheEdges) {
  Stream stream({1, 0, 0}, Purpose::test);
  EXPECT_EQ(draw_table_count(stream, 0, 1.0), 0u);
  EXPECT_EQ(draw_table_count(stream, 1, 1e-300), 1u);
  EXPECT_EQ(draw_table_count(stream, 1'000'000'000'000, 1e-300), 1u);
  EXPECT_EQ(draw_table_count(stream, 5, 0.0), 1u);
  EXPECT_EQ(draw_table_count(stream, 500, 1e300), 500u);
}

TEST(Hdp, RisingFactorials) {
  for (const double a : {1e-300, 1e-8, 0.3, 1.0, 17.5, 1e6})
    for (const double n : {0.0, 1.0, 2.0, 15.0, 16.0, 17.0, 300.0}) {
      long double expected = 0.0L;
      for (double i = 0.0; i < n; i += 1.0) expected += std::log(static_cast<long double>(a) + i);
      EXPECT_NEAR(log_rising(a, n), static_cast<double>(expected),
                  1e-9 * std::max(1.0, std::abs(static_cast<double>(expected))))
          << a << ", " << n;
    }
  EXPECT_EQ(log_rising(0.0, 0.0), 0.0);
  EXPECT_EQ(log_rising(0.0, 2.0), kMinusInfinity);
  EXPECT_EQ(log_rising(0.0, 50.0), kMinusInfinity);
  EXPECT_NEAR(log_rising(1e250, 8.0), 8.0 * std::log(1e250), 1e-9);
}

TEST(Hdp, CountsUnderADirichletLaw) {
  const std::vector<double> base{0.2, 0.5, 0.0, 0.1};  // and 0.2 that have no cell
  const double scale = 1.7;
  // Over all sequences of three customers, with the cell of the rest taken along, the probabilities add up.
  double total = 0.0;
  std::vector<double> whole = base;
  whole.push_back(0.2);
  for (std::size_t a = 0; a < 5; ++a)
    for (std::size_t b = 0; b < 5; ++b)
      for (std::size_t c = 0; c < 5; ++c) {
        std::vector<double> counts(5, 0.0);
        counts[a] += 1.0;
        counts[b] += 1.0;
        counts[c] += 1.0;
        total += std::exp(log_dirichlet_multinomial(counts, whole, scale, scale));
      }
  EXPECT_NEAR(total, 1.0, 1e-12);
  EXPECT_EQ(log_dirichlet_multinomial(std::vector<double>{0, 0, 0, 0}, base, scale, scale), 0.0);
  EXPECT_EQ(log_dirichlet_multinomial(std::vector<double>{0, 0, 1, 0}, base, scale, scale), kMinusInfinity);
  EXPECT_NEAR(log_dirichlet_multinomial(std::vector<double>{2, 0, 0, 1}, base, scale, scale),
              std::log(0.34 * 1.34 * 0.17 / (1.7 * 2.7 * 3.7)), 1e-12);
}

}  // namespace
}  // namespace coppice::test
