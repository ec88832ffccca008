// The learned prior of a Gaussian block, on the scale of standardized columns:
//   S_c ~ IW(nu Omega, nu),  mu_c | S_c ~ N(mu0, S_c / kappa),  mu0 ~ N(0, I),
//   log kappa ~ N(log 0.1, 1),  log(nu - D + 1) ~ N(log 8, 1.5^2) with nu - D + 1 >= 2,
//   Omega ~ W(w, diag(o) / w),  o_j ~ IG(1.5, 0.75),  log(w - D + 1) ~ N(log 10, 1.5^2) with w - D + 1 >= 1,
// where IW(Psi, nu) has the density |S|^(-(nu + D + 1) / 2) exp(-tr(Psi S^-1) / 2) and W(w, V) the mean w V.
// A large nu makes all clusters share one covariance, a large w draws that toward a diagonal.
#pragma once

#include <Eigen/Cholesky>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coppice/base/rng.hpp"

namespace coppice {

/// What the rows of a cluster say: their number, how many rows their mean is worth (as many, unless their own
/// means vary), that mean, and the scatter about it (its lower triangle).
struct GaussianMoments {
  double n = 0.0;
  double weight = 0.0;
  Eigen::VectorXd mean;
  Eigen::MatrixXd scatter;
};

class GaussianPrior {
 public:
  /// At values from which learning begins: clusters of half the columns' standard deviations.
  explicit GaussianPrior(std::size_t dimension);

  double mean_strength() const { return values_[kMeanStrength]; }
  double dof() const { return values_[kDof]; }
  const double* mean() const { return values_.data() + kMean; }
  /// Omega = E[S^-1]^-1, both triangles.
  Eigen::MatrixXd covariance() const;

  std::size_t size() const { return kMean + 2 * d_ + d_ * (d_ + 1) / 2; }
  std::span<const double> values() const { return values_; }
  /// Throws Error{bad_data} for values outside of their range.
  void set_values(const double* values);
  std::vector<std::string> names() const;

  /// Log prior density in log kappa, log(nu - D + 1), log(w - D + 1), mu0, o and the triangle of Omega.
  double log_density() const;
  void draw(Stream& stream);
  /// Leaves p(values | moments of the clusters) invariant; kappa and nu are updated with the clusters'
  /// parameters integrated out, the others given a fresh draw of these.
  void update(std::span<const GaussianMoments> clusters, Stream& stream);

  double log_excess_dof() const;  // log(nu - D + 1)

 private:
  using Matrix = Eigen::MatrixXd;
  using Vector = Eigen::VectorXd;
  enum : std::size_t { kMeanStrength = 0, kDof = 1, kTargetDof = 2, kMean = 3 };  // places in the values

  double dimension() const { return static_cast<double>(d_); }
  double* target() { return values_.data() + kMean + d_; }
  const double* target() const { return values_.data() + kMean + d_; }
  double log_excess_target() const;  // log(w - D + 1)
  /// The Cholesky factor of Omega, which is positive definite however few digits are stored: packed, column
  /// by column.
  const double* factor() const { return values_.data() + kMean + 2 * d_; }
  double log_determinant() const;  // of Omega
  void set_factor(const Matrix& lower);
  void set_log_excess_dof(double log_excess);
  void update_mean_strength(std::span<const GaussianMoments> clusters, Stream& stream);
  /// nu with the clusters' parameters integrated out.
  void update_dof(std::span<const GaussianMoments> clusters, Stream& stream);
  /// Omega and o times one number, likewise.
  void update_scale(std::span<const GaussianMoments> clusters, Stream& stream);
  /// nu given their precisions: how many, the sum of log|P|, and tr(Omega sum of P).
  void update_dof_given(double clusters, double log_precisions, double trace, Stream& stream);
  void update_target(Stream& stream);
  /// Puts the factor of a cluster's Lambda into work_.
  void set_lambda(const GaussianMoments& cluster, std::size_t k, double nu);

  std::size_t d_;
  std::vector<double> values_;
  // Scratch of an update.
  Matrix omega_, distances_, work_, root_, precisions_;
  Vector from_mean_;
  struct Part {
    double n, weight, squared_distance;
  };
  std::vector<Part> parts_;
};

}  // namespace coppice
