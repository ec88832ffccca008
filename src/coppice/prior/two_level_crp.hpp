// Rows in sub-clusters, sub-clusters in clusters. Two laws, which are not the same:
// global: the rows are seated by one CRP(alpha_subclusters), the sub-clusters by a CRP(alpha_clusters);
// nested: the rows are seated by a CRP(alpha_clusters), those of each cluster by a CRP(alpha_subclusters).
// With T_r sub-clusters and N_r rows in cluster r, n_t rows in sub-cluster t, both are
// alpha_s^C alpha_c^R prod_t Gamma(n_t) prod_r phi(T_r, N_r) times a factor of N and C, where phi is Gamma(T)
// (global) or Gamma(N) Gamma(alpha_s) / Gamma(alpha_s + N) (nested).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/prior/concentration.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

class TwoLevelCrp {
 public:
  enum class Nesting { global, nested };

  /// What there is in one cluster.
  struct Cluster {
    std::uint32_t subclusters = 0;
    std::uint32_t rows = 0;
  };

  TwoLevelCrp(Nesting nesting, double alpha_clusters, double alpha_subclusters, std::size_t rows);

  double alpha_clusters() const { return alpha_clusters_; }
  double alpha_subclusters() const { return alpha_subclusters_; }
  void set(double alpha_clusters, double alpha_subclusters);

  /// Log weights of a row given all others: it joins a sub-cluster of `size` rows, or opens one in a cluster,
  /// or opens one in a new cluster (an empty one). The weights of opening lack open_shift.
  double log_join(std::uint32_t size, const Cluster& cluster) const;
  double log_open(const Cluster& cluster) const;
  /// The same for several copies of a row at once, which stay together.
  double log_join(std::uint32_t size, const Cluster& cluster, std::uint32_t copies) const;
  double log_open(const Cluster& cluster, std::uint32_t copies) const;
  /// To be added to log_open when the others have `subclusters` sub-clusters.
  double log_open_shift(std::size_t subclusters) const;

  /// log phi; 0 for an empty cluster.
  double log_cluster(const Cluster& cluster) const;
  /// Log ratio of a sub-cluster in two parts to the whole; `cluster` and `subclusters` count it as one.
  double log_split(std::uint32_t first, std::uint32_t second, const Cluster& cluster,
                   std::size_t subclusters) const;

  /// Log probability of a shape; empty sub-clusters and clusters are skipped.
  double log_probability(std::span<const std::uint32_t> sizes, std::span<const Cluster> clusters) const;

  /// Labels of both levels for all rows.
  void draw(Stream& stream, std::span<Label> clusters, std::span<Label> subclusters) const;

  /// One exact update of a concentration given the shape.
  void update_alpha_clusters(Stream& stream, const GammaPrior& prior, std::span<const Cluster> clusters);
  void update_alpha_subclusters(Stream& stream, const GammaPrior& prior, std::span<const Cluster> clusters);

 private:
  Nesting nesting_;
  double alpha_clusters_ = 1.0, alpha_subclusters_ = 1.0;
  double log_alpha_clusters_ = 0.0, log_alpha_subclusters_ = 0.0;
  std::vector<double> log_;  // of the numbers up to that of the rows; log_[0] is not used
};

}  // namespace coppice
