#include "coppice/model/nhcm/evidence.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/packed_cholesky.hpp"
#include "coppice/family/tied_copies.hpp"

namespace coppice::nhcm {

const Gaussian& gaussian_of(const Problem& problem) {
  const auto* tied = dynamic_cast<const TiedCopies*>(problem.family);
  const auto* family = dynamic_cast<const Gaussian*>(tied != nullptr ? &tied->cells() : problem.family);
  if (family == nullptr)
    fail(ErrorCode::configuration, "the model nhcm works only with the family gaussian, not with {}",
         problem.family->name());
  return *family;
}

Evidence::Evidence(const Gaussian& prior, double spread, std::size_t rows)
    : moments_(prior.width()),
      d_(prior.width()),
      spread_(spread),
      log_constant_(rows + 2),
      log_step_(rows + 1) {
  adopt(prior);
}

void Evidence::adopt(const Gaussian& prior) {
  k0_ = prior.mean_strength();
  dof_ = prior.dof();
  prior_mean_ = prior.prior_mean_from_origin();
  scale_.clear();
  scale_factor_.clear();
  for (std::size_t j = 0; j < d_; ++j)
    for (std::size_t i = j; i < d_; ++i) scale_.push_back(prior.scale()[i * d_ + j]);
  const Eigen::LLT<Eigen::MatrixXd> factorization(Eigen::Map<const Eigen::MatrixXd>(
      prior.scale().data(), static_cast<Eigen::Index>(d_), static_cast<Eigen::Index>(d_)));
  const Eigen::MatrixXd lower = factorization.matrixL();
  for (Eigen::Index j = 0; j < lower.cols(); ++j)
    for (Eigen::Index i = j; i < lower.rows(); ++i) scale_factor_.push_back(lower(i, j));
  const auto d = static_cast<double>(d_);
  log_constant_[0] = 0.5 * dof_ * (log_determinant(scale_factor_.data(), d_));
  for (std::size_t count = 0; count < log_step_.size(); ++count) {
    const auto n = static_cast<double>(count);
    log_step_[count] =
        -0.5 * d * kLogPi + log_gamma(0.5 * (dof_ + n + 1.0)) - log_gamma(0.5 * (dof_ + n + 1.0 - d));
    // The ratio of two multivariate gamma functions whose arguments differ by a half.
    log_constant_[count + 1] = log_constant_[count] + log_step_[count];
  }
}

void Evidence::clear(double* cluster) const { std::fill_n(cluster, cluster_size(), 0.0); }

void Evidence::take_in(double* cluster, const double* sub) const {
  const double n = ScatterMoments::weight(sub);
  cluster[kRows] += n;
  cluster[kLogSpread] += std::log1p(spread_ * n);
  moments_.merge(cluster + kMoments, sub, weight_of(n));
}

void Evidence::join_places(double* cluster, const double* rest, const double* first,
                           const double* second) const {
  const double n[] = {ScatterMoments::weight(first), ScatterMoments::weight(second)};
  const double w[] = {weight_of(n[0]), weight_of(n[1])};
  const double total = weight(rest) + w[0] + w[1];
  cluster[kRows] = rows(rest) + n[0] + n[1];
  cluster[kLogSpread] = rest[kLogSpread] + std::log1p(spread_ * n[0]) + std::log1p(spread_ * n[1]);
  cluster[kMoments] = total;
  for (std::size_t j = 0; j < d_; ++j)
    cluster[kMoments + 1 + j] = (weight(rest) * mean(rest)[j] + w[0] * ScatterMoments::mean(first)[j] +
                                 w[1] * ScatterMoments::mean(second)[j]) /
                                total;
}

void Evidence::get_moments(const double* cluster, GaussianMoments& moments) const {
  const auto d = static_cast<Eigen::Index>(d_);
  moments.n = rows(cluster);
  moments.weight = weight(cluster);
  moments.mean = Eigen::Map<const Eigen::VectorXd>(mean(cluster), d);
  moments.scatter.setZero(d, d);
  const double* scatter = moments_.scatter(cluster + kMoments);
  for (Eigen::Index j = 0; j < d; ++j)
    for (Eigen::Index i = j; i < d; ++i) moments.scatter(i, j) = *scatter++;
}

double Evidence::factorize(const double* cluster, double* factor) const {
  const double w = weight(cluster);
  const double* m = mean(cluster);
  const double* scatter = moments_.scatter(cluster + kMoments);
  const double pull = k0_ * w / (k0_ + w);
  std::size_t entry = 0;
  for (std::size_t j = 0; j < d_; ++j)
    for (std::size_t i = j; i < d_; ++i, ++entry)
      factor[entry] =
          scale_[entry] + scatter[entry] + pull * (m[j] - prior_mean_[j]) * (m[i] - prior_mean_[i]);
  coppice::factorize(factor, d_, scale_factor_.data());
  return log_determinant(factor, d_);
}

double Evidence::log_marginal(const double* cluster, double log_determinant) const {
  const double n = rows(cluster);
  return log_constant_[static_cast<std::size_t>(n)] +
         0.5 * static_cast<double>(d_) * (std::log(k0_ / (k0_ + weight(cluster))) - cluster[kLogSpread]) -
         0.5 * (dof_ + n) * log_determinant;
}

double Evidence::log_marginal(const double* cluster, std::vector<double>& scratch) const {
  if (rows(cluster) == 0.0) return 0.0;
  scratch.resize(factor_size());
  return log_marginal(cluster, factorize(cluster, scratch.data()));
}

double Evidence::log_density(double rows, double log_determinant, double strength, double distance,
                             double copies) const {
  // All copies together are one place of strength `copies` without scatter.
  const double ratio = strength / (strength + copies);
  const double log_steps = copies == 1.0 ? log_step(rows)
                                         : log_constant_[static_cast<std::size_t>(rows + copies)] -
                                               log_constant_[static_cast<std::size_t>(rows)];
  return log_steps + 0.5 * static_cast<double>(d_) * std::log(ratio) - 0.5 * copies * log_determinant -
         0.5 * (dof_ + rows + copies) * std::log1p(copies * ratio * distance);
}

double Evidence::locate(const double* cluster, const double* sub, double* center) const {
  const double n = sub == nullptr ? 0.0 : ScatterMoments::weight(sub);
  const double w = weight_of(n);
  const double a = k0_ + std::max(weight(cluster) - w, 0.0);
  const double share = 1.0 / (1.0 + spread_ * a);  // kappa = a share
  const double strength = a * share + n;
  const double of_cluster = share * weight(cluster) / strength;
  const double of_prior = share * k0_ / strength;
  const double of_sub = (n - share * w) / strength;
  for (std::size_t j = 0; j < d_; ++j) {
    center[j] = of_cluster * mean(cluster)[j] + of_prior * prior_mean_[j];
    if (sub != nullptr) center[j] += of_sub * ScatterMoments::mean(sub)[j];
  }
  return strength;
}

}  // namespace coppice::nhcm
