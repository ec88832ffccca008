#include "coppice/model/bnmc/preconditioner.hpp"

#include <cmath>

namespace coppice::bnmc {
namespace {

Lanes root(Lanes x) {
  for (std::size_t i = 0; i < kLanes; ++i) x[i] = std::sqrt(x[i]);
  return x;
}

}  // namespace

Preconditioner::Preconditioner(const SparseDesign& design)
    : design_(design),
      inverse_(design.inputs()),
      factor_(design.dense().size() * (design.dense().size() + 1) / 2) {}

void Preconditioner::set(const LaneVector& diagonal, const LaneVector& weights, const LaneVector& precision) {
  for (std::size_t d = 0; d < inverse_.size(); ++d) inverse_.set(d, 1.0 / diagonal[d]);
  const std::vector<std::uint32_t>& dense = design_.dense();
  const std::size_t size = dense.size();
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j <= i; ++j) factor_.set(at(i, j), i == j ? precision[dense[i]] : Lanes{});
  for (std::size_t row = 0; row < design_.rows(); ++row) {
    const double* x = design_.dense_values(row);
    for (std::size_t i = 0; i < size; ++i) {
      const Lanes weighted = weights[row] * x[i];
      for (std::size_t j = 0; j <= i; ++j) factor_.set(at(i, j), factor_[at(i, j)] + weighted * x[j]);
    }
  }
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      Lanes sum = factor_[at(i, j)];
      for (std::size_t k = 0; k < j; ++k) sum -= factor_[at(i, k)] * factor_[at(j, k)];
      factor_.set(at(i, j), i == j ? 1.0 / root(sum) : sum * factor_[at(j, j)]);
    }
}

void Preconditioner::solve(const LaneVector& right, LaneVector& out) const {
  for (std::size_t d = 0; d < inverse_.size(); ++d) out.set(d, inverse_[d] * right[d]);
  const std::vector<std::uint32_t>& dense = design_.dense();
  const std::size_t size = dense.size();
  for (std::size_t i = 0; i < size; ++i) {
    Lanes sum = right[dense[i]];
    for (std::size_t j = 0; j < i; ++j) sum -= factor_[at(i, j)] * out[dense[j]];
    out.set(dense[i], sum * factor_[at(i, i)]);
  }
  for (std::size_t i = size; i-- > 0;) {
    Lanes sum = out[dense[i]];
    for (std::size_t j = i + 1; j < size; ++j) sum -= factor_[at(j, i)] * out[dense[j]];
    out.set(dense[i], sum * factor_[at(i, i)]);
  }
}

}  // namespace coppice::bnmc
