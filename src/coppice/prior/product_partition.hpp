// Laws of partitions that are products over clusters: p(partition | whatever else the prior has) is
// proportional to prod_c kappa(n_c), with kappa(n) = kappa(1) Gamma(n - sigma) / Gamma(1 - sigma). The
// Dirichlet process (sigma = 0) and, given its auxiliary variable, the normalized generalized gamma process
// have this form. Factors that are the same for all partitions of the rows are left out of kappa. Samplers
// see a prior through these functions alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coppice {

class ProductPartition {
 public:
  /// log of kappa(n + 1) / kappa(n) = log(n - sigma): the weight of joining a cluster of n rows; minus
  /// infinity for n = 0.
  double log_join(std::size_t n) const { return log_join_[n]; }
  /// log_join for 0 to `rows` rows; stays where it is when its values change.
  std::span<const double> log_join_table() const { return log_join_; }
  /// log kappa(1): the weight of opening a cluster.
  double log_open() const { return log_open_; }
  /// log kappa(n), n >= 1, of any size.
  double log_kappa(std::size_t n) const {
    return log_open_ + (n < log_rising_.size() ? log_rising_[n] : log_rising(n));
  }
  double discount() const { return discount_; }

 protected:
  /// Clusters of at most so many rows have log_join.
  explicit ProductPartition(std::size_t rows);
  void set_log_open(double log_open) { log_open_ = log_open; }
  /// 0 <= sigma < 1; costs O(rows) if the value is new.
  void set_discount(double sigma);
  /// Sum of log kappa over the clusters of these sizes, and how many rows they have; empty ones do not count.
  struct LogKappas {
    double total = 0.0;
    std::size_t rows = 0;
  };
  LogKappas log_kappas(std::span<const std::uint32_t> sizes) const;

 private:
  double log_rising(std::size_t n) const;

  double discount_ = 0.0;
  double log_open_ = 0.0;
  std::vector<double> log_join_;
  std::vector<double> log_rising_;  // log of Gamma(n - sigma) / Gamma(1 - sigma)
};

}  // namespace coppice
