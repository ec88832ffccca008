#include "coppice/model/rbhmc/margins.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"

namespace coppice::rbhmc {

Margins::Margins(const Problem& problem, const Options& options)
    : family_(problem.family),
      rows_(problem.rows),
      category_levels_(problem.category_levels),
      depth_(options.levels),
      penalty_(options.penalty),
      margin_(options.margin),
      sd_(options.discriminant_sd),
      centered_(options.centered()),
      gated_(options.gated()),
      by_evidence_(options.by_evidence()),
      intercept_((options.intercept && !by_evidence_) || gated_),
      level_powers_(options.level_powers),
      gates_(gated_ ? problem.rows->size() : 0, level_powers_),
      evidence_(0, 1, 0, {}),
      own_(problem.rows->size() * options.levels, 0.0),
      best_(problem.rows->size() * options.levels, kMinusInfinity),
      rival_(problem.rows->size() * options.levels, LevelTree::kNone),
      scratch_(options.levels) {
  category_levels_.resize(rows_->width, 0);
  for (const std::size_t levels : category_levels_) dimension_ += std::max<std::size_t>(levels, 1);
  dimension_ += intercept_ ? 1 : 0;
  stride_ = (dimension_ + kLanes - 1) / kLanes * kLanes;
  center_.assign(dimension_, 0.0);
  scale_.assign(dimension_, 1.0);
  if (by_evidence_) evidence_ = SplitEvidence(problem.rows->size(), cells(), stride_, level_powers_);
  data_changed();
  if (!rewards_splits()) return;
  standardize();
  data_changed();
}

/// Of a row's feature, without the constant.
std::size_t Margins::cells() const { return dimension_ - (intercept_ ? 1 : 0); }

/// From the first data, and the same ever after: what a row is given the others must not depend on them.
void Margins::standardize() {
  std::size_t place = 0;
  const auto count = static_cast<double>(cells());
  for (std::size_t cell = 0; cell < rows_->width; ++cell) {
    const std::size_t width = std::max<std::size_t>(category_levels_[cell], 1);
    for (std::size_t i = place; i < place + width; ++i) {
      double present = 0.0, mean = 0.0, squares = 0.0;
      for (std::size_t row = 0; row < rows_->size(); ++row) {
        if (!std::isfinite((*rows_)[row][cell])) continue;
        present += 1.0;
        const double off = features_[row * stride_ + i] - mean;
        mean += off / present;
        squares += off * (features_[row * stride_ + i] - mean);
      }
      center_[i] = mean;
      scale_[i] = squares > 0.0 ? 1.0 / std::sqrt(squares / present * count) : 0.0;
    }
    place += width;
  }
}

void Margins::row_changed(std::size_t row) {
  double* const features = features_.data() + row * stride_;
  std::size_t place = 0;
  for (std::size_t cell = 0; cell < rows_->width; ++cell) {
    const std::size_t levels = category_levels_[cell];
    const double value = (*rows_)[row][cell];
    if (levels == 0) {
      // A cell that is missing, or a spike, takes no side.
      features[place] = std::isfinite(value) ? value + family_->origin(cell) : center_[place];
      ++place;
      continue;
    }
    for (std::size_t i = 0; i < levels; ++i)
      features[place + i] = is_missing(value) ? center_[place + i] : 0.0;
    if (!is_missing(value)) features[place + std::min(static_cast<std::size_t>(value), levels - 1)] = 1.0;
    place += levels;
  }
  if (intercept_) features[place] = 1.0;
  for (std::size_t i = 0; rewards_splits() && i < dimension_; ++i)
    features[i] = (features[i] - center_[i]) * scale_[i];
}

void Margins::data_changed() {
  const std::size_t rows = rows_->size();
  features_.assign(rows * stride_, 0.0);
  for (std::size_t row = 0; row < rows; ++row) row_changed(row);
  if (rewards_splits()) return;
  // Missing cells hold zeros so far; they get the mean of the present ones.
  std::size_t place = 0;
  for (std::size_t cell = 0; cell < rows_->width; ++cell) {
    const std::size_t width = std::max<std::size_t>(category_levels_[cell], 1);
    std::size_t missing = 0;
    for (std::size_t row = 0; row < rows; ++row) missing += is_missing((*rows_)[row][cell]) ? 1 : 0;
    for (std::size_t i = place; missing > 0 && missing < rows && i < place + width; ++i) {
      double sum = 0.0;
      for (std::size_t row = 0; row < rows; ++row) sum += features_[row * stride_ + i];
      for (std::size_t row = 0; row < rows; ++row)
        if (is_missing((*rows_)[row][cell]))
          features_[row * stride_ + i] = sum / static_cast<double>(rows - missing);
    }
    place += width;
  }
}

void Margins::fit(const LevelTree& tree) {
  if (eta_.size() < tree.capacity() * stride_) eta_.resize(tree.capacity() * stride_, 0.0);
  if (!active()) return;
  if (gated_) gates_.fit(tree.capacity());
  if (by_evidence_) evidence_.fit(tree.capacity());
}

void Margins::clear() {
  if (by_evidence_ && active()) evidence_.clear_node(LevelTree::kRoot);
}

void Margins::set_node(NodeId node) {
  if (by_evidence_)
    evidence_.clear_node(node);
  else
    gates_.set_node(node, eta(node), feature_rows());
}

void Margins::refresh_split(const LevelTree& tree, NodeId parent) {
  if (by_evidence_)
    evidence_.refresh(tree, parent, feature_rows());
  else
    gates_.refresh(tree, parent);
}

double Margins::log_reward(const LevelTree& tree, NodeId parent) const {
  return by_evidence_ ? evidence_.total(tree, parent) : gates_.total(tree, parent);
}

void Margins::row_leaves(const LevelTree& tree, std::size_t row) {
  if (by_evidence_)
    evidence_.row_leaves(tree, row, feature_rows());
  else
    gates_.row_leaves(tree, row);
}

void Margins::row_came(const LevelTree& tree, std::size_t row) {
  if (by_evidence_)
    evidence_.row_came(tree, row, feature_rows());
  else
    gates_.row_came(tree, row);
}

void Margins::draw_prior(Stream& stream, double* eta) const {
  for (std::size_t i = 0; i < dimension_; ++i) eta[i] = sd_ * draw_normal(stream);
  std::fill(eta + dimension_, eta + stride_, 0.0);
}

double Margins::log_prior_ratio(const double* eta) const { return -0.5 * dot(eta, eta) / (sd_ * sd_); }

void Margins::scores_at(std::size_t row, const LevelTree& tree, NodeId node, const double* eta_new,
                        LevelScores& scores) const {
  const double* y = feature(row);
  std::fill(scores.best.begin(), scores.best.end(), kMinusInfinity);
  std::fill(scores.rival.begin(), scores.rival.end(), LevelTree::kNone);
  const auto siblings = [&](std::size_t level, NodeId parent, NodeId self) {
    for (const NodeId child : tree.children(parent)) {
      const double value = dot(eta(child), y);
      if (child == self) {
        scores.own[level - 1] = value;
      } else if (value > scores.best[level - 1]) {
        scores.best[level - 1] = value;
        scores.rival[level - 1] = child;
      }
    }
  };
  if (eta_new != nullptr) {
    const std::size_t level = tree.level(node) + 1;
    scores.own[level - 1] = dot(eta_new, y);
    siblings(level, node, LevelTree::kNone);
    std::fill(scores.own.begin() + static_cast<std::ptrdiff_t>(level), scores.own.end(), 0.0);
  }
  for (; node != LevelTree::kRoot; node = tree.parent(node))
    siblings(tree.level(node), tree.parent(node), node);
}

double Margins::hinge(const double* own, const double* best) const {
  if (centered_) {
    double total = 0.0;
    for (std::size_t level = 0; level < depth_; ++level)
      if (best[level] > kMinusInfinity) total += std::max(0.0, margin_ - own[level] + best[level]) - margin_;
    return total;
  }
  double largest = 0.0;
  for (std::size_t level = 0; level < depth_; ++level)
    largest = std::max(largest, margin_ - own[level] + best[level]);
  return largest;
}

void Margins::refresh_row(std::size_t row, const LevelTree& tree, std::size_t first, std::size_t last) {
  const double* y = feature(row);
  for (NodeId node = tree.leaf(row); node != LevelTree::kRoot; node = tree.parent(node)) {
    const std::size_t level = tree.level(node);
    if (level < first) return;
    if (level > last) continue;
    best(row)[level - 1] = kMinusInfinity;
    rival(row)[level - 1] = LevelTree::kNone;
    for (const NodeId child : tree.children(tree.parent(node))) {
      const double value = dot(eta(child), y);
      if (child == node) {
        own(row)[level - 1] = value;
      } else if (value > best(row)[level - 1]) {
        best(row)[level - 1] = value;
        rival(row)[level - 1] = child;
      }
    }
  }
}

void Margins::refresh_all(const LevelTree& tree) {
  if (by_evidence_) return evidence_.refresh_all(tree, feature_rows());
  if (gated_) {
    gates_.fit(tree.capacity());
    for (std::size_t level = 1; level <= depth_; ++level)
      for (const NodeId node : tree.at_level(level)) set_node(node);
    for (std::size_t level = 0; level < depth_; ++level)
      for (const NodeId parent : tree.at_level(level)) gates_.refresh(tree, parent);
    return;
  }
  for (std::size_t row = 0; row < tree.rows(); ++row)
    if (tree.leaf(row) != LevelTree::kNone) refresh_row(row, tree, 1, depth_);
}

double Margins::increase(const LevelTree& tree, NodeId parent, const double* eta_new) const {
  const std::size_t level = tree.level(parent);
  double total = 0.0;
  tree.for_each_row_below(parent, [&](std::uint32_t row) {
    const double value = dot(eta_new, feature(row));
    const double known = best(row)[level];
    if (value <= known) return;
    if (centered_) {
      const double own_score = own(row)[level];
      const double before =
          known > kMinusInfinity ? std::max(0.0, margin_ - own_score + known) - margin_ : 0.0;
      total += std::max(0.0, margin_ - own_score + value) - margin_ - before;
    } else {
      total += std::max(0.0, margin_ - own(row)[level] + value - hinge(row));
    }
  });
  return total;
}

void Margins::child_added(const LevelTree& tree, NodeId child) {
  const std::size_t level = tree.level(child);
  for (const NodeId sibling : tree.children(tree.parent(child))) {
    if (sibling == child) continue;
    tree.for_each_row_below(sibling, [&](std::uint32_t row) {
      const double value = dot(eta(child), feature(row));
      if (value <= best(row)[level - 1]) return;
      best(row)[level - 1] = value;
      rival(row)[level - 1] = child;
    });
  }
}

double Margins::child_removed(const LevelTree& tree, NodeId child) {
  const std::size_t level = tree.level(child);
  double sunk = 0.0;
  for (const NodeId sibling : tree.children(tree.parent(child))) {
    if (sibling == child) continue;
    tree.for_each_row_below(sibling, [&](std::uint32_t row) {
      if (rival(row)[level - 1] != child) return;
      sunk += hinge(row);
      best(row)[level - 1] = kMinusInfinity;
      rival(row)[level - 1] = LevelTree::kNone;
      for (const NodeId other : tree.children(tree.parent(child))) {
        if (other == child || other == sibling) continue;
        const double value = dot(eta(other), feature(row));
        if (value <= best(row)[level - 1]) continue;
        best(row)[level - 1] = value;
        rival(row)[level - 1] = other;
      }
      sunk -= hinge(row);
    });
  }
  return sunk;
}

double Margins::cost_at(std::size_t row, const LevelTree& tree, NodeId node, const double* eta_new,
                        bool counts_others, std::size_t above, LevelScores& scores) const {
  if (gated_) return -0.5 * gates_.gain(tree, row, node, eta_new, feature_rows(), above);
  if (by_evidence_) return -0.5 * evidence_.gain(tree, row, node, eta_new != nullptr, feature_rows(), above);
  scores_at(row, tree, node, eta_new, scores);
  double cost = hinge(scores);
  if (counts_others && eta_new != nullptr) cost += increase(tree, node, eta_new);
  return cost;
}

Margins::RowGates Margins::row_gates(std::size_t row, const LevelTree& tree) const {
  RowGates gates;
  for (NodeId node = tree.leaf(row); node != LevelTree::kRoot; node = tree.parent(node)) {
    const NodeId parent = tree.parent(node);
    const auto log_size = std::log(static_cast<double>(tree.size(parent)));
    double log_sum = kMinusInfinity;
    for (const NodeId child : tree.children(parent))
      log_sum = log_add_exp(log_sum, std::log(static_cast<double>(tree.size(child))) +
                                         bounded_score(eta(child), feature(row), stride_));
    const double power = gates_.power(tree.level(node));
    gates.total += power * (bounded_score(eta(node), feature(row), stride_) - log_sum + log_size);
    gates.bound += power * (log_size - std::log(static_cast<double>(tree.size(node))));
  }
  return gates;
}

double Margins::total_from_scratch(const LevelTree& tree) const {
  if (by_evidence_) {
    SplitEvidence fresh = evidence_;
    fresh.refresh_all(tree, feature_rows());
    return -0.5 * fresh.total(tree);
  }
  double total = 0.0;
  for (std::size_t row = 0; row < tree.rows(); ++row) {
    if (gated_) {
      total -= 0.5 * row_gates(row, tree).total;
      continue;
    }
    scores_at(row, tree, tree.leaf(row), nullptr, scratch_);
    total += hinge(scratch_);
  }
  return total;
}

double Margins::total(const LevelTree& tree) const {
  if (gated_) return -0.5 * gates_.total(tree);
  if (by_evidence_) return -0.5 * evidence_.total(tree);
  double total = 0.0;
  for (std::size_t row = 0; row < rows_->size(); ++row) total += hinge(row);
  return total;
}

}  // namespace coppice::rbhmc
