// What makes the systems of eight linear experts easy for conjugate gradients: the diagonal of their
// matrices, and for inputs that most rows have (the intercept, shares of topics), which are far from
// independent, the whole block, factored.
#pragma once

#include "coppice/model/bnmc/sparse_design.hpp"

namespace coppice::bnmc {

class Preconditioner {
 public:
  /// The design outlives it.
  explicit Preconditioner(const SparseDesign& design);

  /// For the matrices X' diag(weights) X + diag(precision), whose diagonals are given.
  void set(const LaneVector& diagonal, const LaneVector& weights, const LaneVector& precision);
  /// An approximate solution for the right-hand side.
  void solve(const LaneVector& right, LaneVector& out) const;

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return i * (i + 1) / 2 + j; }

  const SparseDesign& design_;
  LaneVector inverse_;  // of the diagonal
  LaneVector factor_;   // lower triangle of the block, by rows; reciprocals on its diagonal
};

}  // namespace coppice::bnmc
