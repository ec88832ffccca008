// What a state says of its data: densities of single rows, and the density of all.
#include <algorithm>
#include <cmath>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/model/rbhmc/state.hpp"
#include "coppice/prior/hdp.hpp"
#include "coppice/prior/nested_crp.hpp"

namespace coppice::rbhmc {
namespace {

/// Relative to the largest, a density of e^-100 has no say in a sum that is above 1e-20; smaller sums are
/// made from logs.
constexpr double kNegligible = -100.0;

}  // namespace

void State::prepare_densities() {
  const std::size_t needed = std::max(components_.weights_size(), stride_);
  if (log_density_.size() < needed) {
    log_density_.resize(needed);
    density_.resize(needed);
  }
  std::fill(log_density_.begin(), log_density_.end(), kMinusInfinity);
}

void State::scale_densities() {
  Lanes largest = broadcast(log_density_new_);
  for (std::size_t i = 0; i < log_density_.size(); i += kLanes) {
    const Lanes value = load_lanes(log_density_.data() + i);
    largest = value > largest ? value : largest;
  }
  const double top = maximum(largest);
  for (std::size_t i = 0; i < log_density_.size(); i += kLanes) {
    const Lanes value = load_lanes(log_density_.data() + i) - top;
    store_lanes(log_density_.data() + i, value);
    store_lanes(density_.data() + i, value > kNegligible ? exp(value) : Lanes{});
  }
  log_density_new_ -= top;
  density_new_ = std::exp(log_density_new_);
  dense_slots_.clear();
  for (std::size_t slot = 0; slot < slots(); ++slot)
    if (density_[slot] > 0.0) dense_slots_.push_back(static_cast<std::uint32_t>(slot));
}

void State::load_densities(std::size_t row) {
  prepare_densities();
  if (options_.drawn_theta) {
    const Label own = components_.label(row);
    for (std::size_t slot = 0; slot < slots(); ++slot) {
      const auto label = static_cast<Label>(slot);
      if (components_.size(label) > (label == own ? 1U : 0U))
        log_density_[slot] = family_->log_likelihood(theta(label), (*data_)[row]);
    }
  } else if (filled_->is_incomplete(row)) {
    load_densities_of_present(row);
  } else {
    components_.log_conditional(row, log_density_.data());
  }
  log_density_new_ = log_alone_[row];
  scale_densities();
}

/// With the missing cells of the row integrated out.
void State::load_densities_of_present(std::size_t row) {
  const double* present = filled_->observed()[row];
  components_.log_conditional_of_present(present, log_density_.data());
  const Label own = components_.label(row);
  if (own == Clusters::kUnassigned) return;
  double& of_own = log_density_[static_cast<std::size_t>(own)];
  of_own = kMinusInfinity;
  if (components_.size(own) == 1) return;
  filled_->stats_without(row, components_.labels(), components_.stats(own), others_);
  of_own = family_->log_predictive(others_.data(), present);
}

void State::load_densities_as_published(std::size_t row) {
  prepare_densities();
  for (std::size_t slot = 0; slot < slots(); ++slot)
    if (components_.size(static_cast<Label>(slot)) > 0)
      log_density_[slot] = family_->log_likelihood(theta(static_cast<Label>(slot)), (*data_)[row]);
  log_density_new_ = log_alone_[row];
  scale_densities();
}

void State::load_flat_densities() {
  prepare_densities();
  for (std::size_t slot = 0; slot < slots(); ++slot)
    if (components_.size(static_cast<Label>(slot)) > 0) log_density_[slot] = 0.0;
  log_density_new_ = 0.0;
  scale_densities();
}

double State::log_collapsed() const {
  double total = log_nested_crp(tree_, alpha_) + components_.log_marginal() + family_->log_hyper_prior();
  for (const NodeId leaf : tree_.at_level(tree_.depth()))
    total += log_dirichlet_multinomial({counts(leaf), slots()}, {weights(tree_.parent(leaf)), slots()},
                                       gamma_, gamma_);
  return total;
}

double State::log_collapsed_from_scratch() const {
  Clusters fresh(*family_, *data_, no_prior_);
  fresh.assign(components_.labels());
  double total = log_nested_crp(tree_, alpha_) + fresh.log_marginal() + family_->log_hyper_prior();
  std::vector<double> members(slots());
  for (const NodeId leaf : tree_.at_level(tree_.depth())) {
    std::fill(members.begin(), members.end(), 0.0);
    for (const std::uint32_t row : tree_.members(leaf))
      members[static_cast<std::size_t>(components_.label(row))] += 1.0;
    total += log_dirichlet_multinomial(members, {weights(tree_.parent(leaf)), slots()}, gamma_, gamma_);
  }
  return total;
}

double State::draw_log_complete(Stream& stream) const {
  double total = log_nested_crp(tree_, alpha_);
  const std::size_t used = slots();
  const std::span<const std::uint32_t> sizes = components_.sizes();
  std::vector<double> shapes(used + 1), weights_of_leaf(used + 1);
  for (const NodeId leaf : tree_.at_level(tree_.depth())) {
    const NodeId parent = tree_.parent(leaf);
    for (std::size_t k = 0; k < used; ++k)
      shapes[k] = sizes[k] == 0 ? 0.0 : gamma_ * weights(parent)[k] + counts(leaf)[k];
    shapes[used] = gamma_ * rest_[parent];
    if (options_.drawn_leaf_weights)
      std::copy_n(weights(leaf), used, weights_of_leaf.data());
    else
      draw_dirichlet(stream, shapes, weights_of_leaf);
    for (std::size_t k = 0; k < used; ++k)
      if (counts(leaf)[k] > 0.0) total += counts(leaf)[k] * std::log(weights_of_leaf[k]);
  }
  std::vector<double> parameters(used * family_->theta_size());
  for (std::size_t slot = 0; slot < used; ++slot)
    if (sizes[slot] != 0)
      family_->draw_theta(components_.stats(static_cast<Label>(slot)), stream,
                          parameters.data() + slot * family_->theta_size());
  for (std::size_t row = 0; row < rows(); ++row)
    total += family_->log_likelihood(
        parameters.data() + static_cast<std::size_t>(components_.label(row)) * family_->theta_size(),
        (*data_)[row]);
  return total;
}

}  // namespace coppice::rbhmc
