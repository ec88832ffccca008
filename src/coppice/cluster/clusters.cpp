#include "coppice/cluster/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"

namespace coppice {

Clusters::Clusters(const Family& family, const Rows& rows, std::span<const double> log_join)
    : family_(&family),
      data_(&rows),
      log_join_(log_join),
      stats_size_(family.stats_size()),
      stride_(family.cache_size() * kLanes),
      labels_(rows.size(), kUnassigned),
      empty_(stats_size_) {
  family_->clear(empty_.data());
}

void Clusters::assign(std::span<const Label> labels) {
  if (labels.size() != labels_.size())
    fail(ErrorCode::bug, "Clusters: {} labels for {} rows", labels.size(), labels_.size());
  slots_ = 0;
  free_.clear();
  family_->clear(empty_.data());  // the family may have other hyper-parameters than before
  std::copy(labels.begin(), labels.end(), labels_.begin());
  for (std::size_t row = 0; row < labels_.size(); ++row) {
    const Label label = labels_[row];
    if (label == kUnassigned) continue;
    while (slots_ <= static_cast<std::size_t>(label)) open();
    ++sizes_[static_cast<std::size_t>(label)];
    family_->add(mutable_stats(label), (*data_)[row]);
  }
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    if (sizes_[slot] == 0) free_.push_back(static_cast<Label>(slot));
    refresh(static_cast<Label>(slot));
  }
}

void Clusters::rebuild() {
  canonicalize(labels_);
  const Labels labels = labels_;
  assign(labels);
}

Label Clusters::open() {
  if (!free_.empty()) {
    const Label slot = free_.back();
    free_.pop_back();
    return slot;
  }
  const auto slot = static_cast<Label>(slots_++);
  if (sizes_.size() < slots_) {
    sizes_.resize(slots_);
    log_marginal_.resize(slots_);
    free_.reserve(sizes_.capacity());  // emptying a cluster later must not allocate
  }
  sizes_[slots_ - 1] = 0;
  if (stats_.size() < slots_ * stats_size_) stats_.resize(slots_ * stats_size_);
  family_->clear(mutable_stats(slot));
  if (slots_ % kLanes == 1 && cache_.size() < chunks() * stride_) {
    cache_.resize(chunks() * stride_);
    log_weight_.resize(chunks() * kLanes);
  }
  if (slots_ % kLanes == 1) {
    // The other lanes of a fresh chunk hold empty clusters: finite numbers, no weight.
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      family_->fill_cache(stats(slot), cache_.data() + (chunks() - 1) * stride_ + lane);
      log_weight_[(chunks() - 1) * kLanes + lane] = kMinusInfinity;
    }
  }
  return slot;
}

Label Clusters::next_slot() const { return free_.empty() ? static_cast<Label>(slots_) : free_.back(); }

void Clusters::refresh(Label slot) {
  const auto s = static_cast<std::size_t>(slot);
  family_->fill_cache(stats(slot), cache_.data() + s / kLanes * stride_ + s % kLanes);
  log_weight_[s] = log_join_[sizes_[s]];
  log_marginal_[s] = std::numeric_limits<double>::quiet_NaN();
}

void Clusters::log_conditional(std::size_t row, double* out) const {
  std::copy_n(log_weight_.data(), weights_size(), out);
  OwnCluster own;
  const Label label = labels_[row];
  if (label != kUnassigned) {
    const auto slot = static_cast<std::size_t>(label);
    out[slot] = log_join_[sizes_[slot] - 1];
    // A cluster of its own becomes empty without the row: no weight, whatever the predictive says.
    if (sizes_[slot] > 1) own = {slot, stats(label)};
  }
  family_->add_log_predictive((*data_)[row], cache_.data(), stride_, chunks(), own, out);
}

void Clusters::log_conditional_of_present(const double* cells, double* out) const {
  std::copy_n(log_weight_.data(), weights_size(), out);
  family_->add_log_predictive_of_present(cells, cache_.data(), stride_, chunks(), out);
}

void Clusters::rebase(const double* before) {
  family_->clear(empty_.data());
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    const auto label = static_cast<Label>(slot);
    if (sizes_[slot] == 0)
      family_->clear(mutable_stats(label));
    else
      family_->rebase(mutable_stats(label), before);
    refresh(label);
  }
  for (std::size_t lane = slots_; lane < chunks() * kLanes; ++lane)
    family_->fill_cache(empty_.data(), cache_.data() + (chunks() - 1) * stride_ + lane % kLanes);
}

void Clusters::detach(std::size_t row) {
  const Label from = labels_[row];
  const auto slot = static_cast<std::size_t>(from);
  labels_[row] = kUnassigned;
  if (--sizes_[slot] == 0) {
    family_->clear(mutable_stats(from));
    free_.push_back(from);
    refresh(from);
  } else if (family_->remove(mutable_stats(from), (*data_)[row])) {
    refresh(from);
  } else {
    recompute(from);
  }
}

void Clusters::add(std::size_t row, Label to) {
  labels_[row] = to;
  ++sizes_[static_cast<std::size_t>(to)];
  family_->add(mutable_stats(to), (*data_)[row]);
  refresh(to);
}

void Clusters::move(std::size_t row, Label to) {
  if (labels_[row] == to) return;
  if (labels_[row] != kUnassigned) detach(row);
  add(row, to);
}

Label Clusters::move_to_new(std::size_t row) {
  // A row alone in its cluster already is where it would go.
  if (labels_[row] != kUnassigned) {
    if (size(labels_[row]) == 1) return labels_[row];
    detach(row);
  }
  const Label slot = open();
  add(row, slot);
  return slot;
}

void Clusters::recompute(Label slot) {
  double* stats = mutable_stats(slot);
  family_->clear(stats);
  for (std::size_t row = 0; row < labels_.size(); ++row)
    if (labels_[row] == slot) family_->add(stats, (*data_)[row]);
  refresh(slot);
}

Label Clusters::move_block(std::span<const std::uint32_t> rows, const double* block, const double* rest,
                           Label to) {
  const Label from = labels_[rows.front()];
  const bool fresh = to == kUnassigned;
  const auto count = static_cast<std::uint32_t>(rows.size());
  if (fresh && sizes_[static_cast<std::size_t>(from)] == count) return from;  // already alone
  if (fresh) to = open();
  for (const std::uint32_t row : rows) labels_[row] = to;
  sizes_[static_cast<std::size_t>(to)] += count;
  if (fresh)
    std::copy_n(block, stats_size_, mutable_stats(to));
  else
    family_->merge(mutable_stats(to), block);
  refresh(to);
  sizes_[static_cast<std::size_t>(from)] -= count;
  if (sizes_[static_cast<std::size_t>(from)] == 0) {
    family_->clear(mutable_stats(from));
    free_.push_back(from);
  } else {
    std::copy_n(rest, stats_size_, mutable_stats(from));
  }
  refresh(from);
  return to;
}

void Clusters::refresh_weights() {
  for (std::size_t slot = 0; slot < slots_; ++slot) log_weight_[slot] = log_join_[sizes_[slot]];
}

void Clusters::split(Label slot, std::span<const std::uint32_t> members_of_new) {
  const Label fresh = open();
  for (const std::uint32_t row : members_of_new) labels_[row] = fresh;
  sizes_[static_cast<std::size_t>(slot)] -= static_cast<std::uint32_t>(members_of_new.size());
  sizes_[static_cast<std::size_t>(fresh)] = static_cast<std::uint32_t>(members_of_new.size());
  recompute(slot);
  recompute(fresh);
}

void Clusters::merge(Label kept, Label gone) {
  for (Label& label : labels_)
    if (label == gone) label = kept;
  sizes_[static_cast<std::size_t>(kept)] += sizes_[static_cast<std::size_t>(gone)];
  sizes_[static_cast<std::size_t>(gone)] = 0;
  free_.push_back(gone);
  recompute(kept);
  recompute(gone);
}

void Clusters::members(Label a, Label b, std::vector<std::uint32_t>& out) const {
  out.clear();
  for (std::size_t row = 0; row < labels_.size(); ++row)
    if (labels_[row] == a || labels_[row] == b) out.push_back(static_cast<std::uint32_t>(row));
}

double Clusters::log_marginal(Label slot) const {
  double& known = log_marginal_[static_cast<std::size_t>(slot)];
  if (std::isnan(known)) known = family_->log_marginal(stats(slot));
  return known;
}

double Clusters::log_marginal() const {
  double total = 0.0;
  for (std::size_t slot = 0; slot < slots_; ++slot)
    if (sizes_[slot] != 0) total += log_marginal(static_cast<Label>(slot));
  return total;
}

std::size_t Clusters::bytes(const Family& family, std::size_t rows, std::size_t slots) {
  return rows * sizeof(Label) + slots * (family.stats_size() + family.cache_size() + 2) * sizeof(double);
}

}  // namespace coppice
