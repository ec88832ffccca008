#include "coppice/model/nhcm/state.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/gaussian_kernel.hpp"

namespace coppice::nhcm {
namespace {

namespace kernel = gaussian_kernel;

/// A removed row that was this much of a sub-cluster's squares has taken the digits of the rest with it.
constexpr double kLostDigits = 1e6;

}  // namespace

State::State(const Gaussian& family, const Rows& rows, const TwoLevelCrp& prior, double spread)
    : family_(&family),
      data_(&rows),
      prior_(&prior),
      evidence_(family, spread, static_cast<std::size_t>(rows.copies())),
      sub_size_(evidence_.moments().size()),
      cluster_size_(evidence_.cluster_size()),
      stride_(family.cache_size() * kLanes),
      sub_of_(rows.size(), kNone) {
  clear_slots();
}

void State::clear_slots() {
  sub_sizes_.clear();
  cluster_of_.clear();
  sub_stats_.clear();
  free_slots_.clear();
  log_weight_.clear();
  counts_.clear();
  for (Labels& subs : subs_of_) subs.clear();
  openings_.clear();
  cluster_stats_.clear();
  factors_.clear();
  inverse_diagonals_.clear();
  log_determinant_.clear();
  log_marginal_.clear();
  free_clusters_.clear();
  refresh(open_cluster());  // the one that stays empty
  refresh_open_shift();
}

void State::assign(std::span<const Label> clusters, std::span<const Label> subclusters) {
  clear_slots();
  Labels slot_of_sub, slot_of_cluster;
  const auto slot_in = [](Labels& slots, Label label) -> Label& {
    if (slots.size() <= index(label)) slots.resize(index(label) + 1, kNone);
    return slots[index(label)];
  };
  for (std::size_t row = 0; row < rows(); ++row) {
    sub_of_[row] = kNone;
    if (subclusters[row] == kNone) continue;
    Label& cluster = slot_in(slot_of_cluster, clusters[row]);
    if (cluster == kNone) cluster = open_cluster();
    Label& sub = slot_in(slot_of_sub, subclusters[row]);
    if (sub == kNone) sub = open_sub(cluster);
    add_row(row, sub);
  }
  for (std::size_t cluster = 1; cluster < counts_.size(); ++cluster) refresh(static_cast<Label>(cluster));
}

void State::rebuild() {
  Labels both(2 * rows());
  labels(both);
  assign({both.data(), rows()}, {both.data() + rows(), rows()});
}

void State::labels(std::span<Label> out) const {
  for (std::size_t row = 0; row < rows(); ++row) {
    out[rows() + row] = sub_of_[row];
    out[row] = cluster_of(sub_of_[row]);
  }
  canonicalize(out.first(rows()));
  canonicalize(out.subspan(rows(), rows()));
}

void State::set_spread(double spread) {
  evidence_.set_spread(spread);
  refresh_all();
}

void State::adopt_prior() {
  evidence_.adopt(*family_);
  refresh_all();
}

void State::get_moments(std::vector<GaussianMoments>& clusters) const {
  clusters.resize(this->clusters());
  std::size_t place = 0;
  for (std::size_t cluster = 1; cluster < counts_.size(); ++cluster)
    if (counts_[cluster].rows != 0)
      evidence_.get_moments(cluster_stats(static_cast<Label>(cluster)), clusters[place++]);
}

void State::refresh_all() {
  for (std::size_t cluster = 0; cluster < counts_.size(); ++cluster)
    if (cluster == kNewCluster || counts_[cluster].rows != 0) refresh(static_cast<Label>(cluster));
}

void State::refresh_weights() {
  for (std::size_t cluster = 0; cluster < counts_.size(); ++cluster)
    if (cluster == kNewCluster || counts_[cluster].rows != 0) refresh_weights(static_cast<Label>(cluster));
  refresh_open_shift();
}

double State::log_marginal() const {
  double total = 0.0;
  for (std::size_t cluster = 1; cluster < counts_.size(); ++cluster)
    if (counts_[cluster].rows != 0) total += log_marginal_[cluster];
  return total;
}

double State::log_marginal_with(double spread) {
  const double before = evidence_.spread();
  evidence_.set_spread(spread);
  double total = 0.0;
  scratch_.resize(cluster_size_);
  for (std::size_t cluster = 1; cluster < counts_.size(); ++cluster) {
    evidence_.clear(scratch_.data());
    for (const Label sub : subs_of_[cluster]) evidence_.take_in(scratch_.data(), sub_stats(sub));
    total += evidence_.log_marginal(scratch_.data(), scratch_factor_);
  }
  evidence_.set_spread(before);
  return total;
}

// ---- slots ----

Label State::open_slot(Label cluster) {
  Label slot = 0;
  if (!free_slots_.empty()) {
    slot = free_slots_.back();
    free_slots_.pop_back();
  } else {
    slot = static_cast<Label>(sub_sizes_.size());
    sub_sizes_.push_back(0);
    cluster_of_.push_back(kNone);
    sub_stats_.resize(sub_stats_.size() + sub_size_);
    const std::size_t size = padded(sub_sizes_.size());
    if (log_weight_.size() < size) log_weight_.resize(size, kMinusInfinity);
    // Lanes that are not used hold zeros or what a closed slot had: the arithmetic of the kernel stays
    // finite.
    if (cache_.size() < size / kLanes * stride_) cache_.resize(size / kLanes * stride_, 0.0);
  }
  cluster_of_[index(slot)] = cluster;
  return slot;
}

void State::close_slot(Label slot) {
  cluster_of_[index(slot)] = kNone;
  log_weight_[index(slot)] = kMinusInfinity;
  free_slots_.push_back(slot);
}

Label State::open_sub(Label cluster) {
  const Label sub = open_slot(cluster);
  evidence_.moments().clear(mutable_sub(sub));
  subs_of_[index(cluster)].push_back(sub);
  ++counts_[index(cluster)].subclusters;
  refresh_open_shift();
  return sub;
}

void State::close_sub(Label sub) {
  const Label cluster = cluster_of(sub);
  std::erase(subs_of_[index(cluster)], sub);
  --counts_[index(cluster)].subclusters;
  close_slot(sub);
  refresh_open_shift();
}

void State::refresh_open_shift() {
  const std::size_t count = subclusters();
  open_shift_[0] = prior_->log_open_shift(count);
  open_shift_[1] = prior_->log_open_shift(count == 0 ? 0 : count - 1);
}

Label State::open_cluster() {
  Label cluster = 0;
  if (!free_clusters_.empty()) {
    cluster = free_clusters_.back();
    free_clusters_.pop_back();
  } else {
    cluster = static_cast<Label>(counts_.size());
    counts_.emplace_back();
    if (subs_of_.size() < counts_.size()) subs_of_.emplace_back();
    openings_.push_back(kNone);
    cluster_stats_.resize(cluster_stats_.size() + cluster_size_);
    factors_.resize(factors_.size() + evidence_.factor_size());
    inverse_diagonals_.resize(inverse_diagonals_.size() + evidence_.dimension());
    log_determinant_.push_back(0.0);
    log_marginal_.push_back(0.0);
  }
  openings_[index(cluster)] = open_slot(cluster);
  return cluster;
}

void State::close_cluster(Label cluster) {
  close_slot(openings_[index(cluster)]);
  openings_[index(cluster)] = kNone;
  log_marginal_[index(cluster)] = 0.0;
  free_clusters_.push_back(cluster);
}

void State::fill_cache(Label slot, Label cluster, const double* sub) {
  const std::size_t d = evidence_.dimension();
  scratch_.resize(d);
  const double strength = evidence_.locate(cluster_stats(cluster), sub, scratch_.data());
  double* to = cache_.data() + index(slot) / kLanes * stride_ + index(slot) % kLanes;
  for (std::size_t j = 0; j < d; ++j, to += kLanes) *to = scratch_[j];
  const double* entry = factor(cluster);
  for (std::size_t j = 0; j < d; ++j) {
    *to = inverse_diagonals_[index(cluster) * d + j];
    ++entry;
    to += kLanes;
    for (std::size_t i = j + 1; i < d; ++i, to += kLanes) *to = *entry++;
  }
  const double ratio = strength / (strength + 1.0);
  const double rows = counts_[index(cluster)].rows;
  to[kernel::constant * kLanes] = evidence_.log_step(rows) + 0.5 * static_cast<double>(d) * std::log(ratio) -
                                  0.5 * log_determinant_[index(cluster)];
  to[kernel::half_dof * kLanes] = 0.5 * (evidence_.dof() + rows + 1.0);
  to[kernel::ratio * kLanes] = ratio;
}

void State::refresh(Label cluster) {
  double* stats = cluster_stats_.data() + index(cluster) * cluster_size_;
  evidence_.clear(stats);
  for (const Label sub : subs_of(cluster)) evidence_.take_in(stats, sub_stats(sub));
  log_determinant_[index(cluster)] = evidence_.factorize(stats, factor(cluster));
  log_marginal_[index(cluster)] = evidence_.log_marginal(stats, log_determinant_[index(cluster)]);
  const std::size_t d = evidence_.dimension();
  const double* diagonal = factor(cluster);
  for (std::size_t j = 0; j < d; diagonal += d - j, ++j)
    inverse_diagonals_[index(cluster) * d + j] = 1.0 / *diagonal;
  for (const Label sub : subs_of(cluster)) fill_cache(sub, cluster, sub_stats(sub));
  fill_cache(openings_[index(cluster)], cluster, nullptr);
  refresh_weights(cluster);
}

void State::refresh_weights(Label cluster) {
  const Counts& counts = counts_[index(cluster)];
  for (const Label sub : subs_of(cluster))
    log_weight_[index(sub)] = prior_->log_join(sub_sizes_[index(sub)], counts);
  log_weight_[index(openings_[index(cluster)])] = prior_->log_open(counts);
}

// ---- rows ----

void State::add_row(std::size_t row, Label sub) {
  const std::uint32_t copies = copies_of(row);
  evidence_.moments().add(mutable_sub(sub), (*data_)[row], copies);
  sub_of_[row] = sub;
  sub_sizes_[index(sub)] += copies;
  counts_[index(cluster_of(sub))].rows += copies;
}

void State::remove_row(std::size_t row) {
  const Label sub = sub_of_[row];
  const std::uint32_t copies = copies_of(row);
  const bool has_digits = subtract(mutable_sub(sub), row);
  sub_of_[row] = kNone;
  counts_[index(cluster_of(sub))].rows -= copies;
  sub_sizes_[index(sub)] -= copies;
  if (sub_sizes_[index(sub)] == 0) return close_sub(sub);
  if (!has_digits) recompute_sub(sub);
}

bool State::subtract(double* sub, std::size_t row) const {
  const std::size_t d = evidence_.dimension();
  // Diagonal entries of the scatter before, for the digits that are left.
  scratch_.resize(d);
  const auto diagonal = [&](std::size_t j) { return 1 + d + j * d - (j * j - j) / 2; };
  for (std::size_t j = 0; j < d; ++j) scratch_[j] = sub[diagonal(j)];
  evidence_.moments().remove(sub, (*data_)[row], copies_of(row));
  for (std::size_t j = 0; j < d; ++j)
    if (scratch_[j] > kLostDigits * (sub[diagonal(j)] + evidence_.scale(j, j))) return false;
  return true;
}

void State::recompute_sub(Label sub) {
  evidence_.moments().clear(mutable_sub(sub));
  for (std::size_t row = 0; row < rows(); ++row)
    if (sub_of_[row] == sub) evidence_.moments().add(mutable_sub(sub), (*data_)[row], copies_of(row));
}

bool State::place(std::size_t row, Label slot) {
  const Label from = sub_of_[row];
  if (slot == from) return false;
  const Label left = from == kNone ? kNone : cluster_of(from);
  const bool opens = is_opening(slot);
  Label cluster = cluster_of(slot);
  // A singleton that would reopen its own sub-cluster, or its own cluster, stays.
  if (opens && from != kNone && sub_sizes_[index(from)] == copies_of(row) &&
      (cluster == left || (cluster == kNewCluster && counts_[index(left)].rows == copies_of(row))))
    return false;
  if (from != kNone) remove_row(row);
  if (left != kNone && counts_[index(left)].rows == 0) close_cluster(left);
  if (cluster == kNewCluster) cluster = open_cluster();
  add_row(row, opens ? open_sub(cluster) : slot);
  if (left != kNone && left != cluster && counts_[index(left)].rows != 0) refresh(left);
  refresh(cluster);
  return true;
}

void State::take_out(std::size_t row) {
  const Label cluster = cluster_of(sub_of_[row]);
  remove_row(row);
  if (counts_[index(cluster)].rows == 0)
    close_cluster(cluster);
  else
    refresh(cluster);
}

void State::put(std::size_t row, Label sub) {
  add_row(row, sub);
  refresh(cluster_of(sub));
}

// ---- whole sub-clusters ----

bool State::move_sub(Label sub, Label to) {
  const Label from = cluster_of(sub);
  if (to == from || (to == kNewCluster && counts_[index(from)].subclusters == 1)) return false;
  const std::uint32_t size = sub_sizes_[index(sub)];
  std::erase(subs_of_[index(from)], sub);
  counts_[index(from)].rows -= size;
  if (--counts_[index(from)].subclusters == 0)
    close_cluster(from);
  else
    refresh(from);
  if (to == kNewCluster) to = open_cluster();
  cluster_of_[index(sub)] = to;
  subs_of_[index(to)].push_back(sub);
  counts_[index(to)].rows += size;
  ++counts_[index(to)].subclusters;
  refresh(to);
  return true;
}

void State::split_sub(Label sub, std::span<const std::uint32_t> rows) {
  const Label cluster = cluster_of(sub);
  const Label part = open_sub(cluster);
  std::uint32_t copies = 0;
  for (const std::uint32_t row : rows) {
    sub_of_[row] = part;
    copies += copies_of(row);
  }
  sub_sizes_[index(part)] = copies;
  sub_sizes_[index(sub)] -= copies;
  recompute_sub(part);
  recompute_sub(sub);
  refresh(cluster);
}

void State::merge_subs(Label kept, Label gone) {
  for (Label& sub : sub_of_)
    if (sub == gone) sub = kept;
  sub_sizes_[index(kept)] += sub_sizes_[index(gone)];
  sub_sizes_[index(gone)] = 0;
  const Label cluster = cluster_of(kept);
  close_sub(gone);
  recompute_sub(kept);
  refresh(cluster);
}

void State::split_cluster(std::span<const Label> subs) {
  const Label from = cluster_of(subs[0]);
  const Label part = open_cluster();
  for (const Label sub : subs) {
    std::erase(subs_of_[index(from)], sub);
    subs_of_[index(part)].push_back(sub);
    cluster_of_[index(sub)] = part;
    const std::uint32_t size = sub_sizes_[index(sub)];
    counts_[index(from)].rows -= size;
    counts_[index(part)].rows += size;
  }
  counts_[index(from)].subclusters -= static_cast<std::uint32_t>(subs.size());
  counts_[index(part)].subclusters += static_cast<std::uint32_t>(subs.size());
  refresh(from);
  refresh(part);
}

void State::merge_clusters(Label kept, Label gone) {
  for (const Label sub : subs_of_[index(gone)]) {
    cluster_of_[index(sub)] = kept;
    subs_of_[index(kept)].push_back(sub);
  }
  subs_of_[index(gone)].clear();
  counts_[index(kept)].rows += counts_[index(gone)].rows;
  counts_[index(kept)].subclusters += counts_[index(gone)].subclusters;
  counts_[index(gone)] = {};
  close_cluster(gone);
  refresh(kept);
}

void State::subs_by_first_row(Labels& out) const {
  seen_.assign(sub_sizes_.size(), false);
  out.clear();
  for (const Label sub : sub_of_) {
    if (sub == kNone || seen_[index(sub)]) continue;
    seen_[index(sub)] = true;
    out.push_back(sub);
  }
}

void State::members(Label a, Label b, std::vector<std::uint32_t>& out) const {
  out.clear();
  for (std::size_t row = 0; row < rows(); ++row)
    if (sub_of_[row] == a || sub_of_[row] == b) out.push_back(static_cast<std::uint32_t>(row));
}

std::size_t State::bytes(std::size_t rows, double copies, std::size_t dimension, std::size_t slots) {
  const std::size_t triangle = dimension * (dimension + 1) / 2;
  return rows * sizeof(Label) + static_cast<std::size_t>(copies) * 3 * sizeof(double) +
         slots * 2 * (3 * triangle + 3 * dimension + 16) * sizeof(double);
}

}  // namespace coppice::nhcm
