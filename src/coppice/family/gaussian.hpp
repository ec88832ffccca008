// Gaussian rows with full covariance and a normal-inverse-Wishart prior:
// x ~ N(mu, S), mu | S ~ N(prior_mean, S / mean_strength), S ~ IW(scale, dof).
// With y = x - prior_mean, k = k0 + n, m = sum y / k and Lambda = scale + sum y y' - k m m':
// log m = C(n) - (1/2)(dof + n) log|Lambda|, C(n) = -(n D / 2) log pi + log Gamma_D((dof + n) / 2)
//   - log Gamma_D(dof / 2) + (1/2) dof log|scale| + (D / 2) log(k0 / k).
// The statistics are n, k, m and the Cholesky factor of Lambda; rows enter and leave by rank-one updates,
// which is Welford's recurrence in matrix form: sums of squares are never formed.
#pragma once

#include <vector>

#include "coppice/family/family.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

class Gaussian final : public Family {
 public:
  /// `scale` is row-major and positive definite; `largest` rows are tabulated.
  Gaussian(std::vector<double> prior_mean, double mean_strength, double dof, std::span<const double> scale,
           std::size_t largest);

  static constexpr std::size_t kLargestDimension = 256;

  double mean_strength() const { return k0_; }
  double dof() const { return dof_; }
  const std::vector<double>& scale() const { return scale_; }

  std::string_view name() const override { return "gaussian"; }
  std::size_t width() const override { return d_; }
  std::size_t stats_size() const override {
    return kMean + d_ + triangle_;
  }  // n, log|Lambda|, k, m, factor by columns
  std::size_t theta_size() const override { return d_ + triangle_; }  // mu, Cholesky factor of S by columns
  std::size_t cache_size() const override { return 7 + d_ + triangle_; }
  double origin(std::size_t column) const override { return prior_mean_[column]; }

  void clear(double* stats) const override;
  void add(double* stats, const double* row) const override;
  bool remove(double* stats, const double* row) const override;
  void merge(double* stats, const double* other) const override;
  double log_marginal(const double* stats) const override;
  /// Missing cells are integrated out exactly (the predictive is a multivariate t).
  double log_predictive(const double* stats, const double* row) const override;
  void draw_theta(const double* stats, Stream& stream, double* theta) const override;
  void draw(const double* theta, Stream& stream, double* row) const override;
  double log_likelihood(const double* theta, const double* row) const override;
  void fill_cache(const double* stats, double* cache) const override;
  void add_log_predictive(const double* row, const double* cache, std::size_t stride, std::size_t chunks,
                          const OwnCluster& own, double* out) const override;
  CellPredictive predict_cell(const double* stats, std::size_t column) const override;
  std::unique_ptr<Family> clone() const override { return std::make_unique<Gaussian>(*this); }

  /// Statistics whose predictive has another strength k than that of n rows of their own, for models in which
  /// clusters share a covariance. Only predictives have a meaning for them.
  void set_posterior(double* stats, double n, double strength, const double* mean,
                     const double* factor) const;

 private:
  enum : std::size_t { kStrength = 2, kMean = 3 };  // places in the statistics

  double log_constant(double n) const;                 // C(n)
  double log_constant_step(double n, double k) const;  // C(n + 1) - C(n)
  double log_gamma_step(double n) const;               // the part of it without k
  double log_predictive_of_present(const double* stats, const double* row) const;
  std::vector<double> unpack(const double* stats) const;  // Lambda, row-major
  void set_factor(double* stats, const std::vector<double>& lambda) const;

  std::size_t d_, triangle_;
  std::vector<double> prior_mean_;
  double k0_, dof_;
  std::vector<double> scale_;
  std::vector<double> empty_;                                  // statistics of no rows
  std::vector<double> constant_, constant_step_, gamma_step_;  // by n
};

FamilyEntry gaussian_entry();

}  // namespace coppice
