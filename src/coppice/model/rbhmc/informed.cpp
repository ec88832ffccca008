#include "coppice/model/rbhmc/informed.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"

namespace coppice::rbhmc {

namespace {

constexpr std::size_t kRowsLookedAt = 500;

}  // namespace

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

InformedProposal::InformedProposal(const Margins& margins, const LevelTree& tree, NodeId parent,
                                   std::span<const std::uint32_t> members, NodeId excluded)
    : margins_(&margins) {
  const auto dimension = static_cast<Eigen::Index>(margins.dimension());
  const std::size_t level = tree.level(parent);
  const double strength = 0.5 * margins.penalty();
  const double distance = 2.0 * margins.margin();  // margin and as much again
  Matrix precision = Matrix::Identity(dimension, dimension) / (margins.sd() * margins.sd());
  Eigen::VectorXd pull = Eigen::VectorXd::Zero(dimension);
  // Of very many rows a fixed part, chosen by their numbers alone, stands for all.
  const auto looked_at = [](std::uint32_t row, std::uint64_t every) {
    return (row * 0x9e3779b97f4a7c15U >> 32) % every == 0;
  };
  const auto add = [&](std::uint32_t row, double wanted, std::uint64_t every) {
    const Eigen::Map<const Eigen::VectorXd> y(margins.feature(row), dimension);
    const double weight = strength * static_cast<double>(every);
    precision.selfadjointView<Eigen::Lower>().rankUpdate(y, weight);
    pull += weight * wanted * y;
  };
  const std::uint64_t every_member = members.size() / kRowsLookedAt + 1;
  for (const std::uint32_t row : members) {
    if (!looked_at(row, every_member)) continue;
    double best = kMinusInfinity;
    for (const NodeId child : tree.children(parent))
      if (child != excluded) best = std::max(best, margins.score(margins.eta(child), row));
    add(row, (best > kMinusInfinity ? best : 0.0) + distance, every_member);
  }
  // Either one row that is out of the tree, or rows below the parent.
  const bool are_below = tree.leaf(members[0]) != LevelTree::kNone;
  std::vector<char> is_member(are_below ? tree.rows() : 0, 0);
  if (!is_member.empty())
    for (const std::uint32_t row : members) is_member[row] = 1;
  const std::uint64_t every_other = tree.size(parent) / kRowsLookedAt + 1;
  tree.for_each_row_below(parent, [&](std::uint32_t row) {
    if (!looked_at(row, every_other) || (!is_member.empty() && is_member[row] != 0)) return;
    add(row, margins.own(row)[level] - distance, every_other);
  });
  Eigen::LLT<Matrix> factor(precision);
  if (factor.info() != Eigen::Success) {
    precision.diagonal().array() += 1e-10 * precision.trace() / static_cast<double>(dimension);
    factor.compute(precision);
  }
  const Eigen::VectorXd mean = factor.solve(pull);
  mean_.assign(mean.data(), mean.data() + dimension);
  const Matrix lower = factor.matrixL();
  factor_.assign(lower.data(), lower.data() + lower.size());
  for (Eigen::Index i = 0; i < dimension; ++i) log_determinant_ += 2.0 * std::log(lower(i, i));
}

void InformedProposal::draw(Stream& stream, double* eta) const {
  const auto dimension = static_cast<Eigen::Index>(mean_.size());
  Eigen::VectorXd normal(dimension);
  for (double& value : normal) value = draw_normal(stream);
  const Eigen::Map<const Matrix> lower(factor_.data(), dimension, dimension);
  const Eigen::VectorXd deviation = lower.transpose().triangularView<Eigen::Upper>().solve(normal);
  for (Eigen::Index i = 0; i < dimension; ++i) eta[i] = mean_[static_cast<std::size_t>(i)] + deviation[i];
  std::fill(eta + dimension, eta + margins_->stride(), 0.0);
}

double InformedProposal::log_ratio_to_prior(const double* eta) const {
  const auto dimension = static_cast<Eigen::Index>(mean_.size());
  const Eigen::Map<const Matrix> lower(factor_.data(), dimension, dimension);
  const Eigen::Map<const Eigen::VectorXd> value(eta, dimension);
  const Eigen::Map<const Eigen::VectorXd> mean(mean_.data(), dimension);
  const Eigen::VectorXd white = lower.transpose() * (value - mean);
  const double log_prior =
      margins_->log_prior_ratio(eta) - static_cast<double>(dimension) * std::log(margins_->sd());
  return 0.5 * log_determinant_ - 0.5 * white.squaredNorm() - log_prior;
}

}  // namespace coppice::rbhmc
