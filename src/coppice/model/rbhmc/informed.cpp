#include "coppice/model/rbhmc/informed.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/model/rbhmc/gaussian_conditional.hpp"

namespace coppice::rbhmc {

namespace {

constexpr std::size_t kRowsLookedAt = 500;

}  // namespace

InformedProposal::InformedProposal(const Margins& margins, const LevelTree& tree, NodeId parent,
                                   std::span<const std::uint32_t> members, NodeId excluded)
    : margins_(&margins),
      gaussian_(
          std::make_unique<GaussianConditional>(margins.dimension(), 1.0 / (margins.sd() * margins.sd()))) {
  const std::size_t level = tree.level(parent);
  // Of hinges: margin and as much again. Of gates: a quarter is the curvature of a logistic function at zero,
  // and e^3 to 1 is nearly certain.
  const double strength =
      (margins.gated() ? 0.25 * margins.gates().power(level + 1) : 0.5) * margins.penalty();
  const double distance = margins.gated() ? 3.0 : 2.0 * margins.margin();
  // With very many rows, a fixed subset, chosen by their numbers alone, represents all.
  const auto looked_at = [](std::uint32_t row, std::uint64_t every) {
    return (row * 0x9e3779b97f4a7c15U >> 32) % every == 0;
  };
  const auto add = [&](std::uint32_t row, double wanted, std::uint64_t every) {
    const double weight = strength * static_cast<double>(every);
    gaussian_->add(margins.feature(row), weight, weight * wanted);
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
    const double own = margins.gated() ? margins.gates().score(tree.ancestor(tree.leaf(row), level + 1), row)
                                       : margins.own(row)[level];
    add(row, own - distance, every_other);
  });
  gaussian_->factorize();
}

InformedProposal::~InformedProposal() = default;

void InformedProposal::draw(Stream& stream, double* eta) const {
  const Eigen::VectorXd drawn = gaussian_->draw(stream);
  std::copy(drawn.begin(), drawn.end(), eta);
  std::fill(eta + margins_->dimension(), eta + margins_->stride(), 0.0);
}

double InformedProposal::log_ratio_to_prior(const double* eta) const {
  const double log_prior =
      margins_->log_prior_ratio(eta) - static_cast<double>(margins_->dimension()) * std::log(margins_->sd());
  return gaussian_->log_density(eta) - log_prior;
}

}  // namespace coppice::rbhmc
