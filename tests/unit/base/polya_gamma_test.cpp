// The Polya-Gamma law against its closed forms: moments, Laplace transform and distribution function of the
// sampler, and the augmentation identities by quadrature; digamma against differences of log Gamma.
#include "coppice/base/polya_gamma.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "coppice/base/digamma.hpp"
#include "coppice/base/math.hpp"

namespace coppice {
namespace {

constexpr std::size_t kPolyaGammaDraws = 100'000;

/// Errors of the mean of f over the draws, in standard errors.
template <typename Function>
double errors_off(const std::vector<double>& draws, Function&& f, double expected) {
  double sum = 0.0;
  double squares = 0.0;
  for (const double x : draws) {
    sum += f(x);
    squares += f(x) * f(x);
  }
  const double n = static_cast<double>(draws.size());
  const double mean = sum / n;
  return std::abs(mean - expected) / std::sqrt((squares / n - mean * mean) / n);
}

/// Distribution function of PG(1, 0) by its series of densities' integrals: 4 X is a Jacobi variable.
double distribution_at_zero(double x) {
  double total = 1.0;
  for (int n = 0; n < 200; ++n) {
    const double h = n + 0.5;
    total -= (n % 2 == 0 ? 1.0 : -1.0) * 2.0 / (h * std::numbers::pi) *
             std::exp(-2.0 * h * h * std::numbers::pi * std::numbers::pi * x);
  }
  return total;
}

TEST(PolyaGamma, SamplerHasTheMomentsAndTheTransform) {
  for (const double c : {0.0, 0.5, 1.0, 2.5, 6.0, 15.0, -2.5}) {
    Stream stream({11, 0, 0}, Purpose::test, static_cast<std::uint64_t>(100.0 + 2.0 * c));
    std::vector<double> draws(kPolyaGammaDraws);
    for (double& x : draws) x = draw_polya_gamma(stream, c);
    const double mean = polya_gamma_mean(c);
    EXPECT_LT(errors_off(draws, [](double x) { return x; }, mean), 4.0) << c;
    EXPECT_LT(errors_off(
                  draws, [&](double x) { return (x - mean) * (x - mean); }, polya_gamma_variance(c)),
              4.0)
        << c;
    for (const double s : {0.5, 2.0})
      EXPECT_LT(errors_off(
                    draws, [&](double x) { return std::exp(-s * x); }, polya_gamma_laplace(c, s)),
                4.0)
          << c << " " << s;
    if (c != 0.0) continue;
    for (const double at : {0.0625, 0.125, 0.25, 0.375, 0.625})
      EXPECT_LT(errors_off(
                    draws, [&](double x) { return x <= at ? 1.0 : 0.0; }, distribution_at_zero(at)),
                4.0)
          << at;
  }
}

TEST(PolyaGamma, ClosedFormsAgreeWithOtherPrograms) {
  EXPECT_NEAR(polya_gamma_mean(0.0), 0.25, 1e-15);
  EXPECT_NEAR(polya_gamma_mean(0.5), 0.24491866240370913, 1e-15);
  EXPECT_NEAR(polya_gamma_variance(0.0), 1.0 / 24.0, 1e-15);
  EXPECT_NEAR(polya_gamma_variance(0.5), 0.03965980080845861, 1e-14);
  EXPECT_NEAR(polya_gamma_variance(1.0), 0.03444664538852302, 1e-14);
  EXPECT_NEAR(polya_gamma_laplace(0.5, 2.0), 0.6527990238377356, 1e-14);
  EXPECT_NEAR(distribution_at_zero(0.25), 0.6292225702001262, 1e-12);
  // Where the two forms meet.
  EXPECT_NEAR(polya_gamma_mean(1e-4 * 0.999), polya_gamma_mean(1e-4 * 1.001), 1e-10);
  EXPECT_NEAR(polya_gamma_variance(0.02 * 0.999999), polya_gamma_variance(0.02 * 1.000001), 1e-10);
}

TEST(PolyaGamma, LargeArgumentsDoNotOverflow) {
  Stream stream({12, 0, 0}, Purpose::test);
  for (const double c : {700.0, -1e4, 1e6}) {
    double sum = 0.0;
    for (int i = 0; i < 1000; ++i) sum += draw_polya_gamma(stream, c);
    const double error = std::sqrt(polya_gamma_variance(c) / 1000.0);
    EXPECT_NEAR(sum / 1000.0, polya_gamma_mean(c), 4.0 * error) << c;
    EXPECT_TRUE(std::isfinite(polya_gamma_laplace(c, 2.0)));
  }
}

TEST(PolyaGamma, MixtureOfNormalsIsTheLogisticLikelihood) {
  // e^(y psi) / (1 + e^psi) = 1/2 e^(kappa psi) E exp(-lambda psi^2 / 2), lambda ~ PG(1, 0).
  for (const double psi : {-3.0, -0.5, 0.0, 1.2, 4.0})
    for (const double y : {0.0, 1.0})
      EXPECT_NEAR(0.5 * std::exp((y - 0.5) * psi) * polya_gamma_laplace(0.0, 0.5 * psi * psi),
                  std::exp(y * psi) / (1.0 + std::exp(psi)), 1e-14);
}

TEST(InverseGaussian, MeansOfItselfAndOfItsReciprocal) {
  for (const double mu : {0.01, 0.7, 3.0}) {
    Stream stream({13, 0, 0}, Purpose::test, static_cast<std::uint64_t>(100.0 * mu));
    std::vector<double> draws(kPolyaGammaDraws);
    for (double& x : draws) x = draw_inverse_gaussian(stream, mu);
    EXPECT_LT(errors_off(draws, [](double x) { return x; }, mu), 4.0) << mu;
    EXPECT_LT(errors_off(draws, [](double x) { return 1.0 / x; }, 1.0 / mu + 1.0), 4.0) << mu;
  }
  // For a huge mean the reciprocal is a chi-square variable.
  Stream stream({14, 0, 0}, Purpose::test);
  std::vector<double> draws(kPolyaGammaDraws);
  for (double& x : draws) x = draw_inverse_gaussian(stream, 1e300);
  EXPECT_LT(errors_off(draws, [](double x) { return 1.0 / x; }, 1.0), 4.0);
  EXPECT_LT(errors_off(draws, [](double x) { return 1.0 / (x * x); }, 3.0), 4.0);
}

TEST(SvmAugmentation, MeanAndIntegral) {
  // exp(-2 max(u, 0)) = integral of (2 pi lambda)^(-1/2) exp(-(lambda + u)^2 / (2 lambda)), and E[lambda] =
  // |u| + 1: by the trapezoidal rule in log lambda.
  for (const double u : {-3.0, -0.4, 0.3, 1.0, 2.5}) {
    double integral = 0.0;
    double first = 0.0;
    constexpr double kStep = 1e-3;
    for (double t = -40.0; t < 8.0; t += kStep) {
      const double lambda = std::exp(t);
      const double density = std::exp(-0.5 * (lambda + u) * (lambda + u) / lambda) *
                             std::sqrt(lambda / (2.0 * std::numbers::pi)) * kStep;
      integral += density;
      first += lambda * density;
    }
    EXPECT_NEAR(integral, std::exp(-2.0 * std::max(u, 0.0)), 1e-8) << u;
    EXPECT_NEAR(first / integral, std::abs(u) + 1.0, 1e-7) << u;
    Stream stream({15, 0, 0}, Purpose::test, static_cast<std::uint64_t>(100.0 + 10.0 * u));
    std::vector<double> draws(kPolyaGammaDraws);
    for (double& x : draws) x = draw_gig_half(stream, std::abs(u));
    EXPECT_LT(errors_off(draws, [](double x) { return x; }, std::abs(u) + 1.0), 4.0) << u;
  }
}

TEST(Digamma, KnownValuesRecurrenceAndLanes) {
  EXPECT_NEAR(digamma(1.0), -std::numbers::egamma, 1e-14);
  EXPECT_NEAR(digamma(0.5), -std::numbers::egamma - 2.0 * std::numbers::ln2, 1e-14);
  for (const double x : {1e-6, 0.003, 0.5, 1.0, 1.4616, 3.7, 7.999, 8.0, 8.5, 20.0, 1e3, 1e9}) {
    EXPECT_NEAR(digamma(x + 1.0), digamma(x) + 1.0 / x, 1e-14 * (10.0 + 1.0 / x)) << x;
    const Lanes eight = digamma(broadcast(x));
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      EXPECT_NEAR(eight[lane], digamma(x), 1e-14 * (10.0 + 1.0 / x)) << x;
    if (x < 0.1 || x > 100.0) continue;
    const double h = 1e-4 * x;
    EXPECT_NEAR(digamma(x), (log_gamma(x + h) - log_gamma(x - h)) / (2.0 * h), 1e-5) << x;
  }
}

}  // namespace
}  // namespace coppice
