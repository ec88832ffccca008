// The log weights of rows and sub-clusters.
#include <algorithm>
#include <cmath>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/packed_cholesky.hpp"
#include "coppice/model/nhcm/state.hpp"

namespace coppice::nhcm {
namespace {

/// The share of a determinant that must be left without a row, for the digits of what is left.
constexpr double kLeastKept = 1e-6;

}  // namespace

void State::log_conditional(std::size_t row, double* out) const {
  const Label own = sub_of_[row];
  const bool alone = own != kNone && sub_sizes_[index(own)] == copies_of(row);
  const double shift = open_shift_[alone ? 1 : 0];
  if (copies_of(row) != 1) return weigh_copies(row, shift, out);
  std::copy_n(log_weight_.data(), options(), out);
  for (const Label opening : openings_)
    if (opening != kNone) out[opening] += shift;
  family_->add_log_predictive((*data_)[row], cache_.data(), stride_, options() / kLanes, {}, out);
  if (own != kNone) own_weights(row, shift, out);
}

void State::weigh_copies(std::size_t row, double open_shift, double* out) const {
  const std::size_t d = evidence_.dimension();
  const std::uint32_t copies = copies_of(row);
  const Label own = sub_of_[row];
  std::fill_n(out, options(), kMinusInfinity);
  scratch_.resize(d);
  for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
    const auto cluster = static_cast<Label>(slot);
    const Counts& counts = counts_[slot];
    if (openings_[slot] == kNone || (own != kNone && cluster == cluster_of(own))) continue;
    const auto density = [&](const double* sub) {
      const double strength = evidence_.locate(cluster_stats(cluster), sub, scratch_.data());
      for (std::size_t j = 0; j < d; ++j) scratch_[j] = (*data_)[row][j] - scratch_[j];
      return evidence_.log_density(counts.rows, log_determinant_[slot], strength,
                                   squared_distance(factor(cluster), scratch_.data(), d), copies);
    };
    out[openings_[slot]] = density(nullptr) + prior_->log_open(counts, copies) + open_shift;
    for (const Label sub : subs_of(cluster))
      out[sub] = density(sub_stats(sub)) + prior_->log_join(sub_sizes_[index(sub)], counts, copies);
  }
  if (own == kNone) return;
  if (counts_[index(cluster_of(own))].rows == copies) {
    out[own] = out[openings_[index(cluster_of(own))]] = kMinusInfinity;
    return;
  }
  scratch_sub_.assign(sub_stats(own), sub_stats(own) + sub_size_);
  if (!subtract(scratch_sub_.data(), row)) gather_rest(row);
  own_weights_beside_rest(row, open_shift, out);
}

// The densities in the row's own cluster, with the row left out: every slot of it changes. Psi without the
// row is Psi - c e e', where e is the distance of the row from the center of the slot through which it came
// in, so inverse and determinant follow from those with the row, and nothing has to be factorized.
void State::own_weights(std::size_t row, double open_shift, double* out) const {
  const Label own = sub_of_[row];
  const Label cluster = cluster_of(own);
  const Label opening = openings_[index(cluster)];
  Counts counts = counts_[index(cluster)];
  if (--counts.rows == 0) {
    out[own] = out[opening] = kMinusInfinity;
    return;
  }
  const std::size_t d = evidence_.dimension();
  const double* x = (*data_)[row];
  const double* sums = cluster_stats(cluster);
  const double before = sub_sizes_[index(own)];
  const double left = before - 1.0;

  // The slot through which the row came in stands first.
  own_slots_.clear();
  if (left > 0.0) {
    own_slots_.push_back(own);
  } else {
    --counts.subclusters;
    out[own] = kMinusInfinity;
  }
  own_slots_.push_back(opening);
  for (const Label sub : subs_of(cluster))
    if (sub != own) own_slots_.push_back(sub);

  // The weighted sum of the prior and the cluster and the mean of the row's sub-cluster without the row, L^-1
  // e, and scratch by dimension in lanes.
  own_.resize(3 * d + d * kLanes);
  double* sum = own_.data();
  double* mean_left = sum + d;
  double* entered = mean_left + d;
  double* rest = entered + d;
  const double w_before = evidence_.weight_of(before);
  const double w_left = evidence_.weight_of(left);
  const double* mean_before = ScatterMoments::mean(sub_stats(own));
  const double step = left > 0.0 ? 1.0 / left : 0.0;
  for (std::size_t j = 0; j < d; ++j) {
    mean_left[j] = mean_before[j] + (mean_before[j] - x[j]) * step;
    sum[j] = Evidence::weight(sums) * Evidence::mean(sums)[j] - w_before * mean_before[j] +
             w_left * mean_left[j] + evidence_.mean_strength() * evidence_.prior_mean()[j];
  }
  const double precision = evidence_.mean_strength() + Evidence::weight(sums) - w_before + w_left;
  const double q = evidence_.spread();
  const double* inverse = inverse_diagonals_.data() + index(cluster) * d;
  double entry_ratio = 0.0;
  double kept = 1.0;
  double constant = 0.0;
  for (std::size_t first = 0; first < own_slots_.size(); first += kLanes) {
    const std::size_t count = std::min(kLanes, own_slots_.size() - first);
    const Label* slots = own_slots_.data() + first;
    alignas(64) double sizes[kLanes] = {};
    std::fill_n(rest, d * kLanes, 0.0);
    for (std::size_t lane = 0; lane < count; ++lane) {
      if (slots[lane] == opening) continue;
      const bool is_own = slots[lane] == own;
      sizes[lane] = is_own ? left : static_cast<double>(sub_sizes_[index(slots[lane])]);
      const double* mean = is_own ? mean_left : ScatterMoments::mean(sub_stats(slots[lane]));
      for (std::size_t j = 0; j < d; ++j) rest[j * kLanes + lane] = mean[j];
    }
    const Lanes n = load_lanes(sizes);
    const Lanes w = n / (1.0 + q * n);
    const Lanes a = precision - w;
    const Lanes share = 1.0 / (1.0 + q * a);  // kappa = a share
    const Lanes strength = a * share + n;
    const Lanes inverse_strength = 1.0 / strength;
    const Lanes of_sum = share * inverse_strength;
    const Lanes of_mean = (n - share * w) * inverse_strength;
    for (std::size_t j = 0; j < d; ++j)
      store_lanes(rest + j * kLanes, x[j] - of_sum * sum[j] - of_mean * load_lanes(rest + j * kLanes));
    const double* entry = factor(cluster);
    Lanes square{};
    Lanes product{};
    for (std::size_t j = 0; j < d; ++j) {
      const Lanes z = load_lanes(rest + j * kLanes) * inverse[j];
      ++entry;
      square += z * z;
      if (first == 0) entered[j] = z[0];
      product += z * entered[j];
      for (std::size_t i = j + 1; i < d; ++i)
        store_lanes(rest + i * kLanes, load_lanes(rest + i * kLanes) - *entry++ * z);
    }
    const Lanes ratio = strength / (strength + 1.0);
    if (first == 0) {
      entry_ratio = ratio[0];
      kept = 1.0 - entry_ratio * square[0];
      if (!(kept > kLeastKept)) {
        gather_rest(row);
        return own_weights_beside_rest(row, open_shift, out);
      }
      constant = evidence_.log_step(counts.rows) - 0.5 * (log_determinant_[index(cluster)] + std::log(kept));
    }
    const Lanes distance = square + (entry_ratio / kept) * product * product;
    const Lanes density = constant + 0.5 * static_cast<double>(d) * coppice::log(ratio) -
                          0.5 * (evidence_.dof() + counts.rows + 1.0) * coppice::log(1.0 + ratio * distance);
    alignas(64) double densities[kLanes];
    store_lanes(densities, density);
    for (std::size_t lane = 0; lane < count; ++lane)
      out[slots[lane]] =
          densities[lane] + (slots[lane] == opening
                                 ? prior_->log_open(counts) + open_shift
                                 : prior_->log_join(static_cast<std::uint32_t>(sizes[lane]), counts));
  }
}

void State::gather_rest(std::size_t row) const {
  scratch_sub_.resize(sub_size_);
  evidence_.moments().clear(scratch_sub_.data());
  for (std::size_t other = 0; other < rows(); ++other)
    if (sub_of_[other] == sub_of_[row] && other != row)
      evidence_.moments().add(scratch_sub_.data(), (*data_)[other], copies_of(other));
}

void State::own_weights_beside_rest(std::size_t row, double open_shift, double* out) const {
  const Label own = sub_of_[row];
  const Label cluster = cluster_of(own);
  const Label opening = openings_[index(cluster)];
  const std::size_t d = evidence_.dimension();
  const std::uint32_t copies = copies_of(row);
  Counts counts = counts_[index(cluster)];
  counts.rows -= copies;
  const std::uint32_t left = sub_sizes_[index(own)] - copies;
  if (left == 0) --counts.subclusters;
  scratch_.resize(cluster_size_);
  evidence_.clear(scratch_.data());
  if (left != 0) evidence_.take_in(scratch_.data(), scratch_sub_.data());
  for (const Label sub : subs_of(cluster))
    if (sub != own) evidence_.take_in(scratch_.data(), sub_stats(sub));
  scratch_factor_.resize(evidence_.factor_size());
  const double log_determinant = evidence_.factorize(scratch_.data(), scratch_factor_.data());
  own_.resize(d);
  const auto density = [&](const double* sub) {
    const double strength = evidence_.locate(scratch_.data(), sub, own_.data());
    for (std::size_t j = 0; j < d; ++j) own_[j] = (*data_)[row][j] - own_[j];
    return evidence_.log_density(counts.rows, log_determinant, strength,
                                 squared_distance(scratch_factor_.data(), own_.data(), d), copies);
  };
  out[opening] = density(nullptr) + prior_->log_open(counts, copies) + open_shift;
  for (const Label sub : subs_of(cluster))
    if (sub != own)
      out[sub] = density(sub_stats(sub)) + prior_->log_join(sub_sizes_[index(sub)], counts, copies);
  out[own] =
      left == 0 ? kMinusInfinity : density(scratch_sub_.data()) + prior_->log_join(left, counts, copies);
}

void State::log_conditional_of_sub(Label sub, std::span<double> out) const {
  const Label own = cluster_of(sub);
  const std::uint32_t size = sub_sizes_[index(sub)];
  std::vector<double>& stats = scratch_;
  stats.resize(cluster_size_);
  for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
    const auto cluster = static_cast<Label>(slot);
    Counts counts = counts_[slot];
    if (slot != 0 && counts.rows == 0) {
      out[slot] = kMinusInfinity;
      continue;
    }
    double log_with = 0.0;
    double log_without = 0.0;
    if (cluster == own) {
      counts.rows -= size;
      --counts.subclusters;
      if (counts.rows == 0) {
        out[slot] = kMinusInfinity;  // the empty cluster represents it
        continue;
      }
      evidence_.clear(stats.data());
      for (const Label other : subs_of(own))
        if (other != sub) evidence_.take_in(stats.data(), sub_stats(other));
      log_with = log_marginal(own);
      log_without = evidence_.log_marginal(stats.data(), scratch_factor_);
    } else {
      std::copy_n(cluster_stats(cluster), cluster_size_, stats.begin());
      evidence_.take_in(stats.data(), sub_stats(sub));
      log_with = evidence_.log_marginal(stats.data(), scratch_factor_);
      log_without = slot == 0 ? 0.0 : log_marginal(cluster);
    }
    const Counts joined{counts.subclusters + 1, counts.rows + size};
    out[slot] = log_with - log_without + prior_->log_cluster(joined) - prior_->log_cluster(counts) +
                (slot == 0 ? std::log(prior_->alpha_clusters()) : 0.0);
  }
}

}  // namespace coppice::nhcm
