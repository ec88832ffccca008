#include "coppice/model/bnmc/sparse_design.hpp"

#include <algorithm>
#include <numeric>

namespace coppice::bnmc {
namespace {

constexpr std::size_t kMostDense = 64;

SparseRows transpose(const SparseRows& rows) {
  SparseRows result;
  result.columns = rows.rows();
  result.start.assign(rows.columns + 1, 0);
  for (const std::uint32_t column : rows.column) ++result.start[column + 1];
  for (std::size_t j = 0; j < rows.columns; ++j) result.start[j + 1] += result.start[j];
  result.column.resize(rows.column.size());
  result.value.resize(rows.value.size());
  std::vector<std::size_t> next(result.start.begin(), result.start.end() - 1);
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const auto columns = rows.columns_of(row);
    const auto values = rows.values_of(row);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t to = next[columns[i]]++;
      result.column[to] = static_cast<std::uint32_t>(row);
      result.value[to] = values[i];
    }
  }
  return result;
}

template <bool Squared>
double power(double x) {
  return Squared ? x * x : x;
}

/// Sum of value * vector[index] over the items of one row, or of one column.
template <bool Squared>
Lanes gather(const SparseRows& items, std::size_t line, const LaneVector& vector) {
  Lanes even{};
  Lanes odd{};
  const auto index = items.columns_of(line);
  const auto value = items.values_of(line);
  std::size_t i = 0;
  for (; i + 2 <= index.size(); i += 2) {
    even += power<Squared>(value[i]) * vector[index[i]];
    odd += power<Squared>(value[i + 1]) * vector[index[i + 1]];
  }
  if (i < index.size()) even += power<Squared>(value[i]) * vector[index[i]];
  return even + odd;
}

std::vector<std::uint32_t> all_of(const SparseRows& inputs) {
  std::vector<std::uint32_t> which(inputs.rows());
  std::iota(which.begin(), which.end(), 0u);
  return which;
}

}  // namespace

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
  rows_.columns = inputs.columns;
  values_.assign(which.size() * dense_.size(), 0.0);
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto columns = inputs.columns_of(which[i]);
    const auto values = inputs.values_of(which[i]);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (place[columns[j]] != kMostDense) {
        values_[i * dense_.size() + place[columns[j]]] = values[j];
        continue;
      }
      rows_.column.push_back(columns[j]);
      rows_.value.push_back(values[j]);
    }
    rows_.start.push_back(rows_.column.size());
  }
  columns_ = transpose(rows_);
}

template <bool Squared>
void SparseDesign::times(const LaneVector& vector, LaneVector& out) const {
  for (std::size_t row = 0; row < rows(); ++row) {
    Lanes sum = gather<Squared>(rows_, row, vector);
    const double* x = dense_values(row);
    for (std::size_t j = 0; j < dense_.size(); ++j) sum += power<Squared>(x[j]) * vector[dense_[j]];
    out.set(row, sum);
  }
}

template <bool Squared>
void SparseDesign::transposed_times(const LaneVector& vector, LaneVector& out) const {
  for (std::size_t d = 0; d < inputs(); ++d) out.set(d, gather<Squared>(columns_, d, vector));
  Lanes sums[kMostDense]{};
  for (std::size_t row = 0; row < rows(); ++row) {
    const double* x = dense_values(row);
    const Lanes value = vector[row];
    for (std::size_t j = 0; j < dense_.size(); ++j) sums[j] += power<Squared>(x[j]) * value;
  }
  for (std::size_t j = 0; j < dense_.size(); ++j) out.set(dense_[j], sums[j]);
}

template void SparseDesign::times<false>(const LaneVector&, LaneVector&) const;
template void SparseDesign::times<true>(const LaneVector&, LaneVector&) const;
template void SparseDesign::transposed_times<false>(const LaneVector&, LaneVector&) const;
template void SparseDesign::transposed_times<true>(const LaneVector&, LaneVector&) const;

}  // namespace coppice::bnmc
