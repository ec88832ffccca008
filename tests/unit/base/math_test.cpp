// Scalar functions in log space against long double and against identities.
#include "coppice/base/math.hpp"

#include <gtest/gtest.h>

#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace coppice {
namespace {

void expect_close(double value, double truth, double tolerance = 1e-14) {
  EXPECT_NEAR(value, truth, tolerance * std::max(1.0, std::abs(truth)));
}

TEST(Math, Constants) {
  EXPECT_EQ(kLogPi, std::log(std::numbers::pi));
  EXPECT_EQ(kLog2Pi, std::log(2.0 * std::numbers::pi));
}

TEST(Math, LogGammaAgainstLongDouble) {
  for (double x = 1e-30; x < 1e15; x *= 1.37)
    expect_close(log_gamma(x), static_cast<double>(boost::math::lgamma(static_cast<long double>(x))));
}

TEST(Math, LogGammaMultivariate) {
  expect_close(log_gamma_multivariate(1, 3.7), log_gamma(3.7));
  // Gamma_d(x) = pi^((d-1)/2) Gamma(x) Gamma_{d-1}(x - 1/2).
  for (const std::size_t d : {2u, 3u, 10u, 50u}) {
    const double x = 0.5 * static_cast<double>(d) + 1.3;
    expect_close(
        log_gamma_multivariate(d, x),
        0.5 * static_cast<double>(d - 1) * kLogPi + log_gamma(x) + log_gamma_multivariate(d - 1, x - 0.5),
        1e-13);
  }
  EXPECT_EQ(log_gamma_multivariate(0, 1.0), 0.0);
}

TEST(Math, LogBetaAndFactorial) {
  expect_close(log_beta(1.0, 1.0), 0.0);
  expect_close(log_beta(0.5, 0.5), kLogPi);
  expect_close(log_beta(3.0, 4.0), std::log(1.0 / 60.0));
  EXPECT_EQ(log_beta(2.5, 7.5), log_beta(7.5, 2.5));
  double factorial = 1.0;
  for (int n = 0; n <= 20; ++n) {
    if (n > 0) factorial *= n;
    expect_close(log_factorial(n), std::log(factorial));
  }
}

TEST(Math, LogAddExp) {
  expect_close(log_add_exp(std::log(2.0), std::log(3.0)), std::log(5.0));
  expect_close(log_add_exp(std::log(3.0), std::log(2.0)), std::log(5.0));
  EXPECT_EQ(log_add_exp(kMinusInfinity, 1.5), 1.5);
  EXPECT_EQ(log_add_exp(1.5, kMinusInfinity), 1.5);
  EXPECT_EQ(log_add_exp(kMinusInfinity, kMinusInfinity), kMinusInfinity);
  EXPECT_EQ(log_add_exp(1e6, -1e6), 1e6);
  expect_close(log_add_exp(-1e6, -1e6), -1e6 + std::log(2.0));
  EXPECT_GT(log_add_exp(0.0, -40.0), 0.0);  // log1p keeps what log(1 + x) would lose
}

TEST(Math, LogSumExp) {
  EXPECT_EQ(log_sum_exp({}), kMinusInfinity);
  EXPECT_EQ(log_sum_exp(std::vector<double>{kMinusInfinity, kMinusInfinity}), kMinusInfinity);
  EXPECT_EQ(log_sum_exp(std::vector<double>{-3.5}), -3.5);
  expect_close(log_sum_exp(std::vector<double>{std::log(1.0), std::log(2.0), std::log(3.0)}), std::log(6.0));
  expect_close(log_sum_exp(std::vector<double>{1000.0, kMinusInfinity, 1000.0}), 1000.0 + std::log(2.0));
  expect_close(log_sum_exp(std::vector<double>(1000, -1e5)), -1e5 + std::log(1000.0));
}

}  // namespace
}  // namespace coppice
