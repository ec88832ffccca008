#include "coppice/family/gaussian.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/factor_matrix.hpp"
#include "coppice/family/gaussian_kernel.hpp"
#include "coppice/family/packed_cholesky.hpp"

namespace coppice {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
namespace kernel = gaussian_kernel;

}  // namespace

Gaussian::Gaussian(std::vector<double> prior_mean, double mean_strength, double dof,
                   std::span<const double> scale, std::size_t largest)
    : d_(prior_mean.size()),
      triangle_(d_ * (d_ + 1) / 2),
      prior_mean_(std::move(prior_mean)),
      shift_(d_, 0.0),
      k0_(mean_strength),
      dof_(dof),
      scale_(scale.begin(), scale.end()),
      empty_(stats_size(), 0.0),
      largest_(largest) {
  set_factor(empty_.data(), scale_);
  empty_[kStrength] = k0_;
  for (std::size_t n = 0; n <= std::min(largest, kMostTabled); ++n) {
    gamma_step_.push_back(log_gamma_step(static_cast<double>(n)));
    constant_step_.push_back(log_constant_step(static_cast<double>(n), k0_ + static_cast<double>(n)));
    constant_.push_back(log_constant(static_cast<double>(n)));
  }
}

double Gaussian::log_constant(double n) const {
  if (const auto index = static_cast<std::size_t>(n); index < constant_.size()) return constant_[index];
  const double d = static_cast<double>(d_);
  return -0.5 * n * d * kLogPi + log_gamma_multivariate(d_, 0.5 * (dof_ + n)) -
         log_gamma_multivariate(d_, 0.5 * dof_) + 0.5 * dof_ * empty_[1] +
         0.5 * d * std::log(k0_ / (k0_ + n));
}

double Gaussian::log_constant_step(double n, double k) const {
  const auto index = static_cast<std::size_t>(n);
  if (index < constant_step_.size() && k == k0_ + n) return constant_step_[index];
  return log_gamma_step(n) + 0.5 * static_cast<double>(d_) * std::log(k / (k + 1.0));
}

double Gaussian::log_gamma_step(double n) const {
  if (const auto index = static_cast<std::size_t>(n); index < gamma_step_.size()) return gamma_step_[index];
  const double d = static_cast<double>(d_);
  return -0.5 * d * kLogPi + log_gamma(0.5 * (dof_ + n + 1.0)) - log_gamma(0.5 * (dof_ + n + 1.0 - d));
}

void Gaussian::set_posterior(double* stats, double n, double strength, const double* mean,
                             const double* factor) const {
  stats[0] = n;
  stats[kStrength] = strength;
  std::copy_n(mean, d_, stats + kMean);
  std::copy_n(factor, triangle_, stats + kMean + d_);
  stats[1] = log_determinant(factor, d_);
}

void Gaussian::set_factor(double* stats, const std::vector<double>& lambda) const {
  const auto d = static_cast<Eigen::Index>(d_);
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> matrix(
      lambda.data(), d, d);
  const Eigen::LLT<Matrix> factorization(matrix);
  if (factorization.info() != Eigen::Success)
    fail(ErrorCode::configuration, "gaussian: scale must be a symmetric positive definite {} x {} matrix", d_,
         d_);
  pack_factor(factorization.matrixL(), stats + kMean + d_);
  stats[1] = log_determinant(stats + kMean + d_, d_);
}

std::vector<double> Gaussian::unpack(const double* stats) const {
  const Matrix factor = lower_factor(stats + kMean + d_, d_);
  const Matrix lambda = factor * factor.transpose();
  return {lambda.data(), lambda.data() + lambda.size()};
}

void Gaussian::clear(double* stats) const { std::copy(empty_.begin(), empty_.end(), stats); }

void Gaussian::add(double* stats, const double* row) const { add_copies(stats, row, 1.0); }

bool Gaussian::remove(double* stats, const double* row) const { return remove_copies(stats, row, 1.0); }

void Gaussian::add_copies(double* stats, const double* row, double copies) const {
  double v[kLargestDimension];
  double* mean = stats + kMean;
  const double k = k0_ + stats[0];
  const double weight = std::sqrt(copies * k / (k + copies));
  for (std::size_t j = 0; j < d_; ++j) {
    const double e = row[j] - mean[j];
    v[j] = weight * e;
    mean[j] += copies * e / (k + copies);
  }
  rank_one(stats + kMean + d_, v, d_, 1.0);
  stats[0] += copies;
  stats[kStrength] = k0_ + stats[0];
  stats[1] = log_determinant(stats + kMean + d_, d_);
}

bool Gaussian::remove_copies(double* stats, const double* row, double copies) const {
  if (stats[0] < copies + 0.5) {
    clear(stats);
    return true;
  }
  double v[kLargestDimension];
  double* mean = stats + kMean;
  const double k = k0_ + stats[0];
  const double weight = std::sqrt(copies * k / (k - copies));
  for (std::size_t j = 0; j < d_; ++j) {
    const double e = row[j] - mean[j];
    v[j] = weight * e;
    mean[j] -= copies * e / (k - copies);
  }
  stats[0] -= copies;
  stats[kStrength] = k0_ + stats[0];
  const bool accurate = rank_one(stats + kMean + d_, v, d_, -1.0);
  stats[1] = log_determinant(stats + kMean + d_, d_);
  return accurate;
}

void Gaussian::merge(double* stats, const double* other) const {
  const double na = stats[0];
  const double nb = other[0];
  if (nb == 0.0) return;
  if (na == 0.0) {
    std::copy(other, other + stats_size(), stats);
    return;
  }
  if (d_ >= kWide) return merge_wide(stats, other);
  const double n = na + nb;
  const double k = k0_ + n;
  double mean_a[kLargestDimension];
  double mean_b[kLargestDimension];
  double mean[kLargestDimension];
  for (std::size_t j = 0; j < d_; ++j) {
    mean_a[j] = (stats[kMean + j] - shift_[j]) * ((k0_ + na) / na);
    mean_b[j] = (other[kMean + j] - shift_[j]) * ((k0_ + nb) / nb);
    mean[j] = mean_a[j] - (nb / n) * (mean_a[j] - mean_b[j]);
    stats[kMean + j] = shift_[j] + mean[j] * (n / k);
  }
  const double between = na * nb / n;
  const double weight = k0_ * n / k;
  const double weight_a = k0_ * na / (k0_ + na);
  const double weight_b = k0_ * nb / (k0_ + nb);
  // Lambda = scale + scatter + k0 n / k (mean)(mean)': the scatters add, the prior's parts must count once.
  // Entry (i, j) needs rows i and j of the old factor up to column j, so from the last entry to the first it
  // can be done in place.
  double* factor = stats + kMean + d_;
  const double* other_factor = other + kMean + d_;
  const auto at = [this](std::size_t i, std::size_t j) { return j * d_ - j * (j + 1) / 2 + i; };
  for (std::size_t i = d_; i-- > 0;) {
    for (std::size_t j = i + 1; j-- > 0;) {
      double value = -scale_[i * d_ + j] + between * (mean_a[i] - mean_b[i]) * (mean_a[j] - mean_b[j]) +
                     weight * mean[i] * mean[j] - weight_a * mean_a[i] * mean_a[j] -
                     weight_b * mean_b[i] * mean_b[j];
      for (std::size_t l = 0; l <= j; ++l)
        value += factor[at(i, l)] * factor[at(j, l)] + other_factor[at(i, l)] * other_factor[at(j, l)];
      factor[at(i, j)] = value;
    }
  }
  stats[0] = n;
  stats[kStrength] = k;
  factorize(factor, d_, empty_.data() + kMean + d_);
  stats[1] = log_determinant(factor, d_);
}

double Gaussian::log_marginal(const double* stats) const { return log_marginal_of(stats, stats[0], 0.0); }

double Gaussian::log_marginal_of(const double* stats, double n, double log_factor) const {
  return log_constant(n) - 0.5 * (dof_ + n) * (stats[1] + log_factor);
}

double Gaussian::squared_distance_from_mean(const double* stats, const double* row) const {
  double z[kLargestDimension];
  for (std::size_t j = 0; j < d_; ++j) z[j] = row[j] - stats[kMean + j];
  return squared_distance(stats + kMean + d_, z, d_);
}

double Gaussian::log_marginal_with(const double* stats, const double* row, double copies) const {
  const double k = stats[kStrength];
  const double share = copies * k / (k + copies) * squared_distance_from_mean(stats, row);
  return log_marginal_of(stats, stats[0] + copies, std::log1p(share));
}

double Gaussian::log_marginal_without(const double* stats, const double* row, double copies) const {
  if (stats[0] < copies + 0.5) return 0.0;
  const double k = stats[kStrength];
  const double share = copies * k / (k - copies) * squared_distance_from_mean(stats, row);
  return log_marginal_of(stats, stats[0] - copies, std::log(std::max(1.0 - share, 1e-15)));
}

double Gaussian::log_predictive(const double* stats, const double* row) const {
  double z[kLargestDimension];
  for (std::size_t j = 0; j < d_; ++j) {
    if (is_missing(row[j])) return log_predictive_of_present(stats, row);
    z[j] = row[j] - stats[kMean + j];
  }
  const double q = squared_distance(stats + kMean + d_, z, d_);
  const double n = stats[0];
  const double k = stats[kStrength];
  return log_constant_step(n, k) - 0.5 * stats[1] - 0.5 * (dof_ + n + 1.0) * std::log1p(k / (k + 1.0) * q);
}

double Gaussian::log_predictive_of_present(const double* stats, const double* row) const {
  std::vector<Eigen::Index> present;
  for (std::size_t j = 0; j < d_; ++j)
    if (!is_missing(row[j])) present.push_back(static_cast<Eigen::Index>(j));
  const auto count = static_cast<Eigen::Index>(present.size());
  if (count == 0) return 0.0;
  const std::vector<double> lambda = unpack(stats);
  Matrix block(count, count);
  Vector e(count);
  for (Eigen::Index a = 0; a < count; ++a) {
    const auto ja = static_cast<std::size_t>(present[static_cast<std::size_t>(a)]);
    e(a) = row[ja] - stats[kMean + ja];
    for (Eigen::Index b = 0; b < count; ++b)
      block(a, b) = lambda[ja * d_ + static_cast<std::size_t>(present[static_cast<std::size_t>(b)])];
  }
  const Eigen::LLT<Matrix> factorization(block);
  const double q = factorization.matrixL().solve(e).squaredNorm();
  const double half_log_determinant = Matrix(factorization.matrixL()).diagonal().array().log().sum();
  // A t distribution: leaving columns out keeps its degrees of freedom dof + n - D + 1.
  const double c = static_cast<double>(count);
  const double n = stats[0];
  const double k = stats[kStrength];
  const double freedom = dof_ + n - static_cast<double>(d_) + 1.0;
  return log_gamma(0.5 * (freedom + c)) - log_gamma(0.5 * freedom) - 0.5 * c * kLogPi +
         0.5 * c * std::log(k / (k + 1.0)) - half_log_determinant -
         0.5 * (freedom + c) * std::log1p(k / (k + 1.0) * q);
}

void Gaussian::draw_theta(const double* stats, Stream& stream, double* theta) const {
  const auto d = static_cast<Eigen::Index>(d_);
  const double n = stats[0];
  // Bartlett: the Wishart factor A is lower triangular with chi and normal entries; S = L A'^-1 A^-1 L'.
  Matrix bartlett = Matrix::Zero(d, d);
  for (Eigen::Index j = 0; j < d; ++j) {
    bartlett(j, j) = std::sqrt(2.0 * draw_gamma(stream, 0.5 * (dof_ + n - static_cast<double>(j))));
    for (Eigen::Index i = j + 1; i < d; ++i) bartlett(i, j) = draw_normal(stream);
  }
  const Matrix factor = lower_factor(stats + kMean + d_, d_);
  const Matrix root = bartlett.triangularView<Eigen::Lower>().solve(factor.transpose()).transpose();
  const Matrix covariance = root * root.transpose();
  const Matrix lower = covariance.llt().matrixL();
  Vector noise(d);
  for (Eigen::Index j = 0; j < d; ++j) noise(j) = draw_normal(stream);
  const Vector mean =
      Eigen::Map<const Vector>(stats + kMean, d) + lower * noise / std::sqrt(stats[kStrength]);
  std::copy(mean.data(), mean.data() + d, theta);
  pack_factor(lower, theta + d_);
}

void Gaussian::draw(const double* theta, Stream& stream, double* row) const {
  std::copy(theta, theta + d_, row);
  const double* factor = theta + d_;
  for (std::size_t j = 0; j < d_; ++j) {
    const double noise = draw_normal(stream);
    for (std::size_t i = j; i < d_; ++i) row[i] += *factor++ * noise;
  }
}

double Gaussian::log_likelihood(const double* theta, const double* row) const {
  const auto d = static_cast<Eigen::Index>(d_);
  const Matrix factor = lower_factor(theta + d_, d_);
  const Vector e = Eigen::Map<const Vector>(row, d) - Eigen::Map<const Vector>(theta, d);
  const double q = factor.triangularView<Eigen::Lower>().solve(e).squaredNorm();
  return -0.5 * (static_cast<double>(d_) * kLog2Pi + q) - factor.diagonal().array().log().sum();
}

void Gaussian::fill_cache(const double* stats, double* cache) const {
  for (std::size_t j = 0; j < d_; ++j, cache += kLanes) *cache = stats[kMean + j];
  const double* factor = stats + kMean + d_;
  for (std::size_t j = 0; j < d_; ++j) {
    *cache = 1.0 / *factor++;
    cache += kLanes;
    for (std::size_t i = j + 1; i < d_; ++i, cache += kLanes) *cache = *factor++;
  }
  const double n = stats[0];
  const double k = stats[kStrength];
  cache[kernel::constant * kLanes] = log_constant_step(n, k) - 0.5 * stats[1];
  cache[kernel::half_dof * kLanes] = 0.5 * (dof_ + n + 1.0);
  cache[kernel::ratio * kLanes] = k / (k + 1.0);
  const bool holds = n >= 1.0;
  cache[kernel::constant_without * kLanes] =
      holds ? log_constant_step(n - 1.0, k0_ + (n - 1.0)) - 0.5 * stats[1] : 0.0;
  cache[kernel::half_dof_without * kLanes] = 0.5 * (dof_ + n - 1.0);
  cache[kernel::ratio_without * kLanes] = holds ? k / (k - 1.0) : 0.0;
}

namespace {

template <typename Distance>
void accumulate(std::size_t scalars_at, const double* cache, std::size_t stride, std::size_t chunks,
                const OwnCluster& own, double* out, Distance&& distance) {
  const std::size_t own_chunk = own.slot / kLanes;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const double* caches = cache + chunk * stride;
    const double* scalars = caches + scalars_at;
    const Lanes q = distance(caches);
    Lanes result = load_lanes(scalars + kernel::constant * kLanes) -
                   load_lanes(scalars + kernel::half_dof * kLanes) *
                       coppice::log(1.0 + load_lanes(scalars + kernel::ratio * kLanes) * q);
    if (chunk == own_chunk) {
      // With the row inside Lambda, |Lambda without it| = |Lambda| (1 - k/(k-1) q): no downdate is needed.
      const std::size_t lane = own.slot % kLanes;
      const double kept = std::max(1.0 - scalars[kernel::ratio_without * kLanes + lane] * q[lane], 1e-15);
      result[lane] = scalars[kernel::constant_without * kLanes + lane] +
                     scalars[kernel::half_dof_without * kLanes + lane] * std::log(kept);
    }
    store_lanes(out + chunk * kLanes, load_lanes(out + chunk * kLanes) + result);
  }
}

}  // namespace

void Gaussian::add_log_predictive(const double* row, const double* cache, std::size_t stride,
                                  std::size_t chunks, const OwnCluster& own, double* out) const {
  const std::size_t scalars_at = (d_ + triangle_) * kLanes;
  const auto fixed = [&]<std::size_t D>() {
    accumulate(scalars_at, cache, stride, chunks, own, out,
               [row](const double* cache) { return kernel::squared_distance<D>(row, cache); });
  };
  switch (d_) {
    case 1:
      return fixed.template operator()<1>();
    case 2:
      return fixed.template operator()<2>();
    case 3:
      return fixed.template operator()<3>();
    case 4:
      return fixed.template operator()<4>();
    case 5:
      return fixed.template operator()<5>();
    case 6:
      return fixed.template operator()<6>();
    case 7:
      return fixed.template operator()<7>();
    case 8:
      return fixed.template operator()<8>();
    case 9:
      return fixed.template operator()<9>();
    case 10:
      return fixed.template operator()<10>();
    case 12:
      return fixed.template operator()<12>();
    default:
      break;
  }
  Lanes rest[kLargestDimension];
  accumulate(scalars_at, cache, stride, chunks, own, out,
             [&](const double* cache) { return kernel::squared_distance(d_, row, cache, rest); });
}

CellPredictive Gaussian::predict_cell(const double* stats, std::size_t column) const {
  double variance = std::numeric_limits<double>::infinity();
  const double n = stats[0];
  const double k = stats[kStrength];
  const double square = unpack(stats)[column * d_ + column];
  if (const double excess = dof_ + n - static_cast<double>(d_) - 1.0; excess > 0.0)
    variance = square * (k + 1.0) / (k * excess);
  const double dof = dof_ + n - static_cast<double>(d_) + 1.0;
  return {prior_mean_[column] + stats[kMean + column],
          variance,
          {},
          dof,
          std::sqrt(square * (k + 1.0) / (k * dof))};
}

}  // namespace coppice
