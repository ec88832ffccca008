#include "coppice/base/rng.hpp"

#include <algorithm>
#include <boost/random/binomial_distribution.hpp>
#include <boost/random/gamma_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <cmath>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"

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

BetaDraw draw_beta_parts(Stream& stream, double a, double b) {
  const double log_x = draw_log_gamma(stream, a);
  const double log_y = draw_log_gamma(stream, b);
  if (std::isinf(log_x) && std::isinf(log_y)) {
    const bool is_first = draw_uniform(stream) * (a + b) < a;
    return is_first ? BetaDraw{1.0, 0.0} : BetaDraw{0.0, 1.0};
  }
  return {1.0 / (1.0 + std::exp(log_y - log_x)), 1.0 / (1.0 + std::exp(log_x - log_y))};
}

double draw_beta(Stream& stream, double a, double b) { return draw_beta_parts(stream, a, b).first; }

double draw_log_beta(Stream& stream, double a, double b) {
  const double log_x = draw_log_gamma(stream, a);
  return log_x - log_add_exp(log_x, draw_log_gamma(stream, b));
}

double draw_gig_half(Stream& stream, double b) {
  const double normal = draw_normal(stream);
  const double y = normal * normal;
  const double uniform = draw_uniform(stream);
  if (b == 0.0) return y;
  const double r = b + 0.5 * (y + std::sqrt(y * (4.0 * b + y)));
  return uniform * (r + b) < r ? r : b * (b / r);
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
  if (largest == -std::numeric_limits<double>::infinity()) {
    const std::size_t chosen = draw_categorical(stream, concentration);
    const bool any =
        std::any_of(concentration.begin(), concentration.end(), [](double a) { return a > 0.0; });
    std::fill(out.begin(), out.end(), 0.0);
    out[any ? chosen : out.size() - 1] = 1.0;
    return;
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

std::size_t draw_from_logs(Stream& stream, std::span<double> log_weights) {
  const double top = *std::max_element(log_weights.begin(), log_weights.end());
  if (!std::isfinite(top)) fail(ErrorCode::bug, "log weights to draw from have the largest value {}", top);
  for (double& weight : log_weights) weight = std::exp(weight - top);
  return draw_categorical(stream, log_weights);
}

void shuffle(Stream& stream, std::span<std::uint32_t> items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[draw_index(stream, i)]);
}

}  // namespace coppice
