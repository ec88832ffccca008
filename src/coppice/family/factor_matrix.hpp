// Lower triangular factors between their packed form, column after column, and Eigen's matrices.
#pragma once

#include <Eigen/Core>
#include <cstddef>

namespace coppice {

inline Eigen::MatrixXd lower_factor(const double* packed, std::size_t d) {
  const auto size = static_cast<Eigen::Index>(d);
  Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(size, size);
  for (Eigen::Index j = 0; j < size; packed += size - j, ++j)
    factor.col(j).tail(size - j) = Eigen::Map<const Eigen::VectorXd>(packed, size - j);
  return factor;
}

inline void pack_factor(const Eigen::MatrixXd& lower, double* packed) {
  const Eigen::Index d = lower.cols();
  for (Eigen::Index j = 0; j < d; packed += d - j, ++j)
    Eigen::Map<Eigen::VectorXd>(packed, d - j) = lower.col(j).tail(d - j);
}

}  // namespace coppice
