// Gaussian rows with full covariance and a normal-inverse-Wishart prior:
// x ~ N(mu, S), mu | S ~ N(prior_mean, S / mean_strength), S ~ IW(scale, dof).
// With y = x - prior_mean, k = k0 + n, m = sum y / k and Lambda = scale + sum y y' - k m m':
// log m = C(n) - (1/2)(dof + n) log|Lambda|, C(n) = -(n D / 2) log pi + log Gamma_D((dof + n) / 2)
//   - log Gamma_D(dof / 2) + (1/2) dof log|scale| + (D / 2) log(k0 / k).
// The statistics are n, k, m and the Cholesky factor of Lambda; rows enter and leave by rank-one updates,
// which is Welford's recurrence in matrix form: sums of squares are never formed.
//
// The prior is given, or learned (gaussian_prior.hpp). Then y is measured from the column's mean as ever, and
// the prior mean is at a `shift` from there that changes: m = (k0 shift + sum y) / k, and Lambda = scale +
// sum (y - shift)(y - shift)' - k (m - shift)(m - shift)'.
#pragma once

#include <optional>
#include <vector>

#include "coppice/family/family.hpp"
#include "coppice/family/gaussian_prior.hpp"
#include "coppice/family/inputs.hpp"
#include "coppice/family/row_batches.hpp"

namespace coppice {

class Gaussian final : public Family, public RowBatches {
 public:
  /// `scale` is row-major and positive definite; `largest` rows are tabulated.
  Gaussian(std::vector<double> prior_mean, double mean_strength, double dof, std::span<const double> scale,
           std::size_t largest);
  /// With a learned prior; columns are standardized by their means and standard deviations.
  Gaussian(std::vector<double> means, std::vector<double> sds, std::size_t largest);

  static constexpr std::size_t kLargestDimension = 256;

  double mean_strength() const { return k0_; }
  double dof() const { return dof_; }
  const std::vector<double>& scale() const { return scale_; }
  /// The prior mean, measured from the origins of the columns.
  const std::vector<double>& prior_mean_from_origin() const { return shift_; }

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
  void add_copies(double* stats, const double* row, double copies) const override;
  bool remove_copies(double* stats, const double* row, double copies) const override;
  double log_marginal_with(const double* stats, const double* row, double copies) const override;
  double log_marginal_without(const double* stats, const double* row, double copies) const override;
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
  /// A t given the row's present cells.
  CellPredictive predict_cell_given(const double* stats, const double* row,
                                    std::size_t column) const override;
  double cell_log_predictive_given(const double* stats, const double* row, std::size_t column,
                                   double value) const override;
  double cell_log_predictive(const double* stats, std::size_t column, double value) const override;

  bool must_fill(std::size_t) const override { return true; }
  void draw_missing(const double* stats, Stream& stream, double* row) const override;
  void add_log_predictive_of_present(const double* row, const double* cache, std::size_t stride,
                                     std::size_t chunks, double* out) const override;
  void log_marginals_alone(const double* rows, std::size_t count, double* out) const override;

  std::unique_ptr<Family> clone() const override { return std::make_unique<Gaussian>(*this); }
  std::size_t hyper_size() const override { return learned_ ? learned_->size() : 0; }
  void get_hyper(double* values) const override;
  void set_hyper(const double* values) override;
  std::vector<std::string> hyper_names() const override;
  double log_hyper_prior() const override { return learned_ ? learned_->log_density() : 0.0; }
  void draw_hyper_prior(Stream& stream) override;
  void update_hyper_at_power(std::span<const double* const> clusters, Stream& stream, double power) override;
  /// The same for a model with clusters of its own, from their moments in the units of the rows; these are
  /// void after this.
  void update_hyper_given(std::span<GaussianMoments> clusters, Stream& stream);
  void rebase(double* stats, const double* before) const override;
  std::unique_ptr<Family> with_independent_cells() const override;
  std::vector<std::string> hyper_trace_names() const override;
  void hyper_traces(double* values) const override;

  std::unique_ptr<Likelihoods> likelihoods(std::span<const double> thetas) const override;
  void add_rows(double* stats, const double* rows, std::size_t stride,
                std::span<const std::uint32_t> which) const override;
  void draw_missing_given(const double* theta, Stream& stream, double* row) const override;

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
  /// log p of n rows with |Lambda| times a factor.
  double log_marginal_of(const double* stats, double n, double log_factor) const;
  double squared_distance_from_mean(const double* stats, const double* row) const;
  std::vector<double> unpack(const double* stats) const;  // Lambda, row-major
  void set_factor(double* stats, const std::vector<double>& lambda) const;
  void adopt_prior();  // everything below `learned_` from what it says
  // A few million rows or more are in few clusters, whose constants are computed when they are wanted.
  static constexpr std::size_t kMostTabled = 131'072;
  void fill_tables();
  // With at least this many columns, matrices are large enough for blocked products.
  static constexpr std::size_t kWide = 16;
  void merge_wide(double* stats, const double* other) const;
  void factorize_packed(double* packed) const;
  struct Conditional;  // of the missing cells of a row
  Conditional condition(const double* stats, const double* row) const;

  std::size_t d_, triangle_;
  std::vector<double> prior_mean_;        // the origin of rows
  std::vector<double> sds_;               // of the columns, if the prior is learned
  std::optional<GaussianPrior> learned_;  // on the scale of standardized columns
  std::vector<double> shift_;             // of the prior mean from the origin
  double k0_, dof_;
  std::vector<double> scale_;
  std::vector<double> empty_;                                  // statistics of no rows
  std::size_t largest_;                                        // cluster that there can be
  std::vector<double> constant_, constant_step_, gamma_step_;  // by n, of clusters that can be many
  std::vector<GaussianMoments> moments_;                       // scratch of update_hyper
  std::vector<double> current_, previous_, previous_scale_;  // learned values, those before, and their scale
};

FamilyEntry gaussian_entry();

}  // namespace coppice
