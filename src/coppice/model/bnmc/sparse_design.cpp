#include "coppice/model/bnmc/sparse_design.hpp"

#include <algorithm>
#include <numeric>

namespace coppice::bnmc {
namespace {

constexpr std::size_t kMostDense = 64;

template <bool Squared, typename Number>
Number power(Number x) {
  return Squared ? x * x : x;
}

std::vector<std::uint32_t> all_of(const SparseRows& inputs) {
  std::vector<std::uint32_t> which(inputs.rows());
  std::iota(which.begin(), which.end(), 0u);
  return which;
}

}  // namespace

SparseDesign::Lines SparseDesign::transpose(const Lines& rows, std::size_t columns) {
  Lines result;
  result.start.assign(columns + 1, 0);
  for (const std::uint32_t column : rows.index) ++result.start[column + 1];
  for (std::size_t j = 0; j < columns; ++j) result.start[j + 1] += result.start[j];
  result.index.resize(rows.index.size());
  result.value.resize(rows.value.size());
  std::vector<std::size_t> next(result.start.begin(), result.start.end() - 1);
  for (std::size_t row = 0; row < rows.lines(); ++row)
    for (std::size_t i = rows.start[row]; i < rows.start[row + 1]; ++i) {
      const std::size_t to = next[rows.index[i]]++;
      result.index[to] = static_cast<std::uint32_t>(row);
      result.value[to] = rows.value[i];
    }
  settle(result);
  return result;
}

/// What follows from the values.
void SparseDesign::settle(Lines& lines) {
  lines.float_value.assign(lines.value.begin(), lines.value.end());
  lines.are_ones = std::all_of(lines.value.begin(), lines.value.end(), [](double x) { return x == 1.0; });
}

/// Sum of value * vector[index] over the items of one row, or of one column.
template <bool Squared, typename Number, typename Pack>
Pack SparseDesign::gather(const Lines& lines, std::size_t line, const VectorOfLanes<Number, Pack>& vector) {
  Pack even{};
  Pack odd{};
  const std::uint32_t* index = lines.index.data();
  const Number* value = lines.values(Number{});
  const std::size_t end = lines.start[line + 1];
  std::size_t i = lines.start[line];
  if (lines.are_ones) {
    for (; i + 2 <= end; i += 2) {
      even += vector[index[i]];
      odd += vector[index[i + 1]];
    }
    if (i < end) even += vector[index[i]];
    return even + odd;
  }
  for (; i + 2 <= end; i += 2) {
    even += power<Squared>(value[i]) * vector[index[i]];
    odd += power<Squared>(value[i + 1]) * vector[index[i + 1]];
  }
  if (i < end) even += power<Squared>(value[i]) * vector[index[i]];
  return even + odd;
}

SparseDesign::SparseDesign(const SparseRows& inputs) : SparseDesign(inputs, all_of(inputs)) {}

SparseDesign::SparseDesign(const SparseRows& inputs, std::span<const std::uint32_t> which) {
  std::vector<std::size_t> count(inputs.columns, 0);
  std::size_t ones = 0;
  for (const std::uint32_t row : which) {
    const auto columns = inputs.columns_of(row);
    for (const std::uint32_t column : columns) ++count[column];
    ones += !columns.empty() && columns[0] == 0 && inputs.values_of(row)[0] == 1.0 ? 1 : 0;
  }
  has_intercept_ = ones == which.size();
  std::vector<std::size_t> place(inputs.columns, kMostDense);
  for (std::uint32_t d = 0; d < inputs.columns && dense_.size() < kMostDense; ++d) {
    if (2 * count[d] <= which.size()) continue;
    place[d] = dense_.size();
    dense_.push_back(d);
  }
  values_.assign(which.size() * dense_.size(), 0.0);
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto columns = inputs.columns_of(which[i]);
    const auto values = inputs.values_of(which[i]);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (place[columns[j]] != kMostDense) {
        values_[i * dense_.size() + place[columns[j]]] = values[j];
        continue;
      }
      rows_.index.push_back(columns[j]);
      rows_.value.push_back(values[j]);
    }
    rows_.start.push_back(rows_.index.size());
  }
  settle(rows_);
  float_values_.assign(values_.begin(), values_.end());
  columns_ = transpose(rows_, inputs.columns);
}

template <bool Squared, typename Number, typename Pack>
void SparseDesign::product(const VectorOfLanes<Number, Pack>& vector,
                           VectorOfLanes<Number, Pack>& out) const {
  const std::size_t width = dense_.size();
  Pack dense[kMostDense]{};
  for (std::size_t j = 0; j < width; ++j) dense[j] = vector[dense_[j]];
  for (std::size_t row = 0; row < rows(); ++row) {
    // Four sums: each waits for its last addition.
    Pack sums[4]{gather<Squared>(rows_, row, vector)};
    const Number* x = dense_values(row, Number{});
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4)
      for (std::size_t k = 0; k < 4; ++k) sums[k] += power<Squared>(x[j + k]) * dense[j + k];
    for (; j < width; ++j) sums[0] += power<Squared>(x[j]) * dense[j];
    out.set(row, (sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}

template <bool Squared, typename Number, typename Pack>
void SparseDesign::transposed_product(const VectorOfLanes<Number, Pack>& vector,
                                      VectorOfLanes<Number, Pack>& out) const {
  for (std::size_t d = 0; d < inputs(); ++d) out.set(d, gather<Squared>(columns_, d, vector));
  const std::size_t width = dense_.size();
  Pack sums[kMostDense]{};
  std::size_t row = 0;
  // Four rows for each visit of a sum.
  for (; row + 4 <= rows(); row += 4) {
    const Number* x = dense_values(row, Number{});
    const Pack value[4]{vector[row], vector[row + 1], vector[row + 2], vector[row + 3]};
    for (std::size_t j = 0; j < width; ++j)
      for (std::size_t k = 0; k < 4; ++k) sums[j] += power<Squared>(x[k * width + j]) * value[k];
  }
  for (; row < rows(); ++row) {
    const Number* x = dense_values(row, Number{});
    for (std::size_t j = 0; j < width; ++j) sums[j] += power<Squared>(x[j]) * vector[row];
  }
  for (std::size_t j = 0; j < width; ++j) out.set(dense_[j], sums[j]);
}

void SparseDesign::times(const LaneVector& vector, LaneVector& out) const { product<false>(vector, out); }
void SparseDesign::times(const FloatLaneVector& vector, FloatLaneVector& out) const {
  product<false>(vector, out);
}
void SparseDesign::squares_times(const LaneVector& vector, LaneVector& out) const {
  product<true>(vector, out);
}
void SparseDesign::transposed_times(const LaneVector& vector, LaneVector& out) const {
  transposed_product<false>(vector, out);
}
void SparseDesign::transposed_times(const FloatLaneVector& vector, FloatLaneVector& out) const {
  transposed_product<false>(vector, out);
}
void SparseDesign::transposed_squares_times(const LaneVector& vector, LaneVector& out) const {
  transposed_product<true>(vector, out);
}
void SparseDesign::transposed_squares_times(const FloatLaneVector& vector, FloatLaneVector& out) const {
  transposed_product<true>(vector, out);
}

}  // namespace coppice::bnmc
