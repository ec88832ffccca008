#include "coppice/prior/concentration.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/slice.hpp"

namespace coppice {

double GammaPrior::log_density(double value) const {
  return shape * std::log(rate) - log_gamma(shape) + (shape - 1.0) * std::log(value) - rate * value;
}

double GammaPrior::draw(Stream& stream) const { return draw_gamma(stream, shape) / rate; }

double update_concentration(Stream& stream, const GammaPrior& prior, double alpha, std::size_t clusters,
                            std::size_t rows) {
  const double log_eta = draw_log_beta(stream, alpha, static_cast<double>(rows));
  // A tiny shape can round the draw to 0, for which the log joint has no value.
  return std::max(draw_gamma(stream, prior.shape + static_cast<double>(clusters)) / (prior.rate - log_eta),
                  kLeastConcentration);
}

double Concentration::draw_prior(Stream& stream) const {
  if (!prior_) return start_;
  return std::clamp(prior_->draw(stream), kLeastConcentration, kLargestConcentration);
}

double Concentration::update_tempered(Stream& stream, double value, double power,
                                      const SeatedRows& seated) const {
  if (!prior_) return value;
  // Over the logarithm, whose measure is the value's own times the value.
  const auto log_density = [&](double log_alpha) {
    const double alpha = std::exp(log_alpha);
    return power * (prior_->log_density(alpha) + seated.clusters * log_alpha +
                    seated.partitions * (log_gamma(alpha) - log_gamma(alpha + seated.rows))) +
           log_alpha;
  };
  return std::exp(draw_slice(stream, log_density, std::log(value), 1.0, std::log(kLeastConcentration),
                             std::log(kLargestConcentration)));
}

void check_concentration(double value) {
  if (!(value > 0.0 && std::isfinite(value)))
    fail(ErrorCode::bad_data, "the run file is damaged: a concentration of {}", value);
}

}  // namespace coppice
