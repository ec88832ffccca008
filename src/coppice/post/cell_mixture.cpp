#include "coppice/post/cell_mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "coppice/base/math.hpp"
#include "coppice/base/special_functions.hpp"

namespace coppice {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double normal_cdf(double z) { return 0.5 * std::erfc(-z * std::numbers::sqrt2 / 2.0); }

/// The standard normal quantile of the same probability as t (Hill 1970): within 1e-4 of it from three
/// degrees of freedom on, and the better the more there are.
double normal_of_t(double t, double dof) {
  const double a = dof - 0.5;
  const double b = 48.0 * a * a;
  const double y = a * std::log1p(t * t / dof);  // the square of the first approximation
  const double correction =
      ((((-0.4 * y - 3.3) * y - 24.0) * y - 85.5) / (0.8 * y * y + 100.0 + b) + y + 3.0) / b + 1.0;
  return std::copysign(correction * std::sqrt(y), t);
}

}  // namespace

NumberComponent::NumberComponent(const CellPredictive& predictive)
    : mean(predictive.mean),
      sd(std::sqrt(predictive.variance)),
      scale(std::isinf(predictive.dof) ? sd : predictive.scale),
      dof(predictive.dof),
      spike(predictive.spike) {
  log_peak = std::isinf(dof) ? -0.5 * kLog2Pi
                             : log_gamma(0.5 * (dof + 1.0)) - log_gamma(0.5 * dof) -
                                   0.5 * std::log(dof * std::numbers::pi);
  log_peak -= std::log(scale);
}

double NumberComponent::cdf(double x) const {
  constexpr double kLeastDof = 3.0;
  const double z = (x - mean) / scale;
  if (std::isinf(dof)) return normal_cdf(z);
  if (std::isinf(z)) return z < 0.0 ? 0.0 : 1.0;
  if (dof < kLeastDof) return student_t_cdf(dof, z);
  return normal_cdf(normal_of_t(z, dof));
}

double NumberComponent::density(double x) const {
  const double z = (x - mean) / scale;
  const double log_fall = std::isinf(dof) ? -0.5 * z * z : -0.5 * (dof + 1.0) * std::log1p(z * z / dof);
  return std::exp(log_peak + log_fall);
}

NumberComponent::Partial NumberComponent::below(double x) const {
  constexpr double kNearlyNormal = 200.0;  // degrees of freedom from which on differences would lose digits
  const double z = (x - mean) / scale;
  double part = 0.0;  // expectations of the standardized number and of its square
  double square = 0.0;
  double share = 0.0;
  if (dof >= kNearlyNormal) {
    share = normal_cdf(z);
    part = -std::exp(-0.5 * (z * z + kLog2Pi));
    square = share + z * part;
  } else if (dof > 2.0) {
    // t^2 = dof ((1 + t^2 / dof) - 1), and the first of these makes it a t density with dof - 2.
    share = student_t_cdf(dof, z);
    part = -(dof + z * z) / (dof - 1.0) * student_t_density(dof, z);
    square = dof *
             ((dof - 1.0) / (dof - 2.0) * student_t_cdf(dof - 2.0, z * std::sqrt((dof - 2.0) / dof)) - share);
  } else {
    return {-kInfinity, kInfinity};
  }
  return {mean * share + scale * part,
          mean * mean * share + 2.0 * mean * scale * part + scale * scale * square};
}

CellMixture::CellMixture(std::span<const NumberComponent> components, std::span<const MixturePart> parts,
                         const Encoding& encoding, double least)
    : components_(components),
      parts_(parts),
      encoding_(encoding),
      least_(encoding.log || encoding.counts ? -kInfinity : least) {
  for (const MixturePart& part : parts_) {
    total_ += part.weight;
    spike_ += part.weight * of(part).spike;
    numbers_ += part_weight(part);
    mean_ += part_weight(part) * of(part).mean;
  }
  if (numbers_ <= 0.0) return;
  mean_ /= numbers_;
  double within = 0.0;
  double between = 0.0;
  for (const MixturePart& part : parts_) {
    const double weight = part_weight(part);
    within += weight * of(part).sd * of(part).sd;
    between += weight * (of(part).mean - mean_) * (of(part).mean - mean_);
    if (std::isinf(of(part).scale)) boundless_ += weight;
  }
  sd_ = std::sqrt((within + between) / numbers_);
  if (least_ > -kInfinity) cut_off();
}

void CellMixture::cut_off() {
  constexpr double kNegligible = 1e-9;
  double density = 0.0;
  below_ = cdf(least_, density);
  if (!(below_ > kNegligible)) {
    below_ = 0.0;
    return;
  }
  if (below_ > 1.0 - kNegligible) {  // nothing is left but the end itself
    mean_ = least_;
    sd_ = 0.0;
    return;
  }
  NumberComponent::Partial gone;
  for (const MixturePart& part : parts_) {
    const NumberComponent::Partial own = of(part).below(least_);
    gone.first += part_weight(part) / numbers_ * own.first;
    gone.second += part_weight(part) / numbers_ * own.second;
  }
  if (!std::isfinite(gone.second) || !std::isfinite(sd_)) {
    // No variance, so the middle stands for the mean.
    mean_ = number_quantile(0.5);
    return;
  }
  const double second = (sd_ * sd_ + mean_ * mean_ - gone.second) / (1.0 - below_);
  mean_ = std::max(least_, (mean_ - gone.first) / (1.0 - below_));
  sd_ = std::sqrt(std::max(0.0, second - mean_ * mean_));
}

double CellMixture::mean() const {
  if (encoding_.log) return kMissing;
  if (!encoding_.spike) return mean_;
  return (spike_ * *encoding_.spike + numbers_ * encoding_.decode(mean_)) / total_;
}

double CellMixture::sd() const {
  if (encoding_.log) return kMissing;
  if (!encoding_.spike) return sd_;
  const double step = encoding_.decode(mean_) - *encoding_.spike;
  const double share = spike_ / total_;
  return std::sqrt((1.0 - share) * sd_ * sd_ + share * (1.0 - share) * step * step);
}

double CellMixture::quantile(double p) const {
  if (!encoding_.spike) return encoding_.decode(number_quantile(p));
  // Where the spike stands among the other numbers.
  double place = *encoding_.spike;
  if (encoding_.counts) place = -kInfinity;
  if (encoding_.log) place = place > 0.0 ? std::log(place) : -kInfinity;
  double density = 0.0;
  const double share = spike_ / total_;
  const double part = numbers_ <= 0.0 || std::isinf(place)
                          ? 0.0
                          : std::max(0.0, cdf(place, density) - below_) / (1.0 - below_);
  const double below = part * (1.0 - share);
  if (p > below && p <= below + share) return *encoding_.spike;
  if (share >= 1.0) return *encoding_.spike;
  return encoding_.decode(number_quantile((p <= below ? p : p - share) / (1.0 - share)));
}

/// Newton's method inside a bracket that halves where Newton leaves it.
double CellMixture::number_quantile(double p) const {
  if (below_ > 1.0 - 1e-9) return least_;
  p = below_ + p * (1.0 - below_);
  // A normal of infinite variance has half its mass at either end.
  if (0.5 * boundless_ >= p * numbers_) return -kInfinity;
  if (0.5 * boundless_ >= (1.0 - p) * numbers_) return kInfinity;
  double low = kInfinity;
  double high = -kInfinity;
  for (const MixturePart& part : parts_) {
    const NumberComponent& own = of(part);
    if (std::isinf(own.scale)) continue;
    low = std::min(low, own.mean - own.scale);
    high = std::max(high, own.mean + own.scale);
  }
  double density = 0.0;
  double step = std::max(high - low, 1e-9 * std::max({std::abs(low), std::abs(high), 1.0}));
  for (double width = step; cdf(low, density) > p; width *= 2.0) low -= width;
  for (double width = step; cdf(high, density) < p; width *= 2.0) high += width;
  double x = 0.5 * (low + high);
  for (int i = 0; i < 200 && high - low > 1e-14 * std::max(std::abs(low), std::abs(high)); ++i) {
    const double excess = cdf(x, density) - p;
    if (std::abs(excess) < 1e-12) break;
    (excess < 0.0 ? low : high) = x;
    const double next = x - excess / density;
    x = next > low && next < high ? next : 0.5 * (low + high);
  }
  return std::max(x, least_);
}

double CellMixture::cdf(double x, double& density) const {
  double total = 0.0;
  density = 0.0;
  for (const MixturePart& part : parts_) {
    const double weight = part_weight(part);
    total += weight * of(part).cdf(x);
    density += weight * of(part).density(x);
  }
  density /= numbers_;
  return total / numbers_;
}

}  // namespace coppice
