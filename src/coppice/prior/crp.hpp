// The Chinese restaurant process, the partition law of the Dirichlet process:
// p(partition) = Gamma(alpha) / Gamma(alpha + N) alpha^K prod_c Gamma(n_c).
// As a product over clusters it has kappa(n) = alpha Gamma(n).
#pragma once

#include <cstddef>
#include <span>

#include "coppice/base/rng.hpp"
#include "coppice/prior/product_partition.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

class Crp final : public ProductPartition {
 public:
  Crp(double alpha, std::size_t rows);

  double alpha() const { return alpha_; }
  void set_alpha(double alpha);

  /// log p(partition) for these cluster sizes (empty ones are skipped).
  double log_partition(std::span<const std::uint32_t> sizes) const;

  /// A partition of all rows drawn from the prior.
  void draw_partition(Stream& stream, std::span<Label> labels) const;

 private:
  double alpha_ = 1.0;
};

}  // namespace coppice
