// All partitions of a few rows into sub-clusters and of those into clusters, with the prior and the evidence
// written out once more from their definitions: sums over rows, dense matrices, no kept statistics. Shares no
// code with the model.
#pragma once

#include <Eigen/Cholesky>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice::test {

struct NhcmModel {
  Eigen::MatrixXd rows;  // one row each
  Eigen::VectorXd prior_mean;
  Eigen::MatrixXd scale;
  double mean_strength = 1.0;
  double dof = 5.0;
  double spread = 3.0;
  double alpha_clusters = 1.0;
  double alpha_subclusters = 1.0;
  bool nested = false;
};

/// Sub-clusters of rows and clusters of sub-clusters, both canonical.
struct NhcmShape {
  Labels subclusters;  // by row
  Labels parents;      // by sub-cluster

  std::size_t sub_count() const { return parents.size(); }
  std::size_t cluster_count() const { return cluster_sizes(parents).size(); }
  Label cluster(std::size_t row) const { return parents[static_cast<std::size_t>(subclusters[row])]; }
  /// "00112|001"
  std::string key() const { return partition_key(subclusters) + "|" + partition_key(parents); }
};

/// From labels by row of both levels, clusters first.
inline NhcmShape nhcm_shape(std::span<const Label> both) {
  const std::size_t rows = both.size() / 2;
  NhcmShape shape;
  shape.subclusters.assign(both.begin() + static_cast<std::ptrdiff_t>(rows), both.end());
  canonicalize(shape.subclusters);
  shape.parents.resize(cluster_sizes(shape.subclusters).size());
  for (std::size_t row = 0; row < rows; ++row)
    shape.parents[static_cast<std::size_t>(shape.subclusters[row])] = both[row];
  canonicalize(shape.parents);
  return shape;
}

inline double log_prior(const NhcmModel& model, const NhcmShape& shape) {
  const auto crp = [](double alpha, std::span<const Label> labels) {
    double total = log_gamma(alpha) - log_gamma(alpha + static_cast<double>(labels.size()));
    for (const std::size_t size : cluster_sizes(labels))
      total += std::log(alpha) + log_gamma(static_cast<double>(size));
    return total;
  };
  if (!model.nested)
    return crp(model.alpha_subclusters, shape.subclusters) + crp(model.alpha_clusters, shape.parents);
  Labels clusters;
  for (std::size_t row = 0; row < shape.subclusters.size(); ++row) clusters.push_back(shape.cluster(row));
  canonicalize(clusters);
  double total = crp(model.alpha_clusters, clusters);
  for (std::size_t cluster = 0; cluster < shape.cluster_count(); ++cluster) {
    Labels inside;
    for (std::size_t row = 0; row < clusters.size(); ++row)
      if (clusters[row] == static_cast<Label>(cluster)) inside.push_back(shape.subclusters[row]);
    canonicalize(inside);
    total += crp(model.alpha_subclusters, inside);
  }
  return total;
}

/// Log evidence of one cluster, given the sub-cluster of each of its rows: the rows are jointly a matrix t
/// with row covariance I + q (same sub-cluster) + 1 / k0.
inline double log_evidence(const NhcmModel& model, const std::vector<std::size_t>& members,
                           std::span<const Label> subclusters) {
  const auto n = static_cast<Eigen::Index>(members.size());
  const Eigen::Index d = model.rows.cols();
  Eigen::MatrixXd between(n, n);
  Eigen::MatrixXd x(n, d);
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::size_t row = members[static_cast<std::size_t>(i)];
    x.row(i) = model.rows.row(static_cast<Eigen::Index>(row)) - model.prior_mean.transpose();
    for (Eigen::Index j = 0; j < n; ++j) {
      const bool same = subclusters[row] == subclusters[members[static_cast<std::size_t>(j)]];
      between(i, j) = (i == j ? 1.0 : 0.0) + (same ? model.spread : 0.0) + 1.0 / model.mean_strength;
    }
  }
  const Eigen::MatrixXd psi = model.scale + x.transpose() * between.ldlt().solve(x);
  const auto log_det = [](const Eigen::MatrixXd& m) {
    return 2.0 * Eigen::MatrixXd(m.llt().matrixL()).diagonal().array().log().sum();
  };
  const auto dimension = static_cast<std::size_t>(d);
  const double count = static_cast<double>(n);
  return -0.5 * count * static_cast<double>(d) * kLogPi +
         log_gamma_multivariate(dimension, 0.5 * (model.dof + count)) -
         log_gamma_multivariate(dimension, 0.5 * model.dof) + 0.5 * model.dof * log_det(model.scale) -
         0.5 * (model.dof + count) * log_det(psi) - 0.5 * static_cast<double>(d) * log_det(between);
}

inline double log_evidence(const NhcmModel& model, const NhcmShape& shape, std::size_t cluster) {
  std::vector<std::size_t> members;
  for (std::size_t row = 0; row < shape.subclusters.size(); ++row)
    if (shape.cluster(row) == static_cast<Label>(cluster)) members.push_back(row);
  return log_evidence(model, members, shape.subclusters);
}

inline double log_joint(const NhcmModel& model, const NhcmShape& shape) {
  double total = log_prior(model, shape);
  for (std::size_t cluster = 0; cluster < shape.cluster_count(); ++cluster)
    total += log_evidence(model, shape, cluster);
  return total;
}

/// The posterior over all shapes.
class NhcmPosterior {
 public:
  explicit NhcmPosterior(const NhcmModel& model)
      : NhcmPosterior(static_cast<std::size_t>(model.rows.rows()),
                      [&](const NhcmShape& shape) { return log_joint(model, shape); }) {
    for (const NhcmShape& shape : shapes_) prior_mass_ += std::exp(log_prior(model, shape));
  }
  /// From log p(shape, data).
  template <typename LogJoint>
  NhcmPosterior(std::size_t rows, LogJoint&& log_joint_of) : rows_(rows) {
    std::vector<double> logs;
    for_each_partition(rows_, [&](std::span<const Label> subs, std::size_t count) {
      for_each_partition(count, [&](std::span<const Label> parents, std::size_t) {
        NhcmShape shape{{subs.begin(), subs.end()}, {parents.begin(), parents.end()}};
        index_.emplace(shape.key(), shapes_.size());
        logs.push_back(log_joint_of(shape));
        shapes_.push_back(std::move(shape));
      });
    });
    log_evidence_ = log_sum_exp(logs);
    for (const double value : logs) probability_.push_back(std::exp(value - log_evidence_));
  }

  std::size_t rows() const { return rows_; }
  std::size_t size() const { return shapes_.size(); }
  const NhcmShape& shape(std::size_t i) const { return shapes_[i]; }
  double probability(std::size_t i) const { return probability_[i]; }
  const std::vector<double>& probabilities() const { return probability_; }
  std::size_t index(const NhcmShape& shape) const { return index_.at(shape.key()); }
  double log_evidence() const { return log_evidence_; }
  double prior_mass() const { return prior_mass_; }

  /// Probability of an event of shapes.
  template <typename Event>
  double sum(Event&& event) const {
    double total = 0.0;
    for (std::size_t i = 0; i < size(); ++i)
      if (event(shapes_[i])) total += probability_[i];
    return total;
  }

 private:
  std::size_t rows_;
  std::vector<NhcmShape> shapes_;
  std::vector<double> probability_;
  std::map<std::string, std::size_t> index_;
  double log_evidence_ = 0.0;
  double prior_mass_ = 0.0;
};

}  // namespace coppice::test
