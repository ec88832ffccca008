// Inputs of linear experts as their solver wants them: nonzeros by rows and by columns, but inputs that most
// rows have (the intercept, shares of topics) as a dense table beside them. Vectors over rows or inputs hold
// eight labels side by side, so that every nonzero is read once for eight products.
#pragma once

#include "coppice/base/aligned.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/data/labelled_rows.hpp"

namespace coppice::bnmc {

/// Eight numbers for each row or input.
class LaneVector {
 public:
  explicit LaneVector(std::size_t size) : cells_(size * kLanes, 0.0) {}
  std::size_t size() const { return cells_.size() / kLanes; }
  Lanes operator[](std::size_t i) const { return load_lanes(cells_.data() + i * kLanes); }
  void set(std::size_t i, Lanes value) { store_lanes(cells_.data() + i * kLanes, value); }

 private:
  AlignedVector cells_;
};

class SparseDesign {
 public:
  SparseDesign() = default;
  /// All rows, or some of them in the order given.
  explicit SparseDesign(const SparseRows& inputs);
  SparseDesign(const SparseRows& inputs, std::span<const std::uint32_t> which);

  std::size_t rows() const { return rows_.rows(); }
  std::size_t inputs() const { return rows_.columns; }
  /// Inputs that most rows have, and their values, rows x dense inputs.
  const std::vector<std::uint32_t>& dense() const { return dense_; }
  const double* dense_values(std::size_t row) const { return values_.data() + row * dense_.size(); }
  /// Whether input 0 is 1 in every row.
  bool has_intercept() const { return has_intercept_; }

  /// out[row] = sum over inputs of value * vector[input]; or of squared values.
  void times(const LaneVector& vector, LaneVector& out) const { times<false>(vector, out); }
  void squares_times(const LaneVector& vector, LaneVector& out) const { times<true>(vector, out); }
  /// out[input] = sum over rows of value * vector[row]; or of squared values.
  void transposed_times(const LaneVector& vector, LaneVector& out) const {
    transposed_times<false>(vector, out);
  }
  void transposed_squares_times(const LaneVector& vector, LaneVector& out) const {
    transposed_times<true>(vector, out);
  }

 private:
  template <bool Squared>
  void times(const LaneVector& vector, LaneVector& out) const;
  template <bool Squared>
  void transposed_times(const LaneVector& vector, LaneVector& out) const;

  SparseRows rows_, columns_;  // without the dense inputs; columns_ is the transpose
  std::vector<std::uint32_t> dense_;
  std::vector<double> values_;
  bool has_intercept_ = false;
};

}  // namespace coppice::bnmc
