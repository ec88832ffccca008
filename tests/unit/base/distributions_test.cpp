// Distributions against their exact laws: Kolmogorov-Smirnov for the continuous ones, chi-square and moments
// for the discrete ones, over the ranges in which the samplers call them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/base/rng.hpp"
#include "support/monte_carlo.hpp"
#include "support/seeds.hpp"

namespace coppice {
namespace {

using test::expect_distribution;
using test::expect_frequencies;
using test::expect_mean;
using test::RunningMean;
using test::test_seeds;

constexpr std::size_t kDraws = 50000;

Stream stream_for(std::uint64_t seed, std::uint64_t site) {
  return Stream({seed, 0, 0}, Purpose::test, site);
}

template <typename Draw>
std::vector<double> draws(Draw&& draw, std::size_t count = kDraws) {
  std::vector<double> values(count);
  for (double& value : values) value = draw();
  return values;
}

void expect_moments(const std::vector<double>& values, double mean, double variance) {
  RunningMean first;
  RunningMean second;
  for (const double value : values) {
    first.add(value);
    second.add((value - mean) * (value - mean));
  }
  expect_mean(first, mean);
  expect_mean(second, variance);
}

TEST(Distributions, Uniform) {
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream = stream_for(seed, 1);
    const std::vector<double> values = draws([&] { return draw_uniform(stream); });
    expect_moments(values, 0.5, 1.0 / 12.0);
    expect_distribution(values, [](double x) { return x; });
  }
}

TEST(Distributions, Normal) {
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream = stream_for(seed, 2);
    const std::vector<double> values = draws([&] { return draw_normal(stream); }, 200000);
    expect_moments(values, 0.0, 1.0);
    const boost::math::normal law;
    expect_distribution(values, [&](double x) { return boost::math::cdf(law, x); });
    // A ziggurat has its own code for the tail, which neither moments nor KS see.
    std::vector<double> tail;
    for (const double value : values)
      if (std::abs(value) > 2.5) tail.push_back(std::abs(value));
    const double mass = boost::math::cdf(boost::math::complement(law, 2.5));
    expect_distribution(
        tail, [&](double x) { return 1.0 - boost::math::cdf(boost::math::complement(law, x)) / mass; });
  }
}

TEST(Distributions, Gamma) {
  for (const std::uint64_t seed : test_seeds()) {
    for (const double shape : {0.05, 0.5, 0.999, 1.0, 1.5, 10.0, 1e3, 1e6}) {
      SCOPED_TRACE(shape);
      Stream stream = stream_for(seed, 3);
      const std::vector<double> values = draws([&] { return draw_gamma(stream, shape); });
      expect_moments(values, shape, shape);
      const boost::math::gamma_distribution<> law(shape);
      expect_distribution(values, [&](double x) { return boost::math::cdf(law, x); });
    }
  }
}

/// P(log G <= x) for G ~ Gamma(shape, 1), also where G itself underflows.
double log_gamma_cdf(double shape, double x) {
  if (x < -40.0) return std::exp(shape * x - log_gamma(shape + 1.0));
  return boost::math::cdf(boost::math::gamma_distribution<>(shape), std::exp(x));
}

TEST(Distributions, LogGammaDoesNotUnderflow) {
  for (const std::uint64_t seed : test_seeds()) {
    for (const double shape : {1e-6, 1e-3, 0.01, 0.7, 1.0, 3.0, 200.0}) {
      SCOPED_TRACE(shape);
      Stream stream = stream_for(seed, 4);
      const std::vector<double> values = draws([&] { return draw_log_gamma(stream, shape); });
      for (const double value : values) ASSERT_TRUE(std::isfinite(value));
      expect_distribution(values, [&](double x) { return log_gamma_cdf(shape, x); });
    }
  }
}

TEST(Distributions, Beta) {
  const std::vector<std::pair<double, double>> parameters{{0.5, 0.5},  {0.1, 0.2}, {1.0, 1.0}, {3.0, 0.4},
                                                          {40.0, 7.0}, {1e4, 2e4}, {2.0, 1e3}};
  for (const std::uint64_t seed : test_seeds()) {
    for (const auto& [a, b] : parameters) {
      SCOPED_TRACE(::testing::Message() << a << ", " << b);
      Stream stream = stream_for(seed, 5);
      const std::vector<double> values = draws([&, a = a, b = b] { return draw_beta(stream, a, b); });
      expect_moments(values, a / (a + b), a * b / ((a + b) * (a + b) * (a + b + 1.0)));
      const boost::math::beta_distribution<> law(a, b);
      expect_distribution(values, [&](double x) { return boost::math::cdf(law, x); });
    }
  }
}

TEST(Distributions, BetaOfTinyWeightsStaysInTheUnitInterval) {
  Stream stream = stream_for(1, 6);
  for (int i = 0; i < 10000; ++i) {
    const double p = draw_beta(stream, 1e-4, 1e-4);
    ASSERT_TRUE(p >= 0.0 && p <= 1.0) << p;
  }
}

template <typename Law, typename Draw>
void expect_discrete(const Law& law, std::size_t largest, Draw&& draw) {
  std::vector<double> counts(largest + 2, 0.0);
  std::vector<double> probabilities(largest + 2, 0.0);
  for (std::size_t i = 0; i < kDraws; ++i) counts[std::min<std::size_t>(draw(), largest + 1)] += 1.0;
  for (std::size_t x = 0; x <= largest; ++x) probabilities[x] = boost::math::pdf(law, static_cast<double>(x));
  probabilities[largest + 1] =
      std::max(0.0, 1.0 - std::accumulate(probabilities.begin(), probabilities.end(), 0.0));
  expect_frequencies(counts, probabilities);
}

TEST(Distributions, Poisson) {
  for (const std::uint64_t seed : test_seeds()) {
    for (const double mean : {1e-3, 0.1, 1.0, 3.0, 9.9, 10.1, 50.0, 700.0}) {
      SCOPED_TRACE(mean);
      Stream stream = stream_for(seed, 7);
      expect_moments(draws([&] { return static_cast<double>(draw_poisson(stream, mean)); }), mean, mean);
      const auto largest = static_cast<std::size_t>(mean + 8.0 * std::sqrt(mean) + 8.0);
      expect_discrete(boost::math::poisson_distribution<>(mean), largest,
                      [&] { return draw_poisson(stream, mean); });
    }
  }
}

TEST(Distributions, PoissonOfLargeAndZeroMeans) {
  Stream stream = stream_for(1, 8);
  EXPECT_EQ(draw_poisson(stream, 0.0), 0u);
  for (const double mean : {1e6, 1e9}) {
    SCOPED_TRACE(mean);
    expect_moments(draws([&] { return static_cast<double>(draw_poisson(stream, mean)); }, 20000), mean, mean);
  }
}

TEST(Distributions, Binomial) {
  const std::vector<std::pair<std::uint64_t, double>> parameters{
      {1, 0.3}, {10, 0.5}, {10, 0.02}, {50, 0.97}, {50, 0.4}, {1000, 0.3}, {1000, 0.999}};
  for (const std::uint64_t seed : test_seeds()) {
    for (const auto& [trials, p] : parameters) {
      SCOPED_TRACE(::testing::Message() << trials << ", " << p);
      Stream stream = stream_for(seed, 9);
      const auto n = static_cast<double>(trials);
      expect_moments(
          draws([&, t = trials, p = p] { return static_cast<double>(draw_binomial(stream, t, p)); }), n * p,
          n * p * (1.0 - p));
      expect_discrete(boost::math::binomial_distribution<>(n, p), trials,
                      [&, t = trials, p = p] { return draw_binomial(stream, t, p); });
    }
  }
}

TEST(Distributions, BinomialAtTheEdges) {
  Stream stream = stream_for(1, 10);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(draw_binomial(stream, 0, 0.5), 0u);
    EXPECT_EQ(draw_binomial(stream, 20, 0.0), 0u);
    EXPECT_EQ(draw_binomial(stream, 20, 1.0), 20u);
    EXPECT_EQ(draw_binomial(stream, 20, 1.0 + 1e-16), 20u);
  }
}

TEST(Distributions, DirichletHasBetaMargins) {
  const std::array<double, 4> concentration{0.2, 1.0, 3.0, 0.05};
  const double total = 4.25;
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream = stream_for(seed, 11);
    std::array<std::vector<double>, 4> margins;
    std::vector<double> products;
    for (std::size_t i = 0; i < kDraws; ++i) {
      std::array<double, 4> p{};
      draw_dirichlet(stream, concentration, p);
      ASSERT_NEAR(p[0] + p[1] + p[2] + p[3], 1.0, 1e-14);
      for (std::size_t j = 0; j < 4; ++j) margins[j].push_back(p[j]);
      products.push_back(p[1] * p[2]);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const boost::math::beta_distribution<> law(concentration[j], total - concentration[j]);
      expect_distribution(margins[j], [&](double x) { return boost::math::cdf(law, std::min(x, 1.0)); });
    }
    RunningMean product;
    for (const double value : products) product.add(value);
    expect_mean(product, 1.0 * 3.0 / (total * (total + 1.0)));
  }
}

TEST(Distributions, DirichletOfTinyWeightsIsAVertex) {
  Stream stream = stream_for(1, 12);
  const std::array<double, 3> concentration{1e-6, 1e-6, 1e-6};
  for (int i = 0; i < 1000; ++i) {
    std::array<double, 3> p{};
    draw_dirichlet(stream, concentration, p);
    EXPECT_NEAR(p[0] + p[1] + p[2], 1.0, 1e-14);
  }
}

TEST(Distributions, GeneralizedInverseGaussian) {
  const auto normal_cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  for (const std::uint64_t seed : test_seeds()) {
    for (const double b : {0.0, 1e-12, 1e-3, 0.1, 1.0, 10.0}) {
      SCOPED_TRACE(b);
      Stream stream = stream_for(seed, 41);
      const std::vector<double> values = draws([&] { return draw_gig_half(stream, b); });
      // 1 / x is inverse Gaussian with mean 1 / b.
      expect_distribution(values, [&](double x) {
        const double root = std::sqrt(x);
        const double p = normal_cdf(root - b / root) - std::exp(2.0 * b) * normal_cdf(-root - b / root);
        return std::clamp(p, 0.0, 1.0);
      });
      expect_moments(values, b + 1.0, b + 2.0);
    }
    for (const double b : {1e3, 1e8}) {
      SCOPED_TRACE(b);
      Stream stream = stream_for(seed, 42);
      expect_moments(draws([&] { return draw_gig_half(stream, b); }), b + 1.0, b + 2.0);
    }
  }
  Stream stream = stream_for(1, 43);
  for (const double b : {1e-320, 1e-300, 1e155, 1e300})
    for (int i = 0; i < 1000; ++i) {
      const double value = draw_gig_half(stream, b);
      ASSERT_TRUE(std::isfinite(value) && value >= 0.0) << b;
    }
}

TEST(Distributions, BothPartsOfABetaKeepTheirDigits) {
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream = stream_for(seed, 44);
    std::vector<double> first, second, logs;
    for (std::size_t i = 0; i < kDraws; ++i) {
      const BetaDraw parts = draw_beta_parts(stream, 0.02, 3.0);
      ASSERT_NEAR(parts.first + parts.second, 1.0, 1e-15);
      first.push_back(std::log(parts.first));
      logs.push_back(draw_log_beta(stream, 0.02, 3.0));
      second.push_back(draw_beta_parts(stream, 3.0, 0.02).second);
    }
    const boost::math::beta_distribution<> law(0.02, 3.0);
    // Far below the smallest number a beta's own cdf is x^a / (a B(a, b)).
    const auto log_cdf = [&](double log_x) {
      if (log_x > -200.0) return boost::math::cdf(law, std::exp(log_x));
      return std::exp(0.02 * log_x - std::log(0.02) - log_gamma(0.02) - log_gamma(3.0) + log_gamma(3.02));
    };
    std::erase_if(first, [](double x) { return std::isinf(x); });
    EXPECT_GT(first.size(), kDraws * 99 / 100);
    expect_distribution(logs, log_cdf);
    expect_distribution(second, [&](double x) { return boost::math::cdf(law, x); });
  }
}

TEST(Distributions, BetaAndDirichletOfZeroShapes) {
  Stream stream = stream_for(1, 45);
  EXPECT_EQ(draw_beta_parts(stream, 0.0, 2.0).first, 0.0);
  EXPECT_EQ(draw_beta_parts(stream, 0.0, 2.0).second, 1.0);
  EXPECT_EQ(draw_beta_parts(stream, 2.0, 0.0).first, 1.0);
  EXPECT_EQ(draw_beta_parts(stream, 2.0, 0.0).second, 0.0);
  EXPECT_EQ(draw_beta_parts(stream, 0.0, 0.0).second, 1.0);
  std::vector<double> out(4);
  for (int i = 0; i < 100; ++i) {
    draw_dirichlet(stream, std::vector<double>{0.0, 1.5, 0.0, 2.0}, out);
    ASSERT_EQ(out[0], 0.0);
    ASSERT_EQ(out[2], 0.0);
    ASSERT_NEAR(out[1] + out[3], 1.0, 1e-15);
  }
  draw_dirichlet(stream, std::vector<double>{0.0, 0.0, 0.0, 0.0}, out);
  EXPECT_EQ(out, (std::vector<double>{0.0, 0.0, 0.0, 1.0}));
}

TEST(Distributions, DirichletWithNothingLeftIsAVertexByItsShapes) {
  // Shapes so small that the log of every part overflows.
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream = stream_for(seed, 46);
    std::vector<double> counts(3, 0.0), out(3);
    for (int i = 0; i < 20000; ++i) {
      draw_dirichlet(stream, std::vector<double>{3e-322, 0.0, 1e-322}, out);
      ASSERT_EQ(out[0] + out[1] + out[2], 1.0);
      for (std::size_t k = 0; k < 3; ++k) counts[k] += out[k];
    }
    EXPECT_EQ(counts[1], 0.0);
    const double share = 3e-322 / (3e-322 + 1e-322);
    expect_frequencies(std::vector<double>{counts[0], counts[2]}, std::vector<double>{share, 1.0 - share});
  }
}

TEST(Distributions, CategoricalNeverTakesAZeroWeight) {
  const std::array<double, 5> weights{0.0, 3.0, 1e-3, 0.0, 7.0};
  std::array<double, 5> probabilities{};
  for (std::size_t i = 0; i < 5; ++i) probabilities[i] = weights[i] / 10.001;
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream = stream_for(seed, 13);
    std::array<double, 5> counts{};
    for (std::size_t i = 0; i < kDraws; ++i) counts[draw_categorical(stream, weights)] += 1.0;
    EXPECT_EQ(counts[0], 0.0);
    EXPECT_EQ(counts[3], 0.0);
    expect_frequencies(counts, probabilities);
  }
}

TEST(Distributions, IndexIsUniform) {
  for (const std::uint64_t seed : test_seeds()) {
    for (const std::uint64_t count : {1u, 2u, 3u, 7u, 1000u}) {
      SCOPED_TRACE(count);
      Stream stream = stream_for(seed, 14);
      std::vector<double> counts(count, 0.0);
      for (std::size_t i = 0; i < kDraws; ++i) counts.at(draw_index(stream, count)) += 1.0;
      expect_frequencies(counts, std::vector<double>(count, 1.0 / static_cast<double>(count)));
    }
  }
}

TEST(Distributions, IndexHasNoBiasForHugeCounts) {
  // 2^64 words onto 3 * 2^62 numbers, four onto three: without refusals every third number would come twice
  // as often.
  const std::uint64_t count = 3ull << 62;
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream = stream_for(seed, 15);
    std::array<double, 3> thirds{};
    for (std::size_t i = 0; i < kDraws; ++i) {
      const std::uint64_t index = draw_index(stream, count);
      ASSERT_LT(index, count);
      thirds[index % 3] += 1.0;
    }
    expect_frequencies(thirds, std::vector<double>(3, 1.0 / 3.0));
  }
}

TEST(Distributions, ShuffleGivesEveryOrderEquallyOften) {
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream = stream_for(seed, 16);
    std::map<std::vector<std::uint32_t>, double> orders;
    for (std::size_t i = 0; i < kDraws; ++i) {
      std::vector<std::uint32_t> items{0, 1, 2, 3};
      shuffle(stream, items);
      orders[items] += 1.0;
    }
    ASSERT_EQ(orders.size(), 24u);
    std::vector<double> counts;
    for (const auto& [order, count] : orders) counts.push_back(count);
    expect_frequencies(counts, std::vector<double>(24, 1.0 / 24.0));
  }
}

TEST(Distributions, ShuffleOfNothingAndOne) {
  Stream stream = stream_for(1, 17);
  std::vector<std::uint32_t> items;
  shuffle(stream, items);
  items = {5};
  shuffle(stream, items);
  EXPECT_EQ(items, std::vector<std::uint32_t>{5});
}

}  // namespace
}  // namespace coppice
