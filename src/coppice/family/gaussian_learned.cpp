// The Gaussian family with a learned prior: from the prior's values, which are for standardized columns, to
// those of the columns as they are, and statistics that follow when they change.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/factor_matrix.hpp"
#include "coppice/family/gaussian.hpp"
#include "coppice/family/gaussian_diagonal.hpp"
#include "coppice/family/packed_cholesky.hpp"

namespace coppice {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

}  // namespace

Gaussian::Gaussian(std::vector<double> means, std::vector<double> sds, std::size_t largest)
    : d_(means.size()),
      triangle_(d_ * (d_ + 1) / 2),
      prior_mean_(std::move(means)),
      sds_(std::move(sds)),
      learned_(d_),
      shift_(d_),
      k0_(0.0),
      dof_(0.0),
      scale_(d_ * d_),
      empty_(stats_size(), 0.0),
      largest_(largest),
      constant_(std::min(largest, kMostTabled) + 1),
      constant_step_(constant_.size()),
      gamma_step_(constant_.size()) {
  adopt_prior();
}

void Gaussian::adopt_prior() {
  previous_.swap(current_);
  previous_scale_ = scale_;
  current_.assign(learned_->values().begin(), learned_->values().end());
  k0_ = learned_->mean_strength();
  dof_ = learned_->dof();
  const Matrix omega = learned_->covariance();
  for (std::size_t j = 0; j < d_; ++j) {
    shift_[j] = sds_[j] * learned_->mean()[j];
    for (std::size_t i = j; i < d_; ++i)
      scale_[i * d_ + j] = scale_[j * d_ + i] =
          dof_ * omega(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * sds_[i] * sds_[j];
  }
  set_factor(empty_.data(), scale_);
  empty_[0] = 0.0;
  empty_[kStrength] = k0_;
  std::copy(shift_.begin(), shift_.end(), empty_.begin() + kMean);
  fill_tables();
}

void Gaussian::fill_tables() {
  const double d = static_cast<double>(d_);
  for (std::size_t first = 0; first < gamma_step_.size(); first += kLanes) {
    Lanes n{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) n[lane] = static_cast<double>(first + lane);
    const Lanes half = 0.5 * (dof_ + 1.0 + n);
    const Lanes gamma_step = coppice::log_gamma(half) - coppice::log_gamma(half - 0.5 * d) - 0.5 * d * kLogPi;
    const Lanes k = k0_ + n;
    const Lanes step = gamma_step + 0.5 * d * coppice::log(k / (k + 1.0));
    for (std::size_t lane = 0; lane < std::min(kLanes, gamma_step_.size() - first); ++lane) {
      gamma_step_[first + lane] = gamma_step[lane];
      constant_step_[first + lane] = step[lane];
    }
  }
  // C(0) = dof / 2 log|scale|, and the rest is a sum of steps.
  double total = 0.5 * dof_ * empty_[1];
  for (std::size_t n = 0; n < constant_.size(); ++n) {
    constant_[n] = total;
    total += constant_step_[n];
  }
}

void Gaussian::get_hyper(double* values) const {
  if (learned_) std::copy_n(learned_->values().data(), learned_->size(), values);
}

void Gaussian::set_hyper(const double* values) {
  if (!learned_) return;
  learned_->set_values(values);
  adopt_prior();
}

std::vector<std::string> Gaussian::hyper_names() const {
  return learned_ ? learned_->names() : std::vector<std::string>();
}

void Gaussian::draw_hyper_prior(Stream& stream) {
  if (!learned_) return;
  learned_->draw(stream);
  adopt_prior();
}

void Gaussian::update_hyper_at_power(std::span<const double* const> clusters, Stream& stream, double power) {
  if (power != 1.0) fail(ErrorCode::bug, "the learned block has no update at another power");
  if (!learned_) return;
  const auto d = static_cast<Eigen::Index>(d_);
  const Matrix omega = learned_->covariance();
  if (moments_.size() < clusters.size()) moments_.resize(clusters.size());
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    // Lambda = scale + scatter + k0 n / k e e', with e from the prior mean to that of the rows.
    const double* stats = clusters[c];
    GaussianMoments& cluster = moments_[c];
    cluster.n = cluster.weight = stats[0];
    Vector e(d);
    cluster.mean.resize(d);
    for (std::size_t j = 0; j < d_; ++j) {
      const auto at = static_cast<Eigen::Index>(j);
      e(at) = (stats[kMean + j] - shift_[j]) * (stats[kStrength] / stats[0]) / sds_[j];
      cluster.mean(at) = learned_->mean()[j] + e(at);
    }
    Matrix factor = lower_factor(stats + kMean + d_, d_);
    for (std::size_t j = 0; j < d_; ++j) factor.row(static_cast<Eigen::Index>(j)) /= sds_[j];
    cluster.scatter.setZero(d, d);
    cluster.scatter.selfadjointView<Eigen::Lower>().rankUpdate(factor);
    cluster.scatter.selfadjointView<Eigen::Lower>().rankUpdate(e, -k0_ * stats[0] / stats[kStrength]);
    cluster.scatter -= dof_ * omega;
  }
  learned_->update({moments_.data(), clusters.size()}, stream);
  adopt_prior();
}

void Gaussian::update_hyper_given(std::span<GaussianMoments> clusters, Stream& stream) {
  if (!learned_) return;
  const auto d = static_cast<Eigen::Index>(d_);
  const Vector units = Eigen::Map<const Vector>(sds_.data(), d).cwiseInverse();
  for (GaussianMoments& cluster : clusters) {
    cluster.mean.array() *= units.array();
    cluster.scatter = units.asDiagonal() * cluster.scatter * units.asDiagonal();
  }
  learned_->update(clusters, stream);
  adopt_prior();
}

void Gaussian::rebase(double* stats, const double* before) const {
  if (!learned_) return;
  const double n = stats[0];
  if (n < 0.5) return clear(stats);
  if (!std::equal(previous_.begin(), previous_.end(), before, before + hyper_size())) {
    Gaussian old(*this);
    old.set_hyper(before);
    old.set_hyper(current_.data());
    return old.rebase(stats, before);
  }
  // The learned values begin with the strength and the prior mean follows three places on.
  const double* old_mean = before + 3;
  const double old_k = before[0] + n;
  const double k = k0_ + n;
  double old_e[kLargestDimension];  // from the prior mean to that of the rows
  double e[kLargestDimension];
  for (std::size_t j = 0; j < d_; ++j) {
    const double old_shift = sds_[j] * old_mean[j];
    old_e[j] = (stats[kMean + j] - old_shift) * (old_k / n);
    e[j] = (old_shift - shift_[j]) + old_e[j];
    stats[kMean + j] = shift_[j] + e[j] * (n / k);
  }
  const double old_weight = before[0] * n / old_k;
  const double weight = k0_ * n / k;
  double* factor = stats + kMean + d_;
  // The factor times its transpose, from the last entry to the first, which can be done in place.
  Matrix wide;
  if (d_ >= kWide) {
    const Matrix lower = lower_factor(factor, d_);
    wide.setZero(lower.rows(), lower.cols());
    wide.selfadjointView<Eigen::Lower>().rankUpdate(lower);
  }
  const auto at = [this](std::size_t i, std::size_t j) { return j * d_ - j * (j + 1) / 2 + i; };
  for (std::size_t i = d_; i-- > 0;)
    for (std::size_t j = i + 1; j-- > 0;) {
      double value = (scale_[i * d_ + j] - previous_scale_[i * d_ + j]) +
                     (weight * e[i] * e[j] - old_weight * old_e[i] * old_e[j]);
      if (d_ >= kWide)
        value += wide(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      else
        for (std::size_t l = 0; l <= j; ++l) value += factor[at(i, l)] * factor[at(j, l)];
      factor[at(i, j)] = value;
    }
  stats[kStrength] = k;
  factorize_packed(factor);
  stats[1] = log_determinant(factor, d_);
}

void Gaussian::factorize_packed(double* packed) const {
  if (d_ < kWide) return factorize(packed, d_, empty_.data() + kMean + d_);
  Matrix matrix = lower_factor(packed, d_);
  const Eigen::LLT<Eigen::Ref<Matrix>> factorization(matrix);
  // Rounding may have taken what the prior gave: the careful way gives it back.
  if (factorization.info() != Eigen::Success) return factorize(packed, d_, empty_.data() + kMean + d_);
  pack_factor(matrix, packed);
}

void Gaussian::merge_wide(double* stats, const double* other) const {
  const double na = stats[0];
  const double nb = other[0];
  const double n = na + nb;
  const double k = k0_ + n;
  const auto d = static_cast<Eigen::Index>(d_);
  const auto from_prior = [&](const double* of, double count) {
    Vector mean(d);
    for (std::size_t j = 0; j < d_; ++j)
      mean(static_cast<Eigen::Index>(j)) = (of[kMean + j] - shift_[j]) * ((k0_ + count) / count);
    return mean;
  };
  const Vector mean_a = from_prior(stats, na);
  const Vector mean_b = from_prior(other, nb);
  const Vector mean = mean_a - (nb / n) * (mean_a - mean_b);
  Matrix lambda = -Eigen::Map<const Matrix>(scale_.data(), d, d);
  auto lower = lambda.selfadjointView<Eigen::Lower>();
  lower.rankUpdate(lower_factor(stats + kMean + d_, d_));
  lower.rankUpdate(lower_factor(other + kMean + d_, d_));
  lower.rankUpdate(mean_a - mean_b, na * nb / n);
  lower.rankUpdate(mean, k0_ * n / k);
  lower.rankUpdate(mean_a, -k0_ * na / (k0_ + na));
  lower.rankUpdate(mean_b, -k0_ * nb / (k0_ + nb));
  for (std::size_t j = 0; j < d_; ++j)
    stats[kMean + j] = shift_[j] + mean(static_cast<Eigen::Index>(j)) * (n / k);
  double* factor = stats + kMean + d_;
  pack_factor(lambda, factor);
  factorize_packed(factor);
  stats[0] = n;
  stats[kStrength] = k;
  stats[1] = log_determinant(factor, d_);
}

std::unique_ptr<Family> Gaussian::with_independent_cells() const {
  constexpr double kShape = 4.0;
  // Of many rows, what tables would say is computed: they would be larger than all that the driver of a table
  // in parts has.
  const auto gammas = std::make_shared<const HalfStepGammas>(kShape, std::min(largest_, kMostTabled));
  std::shared_ptr<const NormalGammaTable> unions;
  if (largest_ <= kMostTabled) unions = std::make_shared<const NormalGammaTable>(k0_, kShape, largest_);
  std::vector<GaussianDiagonalCell> cells;
  for (std::size_t j = 0; j < d_; ++j) {
    // The same expected variance: half the column's standard deviation where the prior is learned, whatever
    // it has learned so far.
    double variance = scale_[j * d_ + j] / std::max(dof_ - static_cast<double>(d_) - 1.0, 1.0);
    if (learned_) variance = kDefaultClusterSd * kDefaultClusterSd * sds_[j] * sds_[j];
    cells.emplace_back(prior_mean_[j], k0_, kShape, (kShape - 1.0) * variance, gammas, unions);
  }
  return std::make_unique<IndependentColumns<GaussianDiagonalCell>>("gaussian-diagonal", std::move(cells));
}

std::vector<std::string> Gaussian::hyper_trace_names() const {
  if (!learned_) return {};
  return {"log_mean_strength", "log_excess_dof", "log_prior_scale"};
}

void Gaussian::hyper_traces(double* values) const {
  if (!learned_) return;
  values[0] = std::log(k0_);
  values[1] = learned_->log_excess_dof();
  // Per column, in units of its standard deviation: half the log determinant of the prior's covariance.
  double log_units = 0.0;
  for (const double sd : sds_) log_units += std::log(sd);
  values[2] =
      (0.5 * (empty_[1] - static_cast<double>(d_) * std::log(dof_)) - log_units) / static_cast<double>(d_);
}

void Gaussian::log_marginals_alone(const double* rows, std::size_t count, double* out) const {
  if (!learned_) return Family::log_marginals_alone(rows, count, out);  // the same bits as ever
  const double* factor = empty_.data() + kMean + d_;
  const double ratio = k0_ / (k0_ + 1.0);
  const double constant = constant_step_[0] - 0.5 * empty_[1];
  Lanes rest[kLargestDimension];
  for (std::size_t first = 0; first < count; first += kLanes) {
    const std::size_t used = std::min(kLanes, count - first);
    bool complete = true;
    for (std::size_t j = 0; j < d_; ++j) {
      Lanes cells{};
      for (std::size_t lane = 0; lane < used; ++lane) cells[lane] = rows[(first + lane) * d_ + j];
      for (std::size_t lane = 0; lane < used; ++lane) complete &= !is_missing(cells[lane]);
      rest[j] = cells - shift_[j];
    }
    if (!complete) {
      for (std::size_t i = first; i < first + used; ++i)
        out[i] = log_predictive(empty_.data(), rows + i * d_);
      continue;
    }
    Lanes q{};
    const double* entry = factor;
    for (std::size_t j = 0; j < d_; ++j) {
      const Lanes z = rest[j] * (1.0 / *entry++);
      q += z * z;
      for (std::size_t i = j + 1; i < d_; ++i) rest[i] -= *entry++ * z;
    }
    const Lanes values = constant - 0.5 * (dof_ + 1.0) * coppice::log(1.0 + ratio * q);
    for (std::size_t lane = 0; lane < used; ++lane) out[first + lane] = values[lane];
  }
}

}  // namespace coppice
