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
using Factorization = Eigen::LLT<Matrix>;

/// Normal laws of logarithms.
struct LogNormal {
  double mean, sd;
  double log_density(double log_value) const {
    const double z = (log_value - mean) / sd;
    return -0.5 * z * z;
  }
  double log_normalizer() const { return -0.5 * kLog2Pi - std::log(sd); }
  double draw(Stream& stream) const { return mean + sd * draw_normal(stream); }
};
const LogNormal kMeanStrengthLaw{std::log(0.1), 1.0};
const LogNormal kExcessDofLaw{std::log(8.0), 1.5};
const LogNormal kExcessTargetLaw{std::log(10.0), 1.5};
const double kLeastLogExcess = std::log(2.0);  // of nu - D + 1
constexpr double kTargetShape = 1.5, kTargetRate = 0.75;
/// Where learning begins.
constexpr double kStartTarget = 0.3, kStartVariance = 0.25;
/// Slices of a law that is no wider than its prior.
constexpr double kSliceWidth = 1.0;

double log_determinant_of(const Factorization& factorization) {
  return 2.0 * factorization.matrixLLT().diagonal().array().log().sum();
}

Factorization factorize(const Matrix& matrix) {
  Factorization factorization(matrix);
  if (factorization.info() != Eigen::Success)
    fail(ErrorCode::bug, "a covariance of the Gaussian block is not positive definite");
  return factorization;
}

/// Bartlett's factor: lower triangular A with A A' ~ W(dof, I).
Matrix draw_bartlett(Stream& stream, double dof, Eigen::Index d) {
  Matrix factor = Matrix::Zero(d, d);
  for (Eigen::Index j = 0; j < d; ++j) {
    factor(j, j) = std::sqrt(2.0 * draw_gamma(stream, 0.5 * (dof - static_cast<double>(j))));
    for (Eigen::Index i = j + 1; i < d; ++i) factor(i, j) = draw_normal(stream);
  }
  return factor;
}

Vector draw_normals(Stream& stream, Eigen::Index d) {
  Vector noise(d);
  for (Eigen::Index j = 0; j < d; ++j) noise(j) = draw_normal(stream);
  return noise;
}

double shrunk(double strength, double n) { return strength * n / (strength + n); }

}  // namespace

GaussianPrior::GaussianPrior(std::size_t dimension) : d_(dimension), values_(size(), 0.0) {
  values_[kMeanStrength] = std::exp(kMeanStrengthLaw.mean);
  values_[kDof] = this->dimension() - 1.0 + std::exp(kExcessDofLaw.mean);
  values_[kTargetDof] = this->dimension() - 1.0 + std::exp(kExcessTargetLaw.mean);
  std::fill_n(target(), d_, kStartTarget);
  const auto d = static_cast<Eigen::Index>(d_);
  set_covariance(kStartVariance * Matrix::Identity(d, d));
}

void GaussianPrior::set_values(const double* values) {
  const auto sound = [&](std::size_t i, double low) { return values[i] > low && std::isfinite(values[i]); };
  // A value may have been stored with few digits, right at the end of its range.
  bool all_sound = sound(kMeanStrength, 0.0) && sound(kDof, dimension() + 0.999999) &&
                   sound(kTargetDof, dimension() - 1.0);
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

void GaussianPrior::set_covariance(const Matrix& covariance) {
  const Matrix lower = factorize(covariance).matrixL();
  double* packed = values_.data() + kMean + 2 * d_;
  for (Eigen::Index j = 0; j < lower.cols(); ++j)
    for (Eigen::Index i = j; i < lower.rows(); ++i) *packed++ = lower(i, j);
}

double GaussianPrior::log_excess_dof() const { return std::log(dof() - dimension() + 1.0); }

double GaussianPrior::log_density() const {
  const double w = values_[kTargetDof];
  double total =
      kMeanStrengthLaw.log_density(std::log(mean_strength())) + kExcessDofLaw.log_density(log_excess_dof()) +
      kExcessTargetLaw.log_density(std::log(w - dimension() + 1.0)) + kMeanStrengthLaw.log_normalizer() +
      kExcessDofLaw.log_normalizer() + kExcessTargetLaw.log_normalizer();
  // The part of the law of nu - D + 1 above its least value.
  total -=
      std::log(0.5 * std::erfc((kLeastLogExcess - kExcessDofLaw.mean) / (kExcessDofLaw.sd * std::sqrt(2.0))));
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
  double log_excess = kExcessDofLaw.draw(stream);
  while (log_excess < kLeastLogExcess) log_excess = kExcessDofLaw.draw(stream);
  values_[kDof] = dimension() - 1.0 + std::exp(log_excess);
  const double w = values_[kTargetDof] = dimension() - 1.0 + std::exp(kExcessTargetLaw.draw(stream));
  for (std::size_t j = 0; j < d_; ++j) values_[kMean + j] = draw_normal(stream);
  const auto d = static_cast<Eigen::Index>(d_);
  Matrix root = draw_bartlett(stream, w, d);
  for (std::size_t j = 0; j < d_; ++j) {
    target()[j] = kTargetRate / draw_gamma(stream, kTargetShape);
    root.row(static_cast<Eigen::Index>(j)) *= std::sqrt(target()[j] / w);
  }
  set_covariance(root * root.transpose());
}

void GaussianPrior::update_mean_strength(std::span<const GaussianMoments> clusters, const Matrix& omega,
                                         Stream& stream) {
  // Lambda = nu Omega + scatter + k0 n / (k0 + n) e e', e from the prior mean to that of the rows: its
  // determinant depends on k0 through one number q = e' (nu Omega + scatter)^-1 e only.
  const double nu = dof();
  std::vector<std::pair<double, double>> parts;  // n and q
  const Eigen::Map<const Vector> center(mean(), static_cast<Eigen::Index>(d_));
  for (const GaussianMoments& cluster : clusters) {
    const Factorization within = factorize(nu * omega + cluster.scatter);
    const Vector e = cluster.mean - center;
    parts.emplace_back(cluster.n, within.matrixL().solve(e).squaredNorm());
  }
  const auto log_conditional = [&](double log_strength) {
    const double strength = std::exp(log_strength);
    double total = kMeanStrengthLaw.log_density(log_strength);
    for (const auto& [n, q] : parts)
      total += 0.5 * dimension() * (log_strength - std::log(strength + n)) -
               0.5 * (nu + n) * std::log1p(shrunk(strength, n) * q);
    return total;
  };
  values_[kMeanStrength] =
      std::exp(draw_slice(stream, log_conditional, std::log(mean_strength()), kSliceWidth));
}

void GaussianPrior::update_dof(std::span<const GaussianMoments> clusters, const Matrix& omega,
                               Stream& stream) {
  std::vector<Matrix> spread;  // Lambda - nu Omega
  const Eigen::Map<const Vector> center(mean(), static_cast<Eigen::Index>(d_));
  for (const GaussianMoments& cluster : clusters) {
    const Vector e = cluster.mean - center;
    spread.push_back(cluster.scatter + shrunk(mean_strength(), cluster.n) * (e * e.transpose()));
  }
  const double log_omega = log_determinant();
  const auto count = static_cast<double>(clusters.size());
  const auto log_conditional = [&](double log_excess) {
    const double nu = dimension() - 1.0 + std::exp(log_excess);
    double total =
        kExcessDofLaw.log_density(log_excess) +
        count * (0.5 * nu * (log_omega + dimension() * std::log(nu)) - log_gamma_multivariate(d_, 0.5 * nu));
    for (std::size_t k = 0; k < spread.size(); ++k) {
      const double n = clusters[k].n;
      total += log_gamma_multivariate(d_, 0.5 * (nu + n)) -
               0.5 * (nu + n) * log_determinant_of(factorize(nu * omega + spread[k]));
    }
    return total;
  };
  const double log_excess = draw_slice(stream, log_conditional, std::max(log_excess_dof(), kLeastLogExcess),
                                       kSliceWidth, kLeastLogExcess);
  values_[kDof] = dimension() - 1.0 + std::exp(log_excess);
}

void GaussianPrior::update_target(Stream& stream) {
  // w with o integrated out, then o given w.
  const Matrix omega = covariance();
  const double log_omega = log_determinant();
  const auto log_conditional = [&](double log_excess) {
    const double w = dimension() - 1.0 + std::exp(log_excess);
    double total = kExcessTargetLaw.log_density(log_excess) + 0.5 * w * dimension() * std::log(0.5 * w) -
                   log_gamma_multivariate(d_, 0.5 * w) + 0.5 * w * log_omega +
                   dimension() * log_gamma(kTargetShape + 0.5 * w);
    for (Eigen::Index j = 0; j < omega.cols(); ++j)
      total -= (kTargetShape + 0.5 * w) * std::log(kTargetRate + 0.5 * w * omega(j, j));
    return total;
  };
  const double log_excess =
      draw_slice(stream, log_conditional, std::log(values_[kTargetDof] - dimension() + 1.0), kSliceWidth);
  const double w = values_[kTargetDof] = dimension() - 1.0 + std::exp(log_excess);
  for (std::size_t j = 0; j < d_; ++j) {
    const auto at = static_cast<Eigen::Index>(j);
    target()[j] = (kTargetRate + 0.5 * w * omega(at, at)) / draw_gamma(stream, kTargetShape + 0.5 * w);
  }
}

void GaussianPrior::update(std::span<const GaussianMoments> clusters, Stream& stream) {
  const auto d = static_cast<Eigen::Index>(d_);
  const Matrix omega = covariance();
  update_mean_strength(clusters, omega, stream);
  update_dof(clusters, omega, stream);

  // Parameters of the clusters, to be forgotten again: P = S^-1 ~ W(nu + n, Lambda^-1) and mu given P.
  const double kappa = mean_strength();
  const double nu = dof();
  const Vector center = Eigen::Map<const Vector>(mean(), d);
  Matrix precisions = Matrix::Zero(d, d);  // the sum of P
  Vector weighted = Vector::Zero(d);       // the sum of P mu
  for (const GaussianMoments& cluster : clusters) {
    const Vector e = cluster.mean - center;
    const double k = kappa + cluster.n;
    const Factorization lambda =
        factorize(nu * omega + cluster.scatter + shrunk(kappa, cluster.n) * (e * e.transpose()));
    const Matrix bartlett = draw_bartlett(stream, nu + cluster.n, d);
    const Matrix root = lambda.matrixU().solve(bartlett);  // P = root root'
    precisions.selfadjointView<Eigen::Lower>().rankUpdate(root);
    const Vector location = center + (cluster.n / k) * e;
    // mu = location + P^(-1/2) noise / sqrt(k), so P mu = P location + root noise / sqrt(k).
    weighted += root * (root.transpose() * location + draw_normals(stream, d) / std::sqrt(k));
  }
  precisions.triangularView<Eigen::StrictlyUpper>() = precisions.transpose();

  const Factorization precision = factorize(Matrix::Identity(d, d) + kappa * precisions);
  Vector prior_mean = precision.solve(kappa * weighted);
  prior_mean += precision.matrixU().solve(draw_normals(stream, d));
  std::copy_n(prior_mean.data(), d_, values_.begin() + kMean);

  const double w = values_[kTargetDof];
  Matrix rate = nu * precisions;
  for (Eigen::Index j = 0; j < d; ++j) rate(j, j) += w / target()[j];
  const Matrix root = factorize(rate).matrixU().solve(
      draw_bartlett(stream, w + nu * static_cast<double>(clusters.size()), d));
  set_covariance(root * root.transpose());
  update_target(stream);
}

}  // namespace coppice
