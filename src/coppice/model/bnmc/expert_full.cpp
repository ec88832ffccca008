#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/polya_gamma.hpp"
#include "coppice/model/bnmc/expert.hpp"

namespace coppice::bnmc {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLargestPrecision = 1e8;  // of the SVM's augmentation: a row exactly on the margin

/// KL(N(m, S) || prior).
double divergence(const VectorXd& mean, const MatrixXd& covariance, double log_determinant,
                  const VectorXd& prior_mean, const VectorXd& prior_variance) {
  const VectorXd shift = mean - prior_mean;
  const double size = static_cast<double>(mean.size());
  return 0.5 * ((covariance.diagonal().array() / prior_variance.array()).sum() +
                (shift.array().square() / prior_variance.array()).sum() - size +
                prior_variance.array().log().sum() - log_determinant);
}

struct WeightedProblem {
  const Eigen::Ref<const MatrixXd>& x;
  const Eigen::Ref<const VectorXd>& y;
  const VectorXd& prior_mean;
  const VectorXd& prior_variance;
  Link link;

  Eigen::Index rows() const { return x.rows(); }
  double sign(Eigen::Index i) const { return 2.0 * y[i] - 1.0; }

  /// omega and t of the rows for given fitted values and variances of the linear predictor.
  void augment(const VectorXd& fitted, const VectorXd& variance, VectorXd& omega, VectorXd& target) const {
    for (Eigen::Index i = 0; i < fitted.size(); ++i) {
      if (link == Link::logistic) {
        omega[i] = polya_gamma_mean(std::sqrt(fitted[i] * fitted[i] + variance[i]));
        target[i] = y[i] - 0.5;
      } else {
        const double u = 1.0 - sign(i) * fitted[i];
        omega[i] = std::min(kLargestPrecision, 1.0 / std::sqrt(std::max(u * u + variance[i], 1e-300)));
        target[i] = sign(i) * (1.0 + omega[i]);
      }
    }
  }

  /// The expected log likelihood's bound at the best augmentation.
  double bound(const VectorXd& fitted, const VectorXd& variance) const {
    double total = 0.0;
    for (Eigen::Index i = 0; i < fitted.size(); ++i) {
      if (link == Link::logistic) {
        const double c = std::sqrt(fitted[i] * fitted[i] + variance[i]);
        total += log_logistic(c) - 0.5 * c + (y[i] - 0.5) * fitted[i];
      } else {
        const double u = 1.0 - sign(i) * fitted[i];
        total += -u - std::sqrt(u * u + variance[i]);
      }
    }
    return total;
  }
};

Expert fit_variational(const WeightedProblem& problem, const ExpertOptions& options) {
  const bool is_point = options.method == Method::map;
  const Eigen::Index size = problem.x.cols();
  Expert expert;
  expert.mean = problem.prior_mean;
  if (!is_point) expert.covariance = problem.prior_variance.asDiagonal();
  VectorXd fitted = problem.x * expert.mean;
  VectorXd variance = VectorXd::Zero(problem.rows());
  if (!is_point) variance = (problem.x * expert.covariance).cwiseProduct(problem.x).rowwise().sum();
  VectorXd omega(problem.rows());
  VectorXd target(problem.rows());
  MatrixXd weighted(problem.rows(), size);
  for (std::size_t iteration = 0; iteration < options.iterations; ++iteration) {
    problem.augment(fitted, variance, omega, target);
    weighted = problem.x.array().colwise() * omega.array();
    MatrixXd precision = problem.x.transpose() * weighted;
    precision.diagonal().array() += problem.prior_variance.array().inverse();
    const Eigen::LLT<MatrixXd> factor(precision);
    const VectorXd right = problem.x.transpose() * target +
                           (problem.prior_mean.array() / problem.prior_variance.array()).matrix();
    const VectorXd mean = factor.solve(right);
    const double change = (mean - expert.mean).cwiseAbs().maxCoeff();
    expert.mean = mean;
    fitted = problem.x * mean;
    if (is_point) {
      const double penalty =
          ((mean - problem.prior_mean).array().square() / problem.prior_variance.array()).sum();
      expert.elbo = problem.bound(fitted, variance) - 0.5 * penalty;
    } else {
      expert.covariance = factor.solve(MatrixXd::Identity(size, size));
      variance = (problem.x * expert.covariance).cwiseProduct(problem.x).rowwise().sum();
      const double log_determinant = -2.0 * factor.matrixLLT().diagonal().array().log().sum();
      expert.elbo = problem.bound(fitted, variance) - divergence(mean, expert.covariance, log_determinant,
                                                                 problem.prior_mean, problem.prior_variance);
    }
    expert.elbos.push_back(expert.elbo);
    if (change < options.tolerance) break;
  }
  return expert;
}

/// The mode of the logistic posterior by Newton's method; a step that lowers the density is halved.
Expert fit_point(const WeightedProblem& problem, const ExpertOptions& options) {
  Expert expert;
  expert.mean = problem.prior_mean;
  VectorXd fitted = problem.x * expert.mean;
  const VectorXd none = VectorXd::Zero(problem.rows());
  const auto density = [&](const VectorXd& mean, const VectorXd& at) {
    const double penalty =
        ((mean - problem.prior_mean).array().square() / problem.prior_variance.array()).sum();
    return problem.bound(at, none) - 0.5 * penalty;
  };
  expert.elbo = density(expert.mean, fitted);
  for (std::size_t iteration = 0; iteration < options.iterations; ++iteration) {
    const Eigen::ArrayXd p = 1.0 / (1.0 + (-fitted.array()).exp());
    const MatrixXd weighted = problem.x.array().colwise() * (p * (1.0 - p));
    MatrixXd precision = problem.x.transpose() * weighted;
    precision.diagonal().array() += problem.prior_variance.array().inverse();
    const VectorXd slope =
        problem.x.transpose() * (problem.y.array() - p).matrix() -
        ((expert.mean - problem.prior_mean).array() / problem.prior_variance.array()).matrix();
    VectorXd step = Eigen::LLT<MatrixXd>(precision).solve(slope);
    VectorXd along = problem.x * step;
    double next = density(expert.mean + step, fitted + along);
    for (int halving = 0; halving < 50 && !(next >= expert.elbo); ++halving) {
      step *= 0.5;
      along *= 0.5;
      next = density(expert.mean + step, fitted + along);
    }
    if (!(next >= expert.elbo)) break;
    expert.mean += step;
    fitted += along;
    expert.elbo = next;
    expert.elbos.push_back(next);
    if (step.cwiseAbs().maxCoeff() < options.tolerance) break;
  }
  return expert;
}

/// Blends precision and right-hand side of minibatches (2.5).
Expert fit_stochastic(const WeightedProblem& problem, const ExpertOptions& options, Stream& stream) {
  const Eigen::Index size = problem.x.cols();
  const auto rows = static_cast<std::size_t>(problem.rows());
  const MatrixXd prior = problem.prior_variance.cwiseInverse().asDiagonal();
  const VectorXd prior_right = problem.prior_mean.cwiseQuotient(problem.prior_variance);
  MatrixXd precision = prior;
  VectorXd right = prior_right;
  Expert expert;
  expert.mean = problem.prior_mean;
  expert.covariance = problem.prior_variance.asDiagonal();
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0u);
  double step = 0.0;
  for (std::size_t epoch = 0; epoch < options.epochs; ++epoch) {
    shuffle(stream, order);
    for (std::size_t begin = 0; begin < rows; begin += options.minibatch) {
      const std::size_t count = std::min(options.minibatch, rows - begin);
      MatrixXd x(static_cast<Eigen::Index>(count), size);
      VectorXd y(static_cast<Eigen::Index>(count));
      for (std::size_t i = 0; i < count; ++i) {
        x.row(static_cast<Eigen::Index>(i)) = problem.x.row(order[begin + i]);
        y[static_cast<Eigen::Index>(i)] = problem.y[order[begin + i]];
      }
      const Eigen::Ref<const MatrixXd> x_part(x);
      const Eigen::Ref<const VectorXd> y_part(y);
      const WeightedProblem part{x_part, y_part, problem.prior_mean, problem.prior_variance, problem.link};
      VectorXd omega(y.size());
      VectorXd target(y.size());
      part.augment(x * expert.mean, (x * expert.covariance).cwiseProduct(x).rowwise().sum(), omega, target);
      const double factor = static_cast<double>(rows) / static_cast<double>(count);
      const double rate = std::pow(++step + options.delay, -options.forgetting);
      precision = (1.0 - rate) * precision +
                  rate * (prior + factor * x.transpose() * (x.array().colwise() * omega.array()).matrix());
      right = (1.0 - rate) * right + rate * (prior_right + factor * x.transpose() * target);
      const Eigen::LLT<MatrixXd> solver(precision);
      expert.mean = solver.solve(right);
      expert.covariance = solver.solve(MatrixXd::Identity(size, size));
    }
  }
  const VectorXd variance = (problem.x * expert.covariance).cwiseProduct(problem.x).rowwise().sum();
  const double log_determinant =
      -2.0 * Eigen::LLT<MatrixXd>(precision).matrixLLT().diagonal().array().log().sum();
  expert.elbo =
      problem.bound(problem.x * expert.mean, variance) -
      divergence(expert.mean, expert.covariance, log_determinant, problem.prior_mean, problem.prior_variance);
  return expert;
}

Expert fit_gibbs(const WeightedProblem& problem, const ExpertOptions& options, Stream& stream) {
  const Eigen::Index size = problem.x.cols();
  VectorXd weights = problem.prior_mean;
  VectorXd omega(problem.rows());
  VectorXd target(problem.rows());
  VectorXd noise(size);
  VectorXd sum = VectorXd::Zero(size);
  MatrixXd squares = MatrixXd::Zero(size, size);
  const VectorXd prior_right = problem.prior_mean.cwiseQuotient(problem.prior_variance);
  for (std::size_t sweep = 0; sweep < options.burn_in + options.draws; ++sweep) {
    const VectorXd fitted = problem.x * weights;
    for (Eigen::Index i = 0; i < problem.rows(); ++i) {
      if (problem.link == Link::logistic) {
        omega[i] = draw_polya_gamma(stream, fitted[i]);
        target[i] = problem.y[i] - 0.5;
      } else {
        const double u = 1.0 - problem.sign(i) * fitted[i];
        omega[i] = std::min(kLargestPrecision, 1.0 / draw_gig_half(stream, std::abs(u)));
        target[i] = problem.sign(i) * (1.0 + omega[i]);
      }
    }
    MatrixXd precision = problem.x.transpose() * (problem.x.array().colwise() * omega.array()).matrix();
    precision.diagonal() += problem.prior_variance.cwiseInverse();
    const Eigen::LLT<MatrixXd> factor(precision);
    for (Eigen::Index j = 0; j < size; ++j) noise[j] = draw_normal(stream);
    weights = factor.solve(problem.x.transpose() * target + prior_right) + factor.matrixU().solve(noise);
    if (sweep < options.burn_in) continue;
    sum += weights;
    squares += weights * weights.transpose();
  }
  const double draws = static_cast<double>(options.draws);
  Expert expert;
  expert.mean = sum / draws;
  expert.covariance = squares / draws - expert.mean * expert.mean.transpose();
  return expert;
}

}  // namespace

double probability_at(double mean, double variance) {
  return std::exp(log_logistic(mean / std::sqrt(1.0 + std::numbers::pi * variance / 8.0)));
}

Expert fit_full(const Eigen::Ref<const Eigen::MatrixXd>& x, const Eigen::Ref<const Eigen::VectorXd>& y,
                const Eigen::VectorXd& prior_mean, const Eigen::VectorXd& prior_variance,
                const ExpertOptions& options, Stream& stream) {
  const WeightedProblem problem{x, y, prior_mean, prior_variance, options.link};
  if (options.method == Method::gibbs) return fit_gibbs(problem, options, stream);
  if (options.method == Method::svi) return fit_stochastic(problem, options, stream);
  if (options.method == Method::map && options.link == Link::logistic) return fit_point(problem, options);
  return fit_variational(problem, options);
}

}  // namespace coppice::bnmc
