// Inputs of linear experts in the layout of their solver: nonzeros by rows and by columns, but inputs that
// most rows have (the intercept, shares of topics) as a dense table beside them. Vectors over rows or inputs
// hold several labels side by side, so that every nonzero is read once for all of their products: eight
// labels in double precision, sixteen in single.
#pragma once

#include "coppice/base/aligned.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/data/labeled_rows.hpp"

namespace coppice::bnmc {

/// A pack of numbers for each row or input.
template <typename Number, typename Pack>
class VectorOfLanes {
 public:
  static constexpr std::size_t kWidth = sizeof(Pack) / sizeof(Number);
  explicit VectorOfLanes(std::size_t size) : cells_(size * kWidth) {}
  std::size_t size() const { return cells_.size() / kWidth; }
  Pack operator[](std::size_t i) const { return load_lanes(cells_.data() + i * kWidth); }
  void set(std::size_t i, Pack value) { store_lanes(cells_.data() + i * kWidth, value); }
  /// The numbers of one row or input.
  Number* at(std::size_t i) { return cells_.data() + i * kWidth; }
  const Number* at(std::size_t i) const { return cells_.data() + i * kWidth; }

 private:
  std::vector<Number, LaneAllocator<Number>> cells_;
};
using LaneVector = VectorOfLanes<double, Lanes>;
using FloatLaneVector = VectorOfLanes<float, FloatLanes>;

class SparseDesign {
 public:
  SparseDesign() = default;
  /// All rows, or some of them in the order given.
  explicit SparseDesign(const SparseRows& inputs);
  SparseDesign(const SparseRows& inputs, std::span<const std::uint32_t> which);

  std::size_t rows() const { return rows_.lines(); }
  std::size_t inputs() const { return columns_.lines(); }
  /// Inputs that most rows have, and their values, rows x dense inputs.
  const std::vector<std::uint32_t>& dense() const { return dense_; }
  const double* dense_values(std::size_t row) const { return dense_values(row, 0.0); }
  /// Whether input 0 is 1 in every row.
  bool has_intercept() const { return has_intercept_; }

  /// out[row] = sum over inputs of value * vector[input]; or of squared values.
  void times(const LaneVector& vector, LaneVector& out) const;
  void times(const FloatLaneVector& vector, FloatLaneVector& out) const;
  void squares_times(const LaneVector& vector, LaneVector& out) const;
  /// out[input] = sum over rows of value * vector[row]; or of squared values.
  void transposed_times(const LaneVector& vector, LaneVector& out) const;
  void transposed_times(const FloatLaneVector& vector, FloatLaneVector& out) const;
  void transposed_squares_times(const LaneVector& vector, LaneVector& out) const;
  void transposed_squares_times(const FloatLaneVector& vector, FloatLaneVector& out) const;

 private:
  /// Nonzeros of rows or of columns, in both precisions.
  struct Lines {
    std::vector<std::size_t> start{0};
    std::vector<std::uint32_t> index;
    std::vector<double> value;
    std::vector<float> float_value;
    bool are_ones = false;  // all of them: bits need no products

    std::size_t lines() const { return start.size() - 1; }
    const double* values(double) const { return value.data(); }
    const float* values(float) const { return float_value.data(); }
  };
  const double* dense_values(std::size_t row, double) const { return values_.data() + row * dense_.size(); }
  const float* dense_values(std::size_t row, float) const {
    return float_values_.data() + row * dense_.size();
  }
  static void settle(Lines& lines);
  static Lines transpose(const Lines& rows, std::size_t columns);
  template <bool Squared, typename Number, typename Pack>
  static Pack gather(const Lines& lines, std::size_t line, const VectorOfLanes<Number, Pack>& vector);
  template <bool Squared, typename Number, typename Pack>
  void product(const VectorOfLanes<Number, Pack>& vector, VectorOfLanes<Number, Pack>& out) const;
  template <bool Squared, typename Number, typename Pack>
  void transposed_product(const VectorOfLanes<Number, Pack>& vector, VectorOfLanes<Number, Pack>& out) const;

  Lines rows_, columns_;  // without the dense inputs; columns_ is the transpose
  std::vector<std::uint32_t> dense_;
  std::vector<double> values_;
  std::vector<float> float_values_;
  bool has_intercept_ = false;
};

}  // namespace coppice::bnmc
