// Expert B: for each label a linear classifier with a normal prior on its weights, logistic (Polya-Gamma
// augmentation) or a Bayesian support vector machine (inverse-Gaussian augmentation). Given the augmentation
// both are weighted least squares: precision = prior + sum omega_i x_i x_i', right-hand side = sum t_i x_i.
// One file solves with all covariances, one with a diagonal and conjugate gradients, sixteen labels at a
// time.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/model/bnmc/sparse_design.hpp"

namespace coppice::bnmc {

enum class Link { logistic, svm };
enum class Method { vb, map, svi, gibbs };

struct ExpertOptions {
  Link link = Link::logistic;
  Method method = Method::vb;
  double tolerance = 1e-8;  // largest change of a weight, or of a diagonal variance, at which iterations end
  double least_gain = 0.0;  // of the bound, relative, below which the diagonal form ends
  std::size_t iterations = 500;
  std::size_t burn_in = 200, draws = 1000;   // gibbs
  std::size_t minibatch = 256, epochs = 20;  // svi
  double delay = 1.0, forgetting = 0.7;
};

/// The posterior of one label's weights, the intercept first.
struct Expert {
  bool is_constant = false;  // nothing was fitted: the label has the base rate everywhere
  double base_rate = 0.5;
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;  // full, or empty
  Eigen::VectorXd variance;    // diagonal, or empty; both empty: a point
  double elbo = 0.0;
  std::vector<double> elbos;  // after each iteration
};

/// Probability of the label under sigma(mu / sqrt(1 + pi s2 / 8)).
double probability_at(double mean, double variance);

/// Rows of x against y in {0, 1}; prior N(mean, diag(variance)). `stream` is for svi and gibbs.
Expert fit_full(const Eigen::Ref<const Eigen::MatrixXd>& x, const Eigen::Ref<const Eigen::VectorXd>& y,
                const Eigen::VectorXd& prior_mean, const Eigen::VectorXd& prior_variance,
                const ExpertOptions& options, Stream& stream);

inline constexpr std::size_t kExpertsAtOnce = kFloatLanes;
/// At most kExpertsAtOnce labels: y[j][i] is 0, 1 or NaN (not known) for row i. The method is vb or map; the
/// prior mean is 0, the prior variances are those of each label. `start` has for each label an expert of this
/// form to begin with, or null; or it is empty.
std::vector<Expert> fit_diagonal(const SparseDesign& design, std::span<const std::vector<double>> y,
                                 std::span<const Eigen::VectorXd* const> prior_variances,
                                 const ExpertOptions& options, std::span<const Expert* const> start = {});

}  // namespace coppice::bnmc
