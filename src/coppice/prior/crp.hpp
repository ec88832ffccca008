// The Chinese restaurant process, the partition law of the Dirichlet process:
// p(partition) = Gamma(alpha) / Gamma(alpha + N) alpha^K prod_c Gamma(n_c).
// Samplers use its product form, prod_c kappa(n_c) with kappa(n) = alpha Gamma(n); other normalised random
// measures have the same three functions (log_kappa, log_join, log_open) with another kappa.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

class Crp {
 public:
  Crp(double alpha, std::size_t rows);

  double alpha() const { return alpha_; }
  void set_alpha(double alpha);

  /// log of kappa(n + 1) / kappa(n): the weight of joining a cluster of n rows; minus infinity for n = 0.
  double log_join(std::size_t n) const { return log_join_[n]; }
  std::span<const double> log_join_table() const { return log_join_; }
  /// log kappa(1): the weight of opening a cluster.
  double log_open() const { return log_alpha_; }
  /// log kappa(n), n >= 1.
  double log_kappa(std::size_t n) const { return log_alpha_ + log_factorial_[n - 1]; }
  /// log p(partition) for these cluster sizes (empty ones are skipped).
  double log_partition(std::span<const std::uint32_t> sizes) const;

  /// A partition of all rows drawn from the prior.
  void draw_partition(Stream& stream, std::span<Label> labels) const;

 private:
  std::size_t rows_;
  double alpha_ = 1.0;
  double log_alpha_ = 0.0;
  std::vector<double> log_join_;       // log n
  std::vector<double> log_factorial_;  // log n!
};

/// alpha ~ Gamma(shape, rate).
struct GammaPrior {
  double shape = 1.0;
  double rate = 1.0;
  double log_density(double value) const;
  double draw(Stream& stream) const;
};

/// One exact two-block Gibbs update of alpha given K clusters of N rows: eta ~ Beta(alpha, N), then
/// alpha ~ Gamma(shape + K, rate - log eta).
double update_concentration(Stream& stream, const GammaPrior& prior, double alpha, std::size_t clusters,
                            std::size_t rows);

}  // namespace coppice
