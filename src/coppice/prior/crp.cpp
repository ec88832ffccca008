#include "coppice/prior/crp.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"

namespace coppice {

Crp::Crp(double alpha, std::size_t rows) : ProductPartition(rows) { set_alpha(alpha); }

void Crp::set_alpha(double alpha) {
  alpha_ = alpha;
  set_log_open(std::log(alpha));
}

double Crp::log_partition(std::span<const std::uint32_t> sizes) const {
  const auto [total, rows] = log_kappas(sizes);
  return total + log_gamma(alpha_) - log_gamma(alpha_ + static_cast<double>(rows));
}

void Crp::draw_partition(Stream& stream, std::span<Label> labels) const {
  std::vector<double> weights{alpha_};  // the last one opens a cluster
  for (Label& label : labels) {
    const std::size_t drawn = draw_categorical(stream, weights);
    label = static_cast<Label>(drawn);
    if (drawn + 1 == weights.size()) {
      weights.back() = 1.0;
      weights.push_back(alpha_);
    } else {
      weights[drawn] += 1.0;
    }
  }
}

double GammaPrior::log_density(double value) const {
  return shape * std::log(rate) - log_gamma(shape) + (shape - 1.0) * std::log(value) - rate * value;
}

double GammaPrior::draw(Stream& stream) const { return draw_gamma(stream, shape) / rate; }

double update_concentration(Stream& stream, const GammaPrior& prior, double alpha, std::size_t clusters,
                            std::size_t rows) {
  const double log_eta = draw_log_beta(stream, alpha, static_cast<double>(rows));
  // A tiny shape can round the draw to 0, for which the log joint has no value.
  return std::max(draw_gamma(stream, prior.shape + static_cast<double>(clusters)) / (prior.rate - log_eta),
                  1e-300);
}

}  // namespace coppice
