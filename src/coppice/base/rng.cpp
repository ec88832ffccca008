#include "coppice/base/rng.hpp"

#include <algorithm>
#include <boost/random/binomial_distribution.hpp>
#include <boost/random/gamma_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <cmath>
#include <utility>

namespace coppice {

std::uint64_t draw_index(Stream& stream, std::uint64_t count) {
  // Multiply-and-reject: the high word of bits * count is uniform once the few biased low words are refused.
  const std::uint64_t refuse_below = (0 - count) % count;
  while (true) {
    const unsigned __int128 product = static_cast<unsigned __int128>(stream()) * count;
    if (static_cast<std::uint64_t>(product) >= refuse_below) return static_cast<std::uint64_t>(product >> 64);
  }
}

double draw_normal(Stream& stream) { return boost::random::normal_distribution<double>()(stream); }

double draw_gamma(Stream& stream, double shape) {
  if (shape < 1.0) return std::exp(draw_log_gamma(stream, shape));
  return boost::random::gamma_distribution<double>(shape, 1.0)(stream);
}

double draw_log_gamma(Stream& stream, double shape) {
  if (shape >= 1.0) return std::log(draw_gamma(stream, shape));
  // If G ~ Gamma(shape + 1) and U is uniform, G * U^(1/shape) ~ Gamma(shape).
  const double boosted = std::log(boost::random::gamma_distribution<double>(shape + 1.0, 1.0)(stream));
  return boosted + std::log(draw_uniform(stream)) / shape;
}

double draw_beta(Stream& stream, double a, double b) {
  const double log_x = draw_log_gamma(stream, a);
  const double log_y = draw_log_gamma(stream, b);
  return 1.0 / (1.0 + std::exp(log_y - log_x));
}

std::uint64_t draw_poisson(Stream& stream, double mean) {
  if (mean <= 0.0) return 0;
  return static_cast<std::uint64_t>(boost::random::poisson_distribution<std::int64_t, double>(mean)(stream));
}

std::uint64_t draw_binomial(Stream& stream, std::uint64_t trials, double probability) {
  const auto count = static_cast<std::int64_t>(trials);
  return static_cast<std::uint64_t>(boost::random::binomial_distribution<std::int64_t, double>(
      count, std::clamp(probability, 0.0, 1.0))(stream));
}

void draw_dirichlet(Stream& stream, std::span<const double> concentration, std::span<double> out) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = draw_log_gamma(stream, concentration[i]);
    largest = std::max(largest, out[i]);
  }
  double total = 0.0;
  for (double& value : out) total += value = std::exp(value - largest);
  for (double& value : out) value /= total;
}

std::size_t draw_categorical(Stream& stream, std::span<const double> weights) {
  double total = 0.0;
  for (const double weight : weights) total += weight;
  double left = draw_uniform(stream) * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    last = i;
    left -= weights[i];
    if (left < 0.0) break;
  }
  return last;
}

void shuffle(Stream& stream, std::span<std::uint32_t> items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[draw_index(stream, i)]);
}

}  // namespace coppice
