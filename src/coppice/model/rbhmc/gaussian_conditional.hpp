// The Gaussian of a discriminant given scores that rows should have under it.
#pragma once

#include <Eigen/Cholesky>
#include <cmath>

#include "coppice/base/rng.hpp"

namespace coppice::rbhmc {

/// N(P^{-1} pull, P^{-1}): terms first, then factorize(), then the rest.
class GaussianConditional {
 public:
  GaussianConditional(std::size_t dimension, double prior_precision)
      : precision_(Matrix::Identity(index(dimension), index(dimension)) * prior_precision),
        pull_(Eigen::VectorXd::Zero(index(dimension))) {}

  /// P += weight y y', pull += push y.
  void add(const double* y, double weight, double push) {
    const Eigen::Map<const Eigen::VectorXd> row(y, pull_.size());
    precision_.selfadjointView<Eigen::Lower>().rankUpdate(row, weight);
    pull_ += push * row;
  }
  void factorize() {
    factor_.compute(precision_);
    if (factor_.info() != Eigen::Success) {
      precision_.diagonal().array() += 1e-10 * precision_.trace() / static_cast<double>(pull_.size());
      factor_.compute(precision_);
    }
    mean_ = factor_.solve(pull_);
  }

  Eigen::VectorXd draw(Stream& stream) const {
    Eigen::VectorXd normal(pull_.size());
    for (double& value : normal) value = draw_normal(stream);
    return mean_ + factor_.matrixU().solve(normal);
  }
  /// Without the power of 2 pi.
  double log_density(const double* value) const {
    const Eigen::Map<const Eigen::VectorXd> point(value, pull_.size());
    const Eigen::VectorXd white = factor_.matrixU() * (point - mean_);
    double log_root = 0.0;
    for (Eigen::Index i = 0; i < pull_.size(); ++i) log_root += std::log(factor_.matrixLLT()(i, i));
    return log_root - 0.5 * white.squaredNorm();
  }

 private:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  static Eigen::Index index(std::size_t dimension) { return static_cast<Eigen::Index>(dimension); }

  Matrix precision_;
  Eigen::VectorXd pull_, mean_;
  Eigen::LLT<Matrix> factor_;
};

}  // namespace coppice::rbhmc
