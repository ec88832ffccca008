// What makes the systems of sixteen linear experts easy for conjugate gradients: the diagonal of their
// matrices, and for inputs that most rows have (the intercept, shares of topics), which are far from
// independent, the whole block, factored.
#pragma once

#include "coppice/model/bnmc/sparse_design.hpp"

namespace coppice::bnmc {

class Preconditioner {
 public:
  /// The design outlives it.
  explicit Preconditioner(const SparseDesign& design);

  /// For the matrices X' diag(weights) X + diag(precision): the block of the dense inputs of one half of the
  /// experts. It is factored in double precision, as those inputs may nearly add up to each other.
  void set_block(std::size_t half, const LaneVector& weights, const LaneVector& precision);
  /// The diagonals of all.
  void set_diagonal(const FloatLaneVector& diagonal);
  /// An approximate solution for the right-hand side.
  void solve(const FloatLaneVector& right, FloatLaneVector& out) const;

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return i * (i + 1) / 2 + j; }

  const SparseDesign& design_;
  FloatLaneVector inverse_;  // of the diagonal
  FloatLaneVector factor_;   // lower triangle of the block, by rows; reciprocals on its diagonal
  LaneVector block_;         // of one half, while it is factored
};

}  // namespace coppice::bnmc
