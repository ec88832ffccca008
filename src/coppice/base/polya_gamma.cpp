#include "coppice/base/polya_gamma.hpp"

#include <cmath>
#include <numbers>

#include "coppice/base/math.hpp"

namespace coppice {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kCut = 0.64;  // where the two series change places

/// log of the standard normal distribution function, for arguments far below zero too.
double log_normal_cdf(double x) {
  if (x > -20.0) return std::log(0.5 * std::erfc(-x / std::numbers::sqrt2));
  const double s = 1.0 / (x * x);
  return -0.5 * x * x - 0.5 * kLog2Pi - std::log(-x) + std::log1p(-s * (1.0 - s * (3.0 - 15.0 * s)));
}

double draw_exponential(Stream& stream) { return -std::log(draw_uniform(stream)); }

/// Inverse Gaussian of mean 1 / z and shape 1, below the cut.
double draw_left(Stream& stream, double z) {
  if (z >= 1.0 / kCut) {
    while (true)
      if (const double x = draw_inverse_gaussian(stream, 1.0 / z); x < kCut) return x;
  }
  while (true) {
    double first = 0.0;
    double second = 0.0;
    do {
      first = draw_exponential(stream);
      second = draw_exponential(stream);
    } while (first * first > 2.0 * second / kCut);
    const double root = 1.0 + kCut * first;
    const double x = kCut / (root * root);
    if (draw_uniform(stream) <= std::exp(-0.5 * z * z * x)) return x;
  }
}

/// The n-th term of the alternating series of the density.
double term(int n, double x) {
  const double h = n + 0.5;
  if (x > kCut) return kPi * h * std::exp(-0.5 * h * h * kPi * kPi * x);
  return kPi * h * std::pow(2.0 / (kPi * x), 1.5) * std::exp(-2.0 * h * h / x);
}

}  // namespace

double polya_gamma_mean(double c) {
  c = std::abs(c);
  if (c < 1e-4) return 0.25 - c * c / 48.0;
  return std::tanh(0.5 * c) / (2.0 * c);
}

double polya_gamma_variance(double c) {
  c = std::abs(c);
  if (c < 0.02) return 1.0 / 24.0 - c * c / 120.0 + 17.0 * c * c * c * c / 13440.0;
  // (sinh c - c) / (4 c^3 cosh^2(c / 2)), both parts divided by exp(c).
  const double decay = std::exp(-c);
  return (0.5 * (1.0 - decay * decay) - c * decay) / (c * c * c * (1.0 + decay) * (1.0 + decay));
}

double polya_gamma_laplace(double c, double s) {
  const double half = 0.5 * std::abs(c);
  const double other = std::sqrt(half * half + 0.5 * s);
  const auto log_cosh = [](double x) { return x + std::log1p(std::exp(-2.0 * x)); };  // less log 2
  return std::exp(log_cosh(half) - log_cosh(other));
}

double draw_polya_gamma(Stream& stream, double c) {
  const double z = 0.5 * std::abs(c);
  const double rate = kPi * kPi / 8.0 + 0.5 * z * z;
  const double log_right = std::log(kPi / (2.0 * rate)) - rate * kCut;
  const double root = std::sqrt(kCut);
  const double log_left = std::numbers::ln2 + log_add_exp(-z + log_normal_cdf((kCut * z - 1.0) / root),
                                                          z + log_normal_cdf(-(kCut * z + 1.0) / root));
  const double right_share = 1.0 / (1.0 + std::exp(log_left - log_right));
  while (true) {
    const double x =
        draw_uniform(stream) < right_share ? kCut + draw_exponential(stream) / rate : draw_left(stream, z);
    double sum = term(0, x);
    const double y = draw_uniform(stream) * sum;
    for (int n = 1;; ++n) {
      if (n % 2 == 1) {
        sum -= term(n, x);
        if (y <= sum) return 0.25 * x;
      } else {
        sum += term(n, x);
        if (y > sum) break;
      }
    }
  }
}

double draw_inverse_gaussian(Stream& stream, double mean) {
  const double normal = draw_normal(stream);
  const double a = mean * normal * normal;
  // Both roots without cancellation; a huge mean leaves x near 1 / normal^2.
  const double x = mean / (1.0 + 0.5 * (a + std::sqrt(a) * std::sqrt(a + 4.0)));
  return draw_uniform(stream) * (mean + x) < mean ? x : mean * (mean / x);
}

}  // namespace coppice
