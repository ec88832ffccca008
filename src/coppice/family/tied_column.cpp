#include "coppice/family/tied_column.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coppice/base/math.hpp"

namespace coppice {

TiedColumn::TiedColumn(std::unique_ptr<Family> cell, std::span<const double> cells,
                       std::span<const double> copies)
    : cell_(std::move(cell)),
      size_(cell_->stats_size() + 1),
      cells_(cells.begin(), cells.end()),
      copies_(copies.begin(), copies.end()),
      log_alone_(cells.size()),
      stats_(cell_->stats_size()) {
  weigh_alone();
}

void TiedColumn::set_hyper(const double* values) {
  if (cell_->hyper_size() == 0) return;
  cell_->set_hyper(values);
  weigh_alone();
}

void TiedColumn::weigh_alone() {
  for (std::size_t row = 0; row < cells_.size(); ++row) {
    cell_->clear(stats_.data());
    cell_->add_copies(stats_.data(), &cells_[row], copies_[row]);
    log_alone_[row] = is_missing(cells_[row]) ? 0.0 : cell_->log_marginal(stats_.data());
  }
}

double TiedColumn::log_marginal(const RowSets& clusters) const {
  double total = 0.0;
  for (std::size_t c = 0; c < clusters.clusters(); ++c) {
    cell_->clear(stats_.data());
    bool is_empty = true;
    for (const std::uint32_t row : clusters.members(c)) {
      if (is_missing(cells_[row])) continue;
      cell_->add_copies(stats_.data(), &cells_[row], copies_[row]);
      is_empty = false;
    }
    if (!is_empty) total += cell_->log_marginal(stats_.data());
  }
  return total;
}

void TiedColumn::add_log_alone(std::span<double> sums) const {
  for (std::size_t row = 0; row < sums.size(); ++row) sums[row] += log_alone_[row];
}

void TiedColumn::fill_log_weights(double alpha, std::uint32_t row, Allocation& made) const {
  const std::size_t clusters = made.sizes.size();
  if (made.weights.size() <= clusters) made.weights.resize(2 * (clusters + 1));
  const double copies = copies_[row];
  for (std::size_t c = 0; c < clusters; ++c) {
    const double* own = made.stats.data() + c * size_;
    made.weights[c] = log_gamma(made.sizes[c] + copies) - log_gamma(made.sizes[c]);
    if (is_missing(cells_[row])) continue;
    std::copy_n(own, stats_.size(), stats_.begin());
    cell_->add_copies(stats_.data(), &cells_[row], copies);
    made.weights[c] += cell_->log_marginal(stats_.data()) - own[stats_.size()];
  }
  made.weights[clusters] = std::log(alpha) + log_gamma(copies) + log_alone_[row];
}

void TiedColumn::join(std::uint32_t row, std::size_t chosen, Allocation& made) const {
  if (chosen == made.sizes.size()) {
    made.sizes.push_back(0.0);
    made.stats.resize((chosen + 1) * size_);
    double* own = made.stats.data() + chosen * size_;
    cell_->clear(own);
    own[stats_.size()] = 0.0;
  }
  made.labels[row] = static_cast<std::int32_t>(chosen);
  made.sizes[chosen] += copies_[row];
  if (is_missing(cells_[row])) return;
  double* own = made.stats.data() + chosen * size_;
  cell_->add_copies(own, &cells_[row], copies_[row]);
  own[stats_.size()] = cell_->log_marginal(own);
}

bool TiedColumn::allocate(const AllocationRule& rule, Stream& stream, Allocation& made) const {
  made.labels.resize(cells_.size());
  made.sizes.clear();
  made.stats.clear();
  made.place.clear();
  made.log_joint = made.log_q = 0.0;
  double seen = 0.0;
  for (const bool has_cell : {true, false})
    for (const std::uint32_t row : rule.order) {
      if (is_missing(cells_[row]) == has_cell) continue;
      const std::size_t clusters = made.sizes.size();
      fill_log_weights(rule.alpha, row, made);
      const double log_sum = log_sum_exp({made.weights.data(), clusters + 1});
      std::size_t chosen = clusters;
      if (rule.given != nullptr) {
        chosen = made.place_of(rule.given[row]);
      } else {
        double left = draw_uniform(stream);
        for (chosen = 0; chosen < clusters; ++chosen) {
          left -= std::exp(made.weights[chosen] - log_sum);
          if (left < 0.0) break;
        }
      }
      made.log_q += made.weights[chosen] - log_sum;
      made.log_joint +=
          made.weights[chosen] - (log_gamma(rule.alpha + seen + copies_[row]) - log_gamma(rule.alpha + seen));
      seen += copies_[row];
      join(row, chosen, made);
    }
  return true;
}

}  // namespace coppice
