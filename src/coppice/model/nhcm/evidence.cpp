#include "coppice/model/nhcm/evidence.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/family/packed_cholesky.hpp"

namespace coppice::nhcm {

Evidence::Evidence(const Gaussian& prior, double spread, std::size_t rows)
    : moments_(prior.width()),
      d_(prior.width()),
      k0_(prior.mean_strength()),
      dof_(prior.dof()),
      spread_(spread) {
  for (std::size_t j = 0; j < d_; ++j)
    for (std::size_t i = j; i < d_; ++i) scale_.push_back(prior.scale()[i * d_ + j]);
  std::vector<double> factor = scale_;
  coppice::factorize(factor.data(), d_);
  const double log_scale = log_determinant(factor.data(), d_);
  const auto d = static_cast<double>(d_);
  for (std::size_t count = 0; count <= rows; ++count) {
    const auto n = static_cast<double>(count);
    log_constant_.push_back(-0.5 * n * d * kLogPi + log_gamma_multivariate(d_, 0.5 * (dof_ + n)) -
                            log_gamma_multivariate(d_, 0.5 * dof_) + 0.5 * dof_ * log_scale);
    log_step_.push_back(-0.5 * d * kLogPi + log_gamma(0.5 * (dof_ + n + 1.0)) -
                        log_gamma(0.5 * (dof_ + n + 1.0 - d)));
  }
}

void Evidence::clear(double* cluster) const { std::fill_n(cluster, cluster_size(), 0.0); }

void Evidence::take_in(double* cluster, const double* sub) const {
  const double n = ScatterMoments::weight(sub);
  cluster[0] += n;
  cluster[1] += std::log1p(spread_ * n);
  moments_.merge(cluster + 2, sub, weight(n));
}

double Evidence::factorize(const double* cluster, double* factor) const {
  const double w = weight(cluster);
  const double* m = mean(cluster);
  const double* scatter = moments_.scatter(cluster + 2);
  const double pull = k0_ * w / (k0_ + w);
  std::size_t entry = 0;
  for (std::size_t j = 0; j < d_; ++j)
    for (std::size_t i = j; i < d_; ++i, ++entry)
      factor[entry] = scale_[entry] + scatter[entry] + pull * m[j] * m[i];
  coppice::factorize(factor, d_);
  return log_determinant(factor, d_);
}

double Evidence::log_marginal(const double* cluster, double log_determinant) const {
  const double n = rows(cluster);
  return log_constant_[static_cast<std::size_t>(n)] +
         0.5 * static_cast<double>(d_) * (std::log(k0_ / (k0_ + weight(cluster))) - cluster[1]) -
         0.5 * (dof_ + n) * log_determinant;
}

double Evidence::log_marginal(const double* cluster, std::vector<double>& scratch) const {
  if (rows(cluster) == 0.0) return 0.0;
  scratch.resize(factor_size());
  return log_marginal(cluster, factorize(cluster, scratch.data()));
}

double Evidence::locate(const double* cluster, const double* sub, double* centre) const {
  const double n = sub == nullptr ? 0.0 : ScatterMoments::weight(sub);
  const double w = weight(n);
  const double a = k0_ + weight(cluster) - w;
  const double kappa = a / (1.0 + spread_ * a);
  const double strength = kappa + n;
  const double of_cluster = kappa * weight(cluster) / (a * strength);
  const double of_sub = (n - kappa * w / a) / strength;
  for (std::size_t j = 0; j < d_; ++j) {
    centre[j] = of_cluster * mean(cluster)[j];
    if (sub != nullptr) centre[j] += of_sub * ScatterMoments::mean(sub)[j];
  }
  return strength;
}

}  // namespace coppice::nhcm
