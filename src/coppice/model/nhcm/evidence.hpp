// The evidence of a cluster of sub-clusters, all Gaussian parameters integrated out. A sub-cluster of n rows
// counts as one point, its mean, of weight w = n / (1 + q n). With W the sum of the weights, m the weighted
// mean, m_p the prior mean and B the scatter within and between sub-clusters:
// Psi = scale + B + k0 W / (k0 + W) (m - m_p)(m - m_p)' and
// log M = C(n) + (D / 2)(log k0 - log(k0 + W) - sum log(1 + q n_t)) - (1/2)(dof + n) log|Psi|.
// A row that joins a sub-cluster of n rows has a t density with scale Psi, dof + n_cluster - D + 1 degrees of
// freedom and strength kappa + n around (kappa m_0 + n x) / (kappa + n); m_0 and kappa = 1 / (q + 1 / A) are
// what the prior and the other sub-clusters say of its place: A = k0 + W and m_0 = (k0 m_p + W m) / A, both
// without it. Rows are measured from the origins of the columns, which are at the prior mean unless that is
// learned.
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/family/gaussian.hpp"
#include "coppice/family/scatter_moments.hpp"
#include "coppice/model/model.hpp"

namespace coppice::nhcm {

/// The family of a problem, which must be the full-covariance Gaussian; that of single rows if they have
/// copies.
const Gaussian& gaussian_of(const Problem& problem);

/// Sub-clusters have the statistics of ScatterMoments. Those of a cluster are its number of rows, the sum of
/// log(1 + q n_t), and the moments of its sub-clusters as weighted points.
class Evidence {
 public:
  /// For as many rows, each of the copies being one.
  Evidence(const Gaussian& prior, double spread, std::size_t rows);

  std::size_t dimension() const { return d_; }
  double mean_strength() const { return k0_; }
  double dof() const { return dof_; }
  double spread() const { return spread_; }
  /// Statistics of clusters are void after this.
  void set_spread(double spread) { spread_ = spread; }
  /// Takes in that the prior has learned other values. Factors and marginals are void after this.
  void adopt(const Gaussian& prior);
  /// The prior mean.
  const std::vector<double>& prior_mean() const { return prior_mean_; }
  const ScatterMoments& moments() const { return moments_; }
  /// An entry of the prior's scale, i >= j.
  double scale(std::size_t i, std::size_t j) const { return scale_[j * d_ - (j * j + j) / 2 + i]; }

  const double* scale_factor() const { return scale_factor_.data(); }

  /// Weight of a sub-cluster of n rows.
  double weight_of(double n) const { return n / (1.0 + spread_ * n); }

  std::size_t cluster_size() const { return kMoments + moments_.size(); }
  void clear(double* cluster) const;
  void take_in(double* cluster, const double* sub) const;
  static double rows(const double* cluster) { return cluster[kRows]; }
  static double weight(const double* cluster) { return cluster[kMoments]; }
  static const double* mean(const double* cluster) { return cluster + kMoments + 1; }
  /// Statistics whose rows, weight and mean are those of a cluster and two sub-clusters more; the scatter is
  /// void.
  void join_places(double* cluster, const double* rest, const double* first, const double* second) const;

  /// What the cluster says of the prior.
  void get_moments(const double* cluster, GaussianMoments& moments) const;

  std::size_t factor_size() const { return d_ * (d_ + 1) / 2; }
  /// Writes the packed Cholesky factor of Psi; returns log|Psi|.
  double factorize(const double* cluster, double* factor) const;
  double log_marginal(const double* cluster, double log_determinant) const;
  /// The same from the statistics alone; `scratch` holds a factor.
  double log_marginal(const double* cluster, std::vector<double>& scratch) const;

  /// Center of the density of a row that joins the sub-cluster, or a new one if it is nullptr; returns its
  /// strength.
  double locate(const double* cluster, const double* sub, double* center) const;
  /// The density's normalizing constant for a cluster of this many rows, without determinant and strength.
  double log_step(double rows) const { return log_step_[static_cast<std::size_t>(rows)]; }
  /// Log density of copies of a row that join a sub-cluster together: `strength` is that of its place, and
  /// `distance` the squared distance from its center in units of Psi.
  double log_density(double rows, double log_determinant, double strength, double distance,
                     double copies) const;

 private:
  enum : std::size_t { kRows = 0, kLogSpread = 1, kMoments = 2 };  // places in the statistics of a cluster

  ScatterMoments moments_;
  std::size_t d_;
  double k0_ = 0.0, dof_ = 0.0, spread_;
  std::vector<double> prior_mean_;
  std::vector<double> scale_, scale_factor_;     // packed lower triangles
  std::vector<double> log_constant_, log_step_;  // by the number of rows
};

}  // namespace coppice::nhcm
