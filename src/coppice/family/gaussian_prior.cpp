#include "coppice/family/gaussian_prior.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <string>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/slice.hpp"

namespace coppice {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Normal laws of logarithms.
struct LogNormal {
  double mean, sd;
  double log_density(double log_value) const {
    const double z = (log_value - mean) / sd;
    return -0.5 * z * z;
  }
  /// Of the law above `least`.
  double log_normalizer(double least = kMinusInfinity) const {
    return -0.5 * kLog2Pi - std::log(sd) - std::log(0.5 * std::erfc((least - mean) / (sd * std::sqrt(2.0))));
  }
  double draw(Stream& stream, double least = kMinusInfinity) const {
    double value = mean + sd * draw_normal(stream);
    while (value < least) value = mean + sd * draw_normal(stream);
    return value;
  }
};
const LogNormal kMeanStrengthLaw{std::log(0.1), 1.0};
const LogNormal kExcessDofLaw{std::log(8.0), 1.5};
const LogNormal kExcessTargetLaw{std::log(10.0), 1.5};
const double kLeastLogExcess = std::log(2.0);  // of nu - D + 1
/// Of w - D + 1: below, Omega would be singular to all digits.
constexpr double kLeastLogExcessTarget = 0.0;
constexpr double kTargetShape = 1.5, kTargetRate = 0.75;
/// Where learning begins.
constexpr double kStartTarget = 0.3, kStartVariance = 0.25;
/// Up to this many columns, nu and the scale are updated with the clusters' covariances integrated out in
/// every sweep.
constexpr double kColumnsForEveryTime = 12.0;
/// Slice widths for a distribution at most as wide as its prior.
constexpr double kSliceWidth = 1.0;
constexpr double kScaleSliceWidth = 0.3;

/// Of the lower triangle, which becomes the factor; the rest stays as it is.
void factorize_in_place(Matrix& matrix) {
  const Eigen::LLT<Eigen::Ref<Matrix>> factorization(matrix);
  if (factorization.info() != Eigen::Success)
    fail(ErrorCode::bug, "a covariance of the Gaussian block is not positive definite");
}

double log_diagonal(const Matrix& factor) {
  double total = 0.0;
  for (Eigen::Index j = 0; j < factor.cols(); ++j) total += std::log(factor(j, j));
  return total;
}

/// Bartlett's factor: lower triangular A with A A' ~ W(dof, I).
void draw_bartlett(Stream& stream, double dof, Matrix& factor) {
  for (Eigen::Index j = 0; j < factor.cols(); ++j) {
    for (Eigen::Index i = 0; i < j; ++i) factor(i, j) = 0.0;
    factor(j, j) = std::sqrt(2.0 * draw_gamma(stream, 0.5 * (dof - static_cast<double>(j))));
    for (Eigen::Index i = j + 1; i < factor.rows(); ++i) factor(i, j) = draw_normal(stream);
  }
}

double shrunk(double strength, double n) { return strength * n / (strength + n); }

}  // namespace

GaussianPrior::GaussianPrior(std::size_t dimension)
    : d_(dimension),
      values_(size(), 0.0),
      root_(static_cast<Eigen::Index>(d_), static_cast<Eigen::Index>(d_)) {
  values_[kMeanStrength] = std::exp(kMeanStrengthLaw.mean);
  values_[kDof] = this->dimension() - 1.0 + std::exp(kExcessDofLaw.mean);
  values_[kTargetDof] = this->dimension() - 1.0 + std::exp(kExcessTargetLaw.mean);
  std::fill_n(target(), d_, kStartTarget);
  const auto d = static_cast<Eigen::Index>(d_);
  // E[S] = nu Omega / (nu - D - 1).
  const double omega = kStartVariance * (dof() - this->dimension() - 1.0) / dof();
  set_factor(std::sqrt(omega) * Matrix::Identity(d, d));
}

void GaussianPrior::set_values(const double* values) {
  const auto sound = [&](std::size_t i, double low) { return values[i] > low && std::isfinite(values[i]); };
  // A value may have been stored with few digits, right at the end of its range.
  bool all_sound = sound(kMeanStrength, 0.0) && sound(kDof, dimension() + 0.999999) &&
                   sound(kTargetDof, dimension() - 1e-6);
  for (std::size_t i = kMean; i < size(); ++i) all_sound &= std::isfinite(values[i]);
  const double* diagonal = values + kMean + 2 * d_;
  for (std::size_t j = 0; j < d_; diagonal += d_ - j, ++j)
    all_sound &= values[kMean + d_ + j] > 0.0 && *diagonal > 0.0;
  if (!all_sound) fail(ErrorCode::bad_data, "the learned prior of a Gaussian block has impossible values");
  std::copy_n(values, size(), values_.begin());
}

std::vector<std::string> GaussianPrior::names() const {
  std::vector<std::string> list{"mean_strength", "dof", "target_dof"};
  for (std::size_t j = 1; j <= d_; ++j) list.push_back(fmt::format("{}.prior_mean", j));
  for (std::size_t j = 1; j <= d_; ++j) list.push_back(fmt::format("{}.target_variance", j));
  for (std::size_t j = 1; j <= d_; ++j)
    for (std::size_t i = j; i <= d_; ++i) list.push_back(fmt::format("{}x{}.covariance_factor", j, i));
  return list;
}

Matrix GaussianPrior::covariance() const {
  const auto d = static_cast<Eigen::Index>(d_);
  Matrix lower = Matrix::Zero(d, d);
  const double* packed = factor();
  for (Eigen::Index j = 0; j < d; ++j)
    for (Eigen::Index i = j; i < d; ++i) lower(i, j) = *packed++;
  return lower * lower.transpose();
}

double GaussianPrior::log_determinant() const {
  double total = 0.0;
  const double* packed = factor();
  for (std::size_t j = 0; j < d_; packed += d_ - j, ++j) total += 2.0 * std::log(*packed);
  return total;
}

void GaussianPrior::set_factor(const Matrix& lower) {
  double* packed = values_.data() + kMean + 2 * d_;
  for (Eigen::Index j = 0; j < lower.cols(); ++j)
    for (Eigen::Index i = j; i < lower.rows(); ++i) *packed++ = lower(i, j);
}

double GaussianPrior::log_excess_target() const { return std::log(values_[kTargetDof] - dimension() + 1.0); }

double GaussianPrior::log_excess_dof() const { return std::log(dof() - dimension() + 1.0); }

double GaussianPrior::log_density() const {
  const double w = values_[kTargetDof];
  double total = kMeanStrengthLaw.log_density(std::log(mean_strength())) + kMeanStrengthLaw.log_normalizer() +
                 kExcessDofLaw.log_density(log_excess_dof()) + kExcessDofLaw.log_normalizer(kLeastLogExcess) +
                 kExcessTargetLaw.log_density(log_excess_target()) +
                 kExcessTargetLaw.log_normalizer(kLeastLogExcessTarget);
  for (std::size_t j = 0; j < d_; ++j) total -= 0.5 * (mean()[j] * mean()[j] + kLog2Pi);
  const Matrix omega = covariance();
  double log_targets = 0.0;
  double ratios = 0.0;
  for (std::size_t j = 0; j < d_; ++j) {
    const double o = target()[j];
    log_targets += std::log(o);
    ratios += omega(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(j)) / o;
    total += kTargetShape * std::log(kTargetRate) - log_gamma(kTargetShape) -
             (kTargetShape + 1.0) * std::log(o) - kTargetRate / o;
  }
  return total + 0.5 * (w - dimension() - 1.0) * log_determinant() - 0.5 * w * ratios -
         0.5 * w * dimension() * std::log(2.0 / w) - 0.5 * w * log_targets -
         log_gamma_multivariate(d_, 0.5 * w);
}

void GaussianPrior::draw(Stream& stream) {
  values_[kMeanStrength] = std::exp(kMeanStrengthLaw.draw(stream));
  set_log_excess_dof(kExcessDofLaw.draw(stream, kLeastLogExcess));
  const double w = values_[kTargetDof] =
      dimension() - 1.0 + std::exp(kExcessTargetLaw.draw(stream, kLeastLogExcessTarget));
  for (std::size_t j = 0; j < d_; ++j) values_[kMean + j] = draw_normal(stream);
  const auto d = static_cast<Eigen::Index>(d_);
  Matrix root(d, d);
  draw_bartlett(stream, w, root);
  for (std::size_t j = 0; j < d_; ++j) {
    target()[j] = kTargetRate / draw_gamma(stream, kTargetShape);
    root.row(static_cast<Eigen::Index>(j)) *= std::sqrt(target()[j] / w);
  }
  set_factor(root);
}

void GaussianPrior::update_mean_strength(std::span<const GaussianMoments> clusters, Stream& stream) {
  // Lambda = nu Omega + scatter + k0 weight / (k0 + weight) e e', e from the prior mean to that of the rows:
  // its determinant depends on k0 through one number q = e' (nu Omega + scatter)^-1 e only.
  const double nu = dof();
  parts_.clear();
  for (std::size_t k = 0; k < clusters.size(); ++k) {
    work_ = clusters[k].scatter + nu * omega_;
    factorize_in_place(work_);
    from_mean_ = distances_.col(static_cast<Eigen::Index>(k));
    work_.triangularView<Eigen::Lower>().solveInPlace(from_mean_);
    parts_.push_back({clusters[k].n, clusters[k].weight, from_mean_.squaredNorm()});
  }
  const auto log_conditional = [&](double log_strength) {
    const double strength = std::exp(log_strength);
    double total = kMeanStrengthLaw.log_density(log_strength);
    for (const auto& [n, weight, q] : parts_)
      total += 0.5 * dimension() * (log_strength - std::log(strength + weight)) -
               0.5 * (nu + n) * std::log1p(shrunk(strength, weight) * q);
    return total;
  };
  values_[kMeanStrength] =
      std::exp(draw_slice(stream, log_conditional, std::log(mean_strength()), kSliceWidth));
}

void GaussianPrior::set_lambda(const GaussianMoments& cluster, std::size_t k, double nu) {
  work_ = cluster.scatter + nu * omega_;
  work_.selfadjointView<Eigen::Lower>().rankUpdate(distances_.col(static_cast<Eigen::Index>(k)),
                                                   shrunk(mean_strength(), cluster.weight));
  factorize_in_place(work_);
}

void GaussianPrior::update_dof(std::span<const GaussianMoments> clusters, Stream& stream) {
  const double log_omega = log_determinant();
  const auto count = static_cast<double>(clusters.size());
  const auto log_conditional = [&](double log_excess) {
    const double nu = dimension() - 1.0 + std::exp(log_excess);
    double total =
        kExcessDofLaw.log_density(log_excess) +
        count * (0.5 * nu * (log_omega + dimension() * std::log(nu)) - log_gamma_multivariate(d_, 0.5 * nu));
    for (std::size_t k = 0; k < clusters.size(); ++k) {
      const double n = clusters[k].n;
      set_lambda(clusters[k], k, nu);
      total += log_gamma_multivariate(d_, 0.5 * (nu + n)) - (nu + n) * log_diagonal(work_);
    }
    return total;
  };
  set_log_excess_dof(draw_slice(stream, log_conditional, std::max(log_excess_dof(), kLeastLogExcess),
                                kSliceWidth, kLeastLogExcess));
}

void GaussianPrior::update_scale(std::span<const GaussianMoments> clusters, Stream& stream) {
  // The law of Omega given o and the volume that the factor stretches cancel; what is left of the prior is
  // that of o.
  const auto count = static_cast<double>(clusters.size());
  double inverse_targets = 0.0;
  for (std::size_t j = 0; j < d_; ++j) inverse_targets += 1.0 / target()[j];
  const auto log_conditional = [&](double log_factor) {
    const double factor = std::exp(log_factor);
    double total = -kTargetShape * dimension() * log_factor - kTargetRate * inverse_targets / factor +
                   0.5 * count * dof() * dimension() * log_factor;
    for (std::size_t k = 0; k < clusters.size(); ++k) {
      set_lambda(clusters[k], k, dof() * factor);
      total -= (dof() + clusters[k].n) * log_diagonal(work_);
    }
    return total;
  };
  const double factor = std::exp(draw_slice(stream, log_conditional, 0.0, kScaleSliceWidth));
  omega_ *= factor;
  double* packed = values_.data() + kMean + 2 * d_;
  for (std::size_t i = 0; i < d_ * (d_ + 1) / 2; ++i) packed[i] *= std::sqrt(factor);
  for (std::size_t j = 0; j < d_; ++j) target()[j] *= factor;
}

void GaussianPrior::update_dof_given(double clusters, double log_precisions, double trace, Stream& stream) {
  const double log_omega = log_determinant();
  const auto log_conditional = [&](double log_excess) {
    const double nu = dimension() - 1.0 + std::exp(log_excess);
    return kExcessDofLaw.log_density(log_excess) +
           clusters * (0.5 * nu * (dimension() * std::log(0.5 * nu) + log_omega) -
                       log_gamma_multivariate(d_, 0.5 * nu)) +
           0.5 * nu * (log_precisions - trace);
  };
  set_log_excess_dof(draw_slice(stream, log_conditional, std::max(log_excess_dof(), kLeastLogExcess),
                                kSliceWidth, kLeastLogExcess));
}

void GaussianPrior::set_log_excess_dof(double log_excess) {
  values_[kDof] = dimension() - 1.0 + std::exp(log_excess);
}

void GaussianPrior::update_target(Stream& stream) {
  // w with o integrated out, then o given w.
  const double log_omega = log_determinant();
  const auto log_conditional = [&](double log_excess) {
    const double w = dimension() - 1.0 + std::exp(log_excess);
    double total = kExcessTargetLaw.log_density(log_excess) + 0.5 * w * dimension() * std::log(0.5 * w) -
                   log_gamma_multivariate(d_, 0.5 * w) + 0.5 * w * log_omega +
                   dimension() * log_gamma(kTargetShape + 0.5 * w);
    for (Eigen::Index j = 0; j < omega_.cols(); ++j)
      total -= (kTargetShape + 0.5 * w) * std::log(kTargetRate + 0.5 * w * omega_(j, j));
    return total;
  };
  const double log_excess =
      draw_slice(stream, log_conditional, std::max(log_excess_target(), kLeastLogExcessTarget), kSliceWidth,
                 kLeastLogExcessTarget);
  const double w = values_[kTargetDof] = dimension() - 1.0 + std::exp(log_excess);
  for (std::size_t j = 0; j < d_; ++j) {
    const auto at = static_cast<Eigen::Index>(j);
    target()[j] = (kTargetRate + 0.5 * w * omega_(at, at)) / draw_gamma(stream, kTargetShape + 0.5 * w);
  }
}

void GaussianPrior::update(std::span<const GaussianMoments> clusters, Stream& stream) {
  const auto d = static_cast<Eigen::Index>(d_);
  omega_ = covariance();
  const Vector center = Eigen::Map<const Vector>(mean(), d);
  distances_.resize(d, static_cast<Eigen::Index>(clusters.size()));
  for (std::size_t k = 0; k < clusters.size(); ++k)
    distances_.col(static_cast<Eigen::Index>(k)) = clusters[k].mean - center;
  update_mean_strength(clusters, stream);
  // Each value costs a factorization for every cluster. In many columns that is worth it now and then.
  if (draw_uniform(stream) * dimension() < kColumnsForEveryTime) {
    update_dof(clusters, stream);
    update_scale(clusters, stream);
  }

  // Parameters of the clusters, to be forgotten again: P = S^-1 ~ W(nu + n, Lambda^-1) and mu given P.
  const double kappa = mean_strength();
  precisions_.setZero(d, d);          // the sum of P
  Vector weighted = Vector::Zero(d);  // the sum of P mu
  double log_precisions = 0.0;        // of log|P|
  for (std::size_t k = 0; k < clusters.size(); ++k) {
    const double weight = clusters[k].weight;
    set_lambda(clusters[k], k, dof());
    draw_bartlett(stream, dof() + clusters[k].n, root_);
    log_precisions += 2.0 * (log_diagonal(root_) - log_diagonal(work_));
    work_.triangularView<Eigen::Lower>().transpose().solveInPlace(root_);  // P = root root'
    precisions_.selfadjointView<Eigen::Lower>().rankUpdate(root_);
    from_mean_ = center + (weight / (kappa + weight)) * distances_.col(static_cast<Eigen::Index>(k));
    // mu is there plus P^(-1/2) noise / sqrt(k), so P mu is P times that place plus root noise / sqrt(k).
    Vector pulled = root_.transpose() * from_mean_;
    for (Eigen::Index j = 0; j < d; ++j) pulled(j) += draw_normal(stream) / std::sqrt(kappa + weight);
    weighted.noalias() += root_ * pulled;
  }
  precisions_.triangularView<Eigen::StrictlyUpper>() = precisions_.transpose();
  update_dof_given(static_cast<double>(clusters.size()), log_precisions,
                   omega_.cwiseProduct(precisions_).sum(), stream);

  work_ = kappa * precisions_;
  work_.diagonal().array() += 1.0;
  factorize_in_place(work_);
  Vector prior_mean = kappa * weighted;
  work_.triangularView<Eigen::Lower>().solveInPlace(prior_mean);
  for (Eigen::Index j = 0; j < d; ++j) prior_mean(j) += draw_normal(stream);
  work_.triangularView<Eigen::Lower>().transpose().solveInPlace(prior_mean);
  std::copy_n(prior_mean.data(), d_, values_.begin() + kMean);

  const double w = values_[kTargetDof];
  work_ = dof() * precisions_;
  for (Eigen::Index j = 0; j < d; ++j) work_(j, j) += w / target()[j];
  factorize_in_place(work_);
  draw_bartlett(stream, w + dof() * static_cast<double>(clusters.size()), root_);
  work_.triangularView<Eigen::Lower>().transpose().solveInPlace(root_);
  omega_.setZero(d, d);
  omega_.selfadjointView<Eigen::Lower>().rankUpdate(root_);
  omega_.triangularView<Eigen::StrictlyUpper>() = omega_.transpose();
  work_ = omega_;
  factorize_in_place(work_);
  set_factor(work_);
  update_target(stream);
}

}  // namespace coppice
