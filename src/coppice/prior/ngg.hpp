// The normalized generalized gamma process: a completely random measure with intensity
// alpha sigma / Gamma(1 - sigma) w^(-1 - sigma) e^(-w), normalized. Its partitions are a product over
// clusters given an auxiliary variable u > 0:
//   p(partition, u) = u^(N-1) / Gamma(N) e^(-alpha ((1+u)^sigma - 1))
//                     prod_c alpha sigma Gamma(n_c - sigma) / Gamma(1 - sigma) (1+u)^(sigma - n_c).
// For small sigma u is astronomically large; what is kept is log t with t = (1+u)^sigma - 1, which stays of
// order log K. As a product over clusters (without what all partitions of N rows share) kappa(1) is
// alpha sigma (1 + t).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coppice/base/rng.hpp"
#include "coppice/prior/concentration.hpp"
#include "coppice/prior/product_partition.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// sigma ~ Beta(a, b).
struct BetaPrior {
  double a = 1.0;
  double b = 1.0;
  double log_density(double value) const;
  double draw(Stream& stream) const;
};

/// log u and log(1 + u) for u = (1 + t)^(1/sigma) - 1.
double ngg_log_u(double log_t, double sigma);
double ngg_log1p_u(double log_t, double sigma);

/// The number of clusters of that many rows, drawn from its law without the partition. The work grows with
/// the number of clusters alone.
std::size_t draw_ngg_cluster_count(Stream& stream, double alpha, double sigma, std::size_t rows);

class Ngg final : public ProductPartition {
 public:
  /// The auxiliary variable begins at t = 1 / alpha.
  Ngg(double alpha, double sigma, std::size_t rows);

  double alpha() const { return alpha_; }
  double sigma() const { return discount(); }
  double log_t() const { return log_t_; }
  double log_u() const { return ngg_log_u(log_t_, sigma()); }
  void set(double alpha, double sigma, double log_t);

  /// log p(partition, u), a density in u, for these cluster sizes (empty ones are skipped).
  double log_partition_and_u(std::span<const std::uint32_t> sizes) const;
  /// log p(partition), u integrated out by quadrature.
  double log_partition(std::span<const std::uint32_t> sizes) const;
  /// log V(n, K): log p(partition) without the factors Gamma(n_c - sigma) / Gamma(1 - sigma).
  double log_v(std::size_t rows, std::size_t clusters) const;

  /// A partition of all rows drawn from the prior, and u from its law given the partition.
  void draw_partition(Stream& stream, std::span<Label> labels);

  /// Updates that leave p(partition, u) times the priors invariant; `update_sigma` holds t, not u.
  void update_auxiliary(Stream& stream, std::size_t rows, std::size_t clusters);
  void update_alpha(Stream& stream, const GammaPrior& prior, std::size_t clusters);
  void update_sigma(Stream& stream, const BetaPrior& prior, std::span<const std::uint32_t> sizes);

 private:
  double alpha_ = 1.0;
  double log_t_ = 0.0;
};

}  // namespace coppice
