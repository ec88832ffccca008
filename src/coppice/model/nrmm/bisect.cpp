#include "coppice/model/nrmm/bisect.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/stop.hpp"

namespace coppice::nrmm {
namespace {

/// Passes that fit the two groups, on at most this many rows; all rows are then divided by the result.
constexpr std::size_t kPasses = 5;
constexpr std::size_t kSample = 256;
constexpr std::size_t kUneven = 16;
constexpr std::size_t kEven = 4;

}  // namespace

Bisection::Bisection(const Family& family, const Rows& rows, const std::atomic<bool>* stop)
    : family_(&family),
      rows_(&rows),
      stop_(stop),
      stats_(2 * family.stats_size()),
      cache_(family.cache_size() * kLanes),
      scores_(kLanes) {
  family_->clear(stats_.data());
  for (std::size_t lane = 0; lane < kLanes; ++lane) family_->fill_cache(stats_.data(), cache_.data() + lane);
}

double Bisection::preference(std::uint32_t row) {
  std::fill_n(scores_.data(), kLanes, 0.0);
  family_->add_log_predictive((*rows_)[row], cache_.data(), 0, 1, {}, scores_.data());
  return scores_[0] - scores_[1];
}

void Bisection::set_groups(std::span<const std::uint32_t> rows, std::span<const std::uint8_t> sides) {
  for (std::size_t group = 0; group < 2; ++group) {
    double* stats = stats_.data() + group * family_->stats_size();
    family_->clear(stats);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (sides[i] == group) family_->add(stats, (*rows_)[rows[i]]);
    family_->fill_cache(stats, cache_.data() + group);
  }
}

bool Bisection::must_be_even(std::size_t size, std::size_t total, std::size_t depth) {
  return static_cast<double>(size) >
         8.0 * static_cast<double>(total) * std::exp2(-0.4 * static_cast<double>(depth));
}

std::size_t Bisection::divide(std::span<std::uint32_t> rows, bool even, Stream& stream) {
  if (rows.size() == 2) return 1;
  // A sample to the front: the places 0 to size - 1 of a partial shuffle.
  const std::size_t size = std::min(rows.size(), kSample);
  if (size < rows.size())
    for (std::size_t i = 0; i < size; ++i) std::swap(rows[i], rows[i + draw_index(stream, rows.size() - i)]);
  const std::span<const std::uint32_t> sample = rows.first(size);
  // Two seeds: any row, and the one that fits worst with it among a few.
  sides_.assign(size, 2);
  sides_[draw_index(stream, size)] = 0;
  set_groups(sample, sides_);
  std::size_t farthest = size;
  double worst = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    if (sides_[i] == 0) continue;
    const double fit = preference(sample[i]);  // against an empty group
    if (farthest == size || fit < worst) {
      farthest = i;
      worst = fit;
    }
  }
  sides_[farthest] = 1;
  set_groups(sample, sides_);
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    bool changed = false;
    std::size_t first = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const auto side = static_cast<std::uint8_t>(preference(sample[i]) < 0.0);
      changed |= side != sides_[i];
      sides_[i] = side;
      first += side == 0;
    }
    if (first == 0 || first == size) break;  // the groups of the pass before stay
    if (!changed) break;
    set_groups(sample, sides_);
  }
  ranked_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) ranked_[i] = {-preference(rows[i]), rows[i]};
  std::size_t cut = static_cast<std::size_t>(
      std::count_if(ranked_.begin(), ranked_.end(), [](const auto& ranked) { return ranked.first <= 0.0; }));
  const std::size_t least = std::max<std::size_t>(1, rows.size() / (even ? kEven : kUneven));
  cut = std::clamp(cut, least, rows.size() - least);
  std::nth_element(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(cut), ranked_.end());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = ranked_[i].second;
  return cut;
}

RowTree::Node Bisection::build(RowTree& tree, std::span<std::uint32_t> rows, std::size_t total,
                               std::size_t depth, Stream& stream) {
  if (rows.size() == 1) return rows.front();
  throw_if_stopped(stop_);
  const std::size_t cut = divide(rows, must_be_even(rows.size(), total, depth), stream);
  const RowTree::Node left = build(tree, rows.first(cut), total, depth + 1, stream);
  const RowTree::Node right = build(tree, rows.subspan(cut), total, depth + 1, stream);
  return tree.join(left, right);
}

}  // namespace coppice::nrmm
