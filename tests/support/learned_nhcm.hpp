// Clusters of sub-clusters with a learned prior of one column, against enumeration over all nested partitions
// with the hyper-parameters summed over a grid. The evidence is written out once more: the rows of a cluster
// are jointly t with row covariance C + 1 / k0, where C = I + q (same sub-cluster).
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coppice/model/learned_payload.hpp"
#include "learned/learned_case.hpp"
#include "support/nhcm_problem.hpp"

namespace coppice::test {

/// What the evidence of a cluster needs of its rows and their sub-clusters.
struct NhcmClusterSums {
  double n, log_determinant, xx, x1, ones;  // log|C|, x' C^-1 x, x' C^-1 1, 1' C^-1 1

  NhcmClusterSums(const std::vector<double>& x, const Labels& subclusters, double spread)
      : n(static_cast<double>(x.size())) {
    const auto size = static_cast<Eigen::Index>(x.size());
    Eigen::MatrixXd between(size, size);
    for (Eigen::Index i = 0; i < size; ++i)
      for (Eigen::Index j = 0; j < size; ++j)
        between(i, j) =
            (i == j ? 1.0 : 0.0) +
            (subclusters[static_cast<std::size_t>(i)] == subclusters[static_cast<std::size_t>(j)] ? spread
                                                                                                  : 0.0);
    const Eigen::VectorXd values = Eigen::Map<const Eigen::VectorXd>(x.data(), size);
    const Eigen::VectorXd one = Eigen::VectorXd::Ones(size);
    log_determinant = std::log(between.determinant());
    xx = values.dot(between.ldlt().solve(values));
    x1 = one.dot(between.ldlt().solve(values));
    ones = one.dot(between.ldlt().solve(one));
  }

  double log_evidence(double kappa, double nu, double mean, double omega) const {
    const double pulled = x1 - mean * ones;
    const double squares = xx - 2.0 * mean * x1 + mean * mean * ones - pulled * pulled / (kappa + ones);
    return -0.5 * n * kLogPi + log_gamma(0.5 * (nu + n)) - log_gamma(0.5 * nu) +
           0.5 * nu * std::log(nu * omega) - 0.5 * (nu + n) * std::log(nu * omega + squares) -
           0.5 * (log_determinant + std::log1p(ones / kappa));
  }
};

/// The posterior of the shapes, and the means of log kappa, log nu, mu0 and log Omega.
class LearnedNhcmLaw {
 public:
  LearnedNhcmLaw(const Rows& rows, const NhcmModel& settings, std::size_t fineness) {
    const PriorGrid grid(fineness);
    std::vector<double> evidence_logs;  // of all shapes
    std::vector<std::array<double, 4>> moments;
    posterior_ = std::make_unique<NhcmPosterior>(rows.size(), [&](const NhcmShape& shape) {
      std::vector<NhcmClusterSums> clusters;
      for (std::size_t c = 0; c < shape.cluster_count(); ++c) {
        std::vector<double> x;
        Labels subclusters;
        for (std::size_t row = 0; row < rows.size(); ++row)
          if (shape.cluster(row) == static_cast<Label>(c)) {
            x.push_back(rows[row][0]);
            subclusters.push_back(shape.subclusters[row]);
          }
        clusters.emplace_back(x, subclusters, settings.spread);
      }
      std::vector<double> logs;
      for (const PriorGrid::Point& point : grid.points()) {
        logs.push_back(point.log_weight);
        for (const NhcmClusterSums& cluster : clusters)
          logs.back() += cluster.log_evidence(std::exp(point.log_kappa), std::exp(point.log_nu), point.mean,
                                              std::exp(point.log_omega));
      }
      const double total = log_sum_exp(logs);
      moments.emplace_back();
      for (std::size_t i = 0; i < logs.size(); ++i) {
        const PriorGrid::Point& point = grid.points()[i];
        const double weight = std::exp(logs[i] - total);
        const double values[] = {point.log_kappa, point.log_nu, point.mean, point.log_omega};
        for (std::size_t j = 0; j < 4; ++j) moments.back()[j] += weight * values[j];
      }
      return log_prior(settings, shape) + total;
    });
    for (std::size_t i = 0; i < posterior_->size(); ++i)
      for (std::size_t j = 0; j < 4; ++j) moments_[j] += posterior_->probability(i) * moments[i][j];
  }
  const NhcmPosterior& posterior() const { return *posterior_; }
  double moment(std::size_t j) const { return moments_[j]; }

 private:
  std::unique_ptr<NhcmPosterior> posterior_;
  double moments_[4] = {};
};

/// Four rows of one column; the model's numbers are those that stay fixed.
struct LearnedNhcmCase {
  LearnedNhcmCase() {
    rows.width = 1;
    rows.cells = {-1.1, -0.5, 0.9, 2.3};
    model.spread = 1.5;
    model.alpha_clusters = 0.8;
    model.alpha_subclusters = 1.3;
  }
  std::vector<std::string> settings() const {
    return {"alpha-clusters=" + std::to_string(model.alpha_clusters),
            "alpha-subclusters=" + std::to_string(model.alpha_subclusters),
            "spread=" + std::to_string(model.spread),
            std::string("nesting=\"") + (model.nested ? "nested" : "global") + "\""};
  }

  Rows rows;
  NhcmModel model;
};

inline Agreement compare_learned_nhcm(const LearnedNhcmCase& small, const LearnedNhcmLaw& law,
                                      std::uint64_t seed, std::size_t draws) {
  const ModelEntry& entry = model_by_name("nhcm");
  const Gaussian block = learned_block(1, small.rows.size());
  const Problem problem{&block, &small.rows,
                        ParameterValues(entry.parameters, settings_from(small.settings()))};
  const std::unique_ptr<Inference> chain = entry.make_inference(problem);
  Visits visits(law.posterior().size(), draws);
  Labels both(2 * small.rows.size());
  std::vector<std::vector<double>> hyper(4);
  chain->init({seed, 0, 0});
  for (std::size_t sweep = 1; sweep <= 500 + draws; ++sweep) {
    chain->step({seed, 0, sweep});
    if (sweep <= 500) continue;
    chain->labels(both);
    visits.add(law.posterior().index(nhcm_shape(both)));
    GaussianPrior prior(1);
    prior.set_values(read_learned(chain->payload(), block.hyper_size(), 0).hyper.data());
    const double values[] = {std::log(prior.mean_strength()), std::log(prior.dof()), prior.mean()[0],
                             std::log(prior.covariance()(0, 0))};
    for (std::size_t j = 0; j < 4; ++j) hyper[j].push_back(values[j]);
  }
  Agreement agreement = compare(law.posterior(), visits);
  for (std::size_t j = 0; j < 4; ++j)
    agreement.check("value " + std::to_string(j), batch_estimate(hyper[j]), law.moment(j));
  return agreement;
}

}  // namespace coppice::test
