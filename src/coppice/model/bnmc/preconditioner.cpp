#include "coppice/model/bnmc/preconditioner.hpp"

#include <algorithm>

namespace coppice::bnmc {
namespace {

// This many rows suffice to estimate how dense inputs depend on each other.
constexpr std::size_t kRowsOfABlock = 1024;

}  // namespace

Preconditioner::Preconditioner(const SparseDesign& design)
    : design_(design),
      inverse_(design.inputs()),
      factor_(design.dense().size() * (design.dense().size() + 1) / 2),
      block_(factor_.size()) {}

void Preconditioner::set_block(std::size_t half, const LaneVector& weights, const LaneVector& precision) {
  const std::vector<std::uint32_t>& dense = design_.dense();
  const std::size_t size = dense.size();
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j <= i; ++j) block_.set(at(i, j), i == j ? precision[dense[i]] : Lanes{});
  const std::size_t step = std::max<std::size_t>(1, design_.rows() / kRowsOfABlock);
  const auto scale = static_cast<double>(step);
  // Two rows for each visit of a sum; of the last rows one may be left out.
  for (std::size_t row = 0; row < design_.rows(); row += 2 * step) {
    const std::size_t other = std::min(row + step, design_.rows() - 1);
    const double* x = design_.dense_values(row);
    const double* z = design_.dense_values(other);
    const Lanes weight_of_x = scale * weights[row];
    const Lanes weight_of_z = other == row ? Lanes{} : scale * weights[other];
    for (std::size_t i = 0; i < size; ++i) {
      const Lanes of_x = weight_of_x * x[i];
      const Lanes of_z = weight_of_z * z[i];
      for (std::size_t j = 0; j <= i; ++j)
        block_.set(at(i, j), block_[at(i, j)] + (of_x * x[j] + of_z * z[j]));
    }
  }
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      Lanes sum = block_[at(i, j)];
      for (std::size_t k = 0; k < j; ++k) sum -= block_[at(i, k)] * block_[at(j, k)];
      block_.set(at(i, j), i == j ? 1.0 / root(sum) : sum * block_[at(j, j)]);
    }
  for (std::size_t i = 0; i < block_.size(); ++i)
    std::copy_n(block_.at(i), kLanes, factor_.at(i) + half * kLanes);
}

void Preconditioner::set_diagonal(const FloatLaneVector& diagonal) {
  for (std::size_t d = 0; d < inverse_.size(); ++d) inverse_.set(d, 1.0f / diagonal[d]);
}

void Preconditioner::solve(const FloatLaneVector& right, FloatLaneVector& out) const {
  for (std::size_t d = 0; d < inverse_.size(); ++d) out.set(d, inverse_[d] * right[d]);
  const std::vector<std::uint32_t>& dense = design_.dense();
  const std::size_t size = dense.size();
  for (std::size_t i = 0; i < size; ++i) {
    FloatLanes sum = right[dense[i]];
    for (std::size_t j = 0; j < i; ++j) sum -= factor_[at(i, j)] * out[dense[j]];
    out.set(dense[i], sum * factor_[at(i, i)]);
  }
  for (std::size_t i = size; i-- > 0;) {
    FloatLanes sum = out[dense[i]];
    for (std::size_t j = i + 1; j < size; ++j) sum -= factor_[at(j, i)] * out[dense[j]];
    out.set(dense[i], sum * factor_[at(i, i)]);
  }
}

}  // namespace coppice::bnmc
