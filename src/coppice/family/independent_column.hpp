// The column of one Cell (see independent.hpp). A Cell whose statistics are counts may have `planes`, `is_on`
// and `log_marginal_of_counts`: cells are then kept as sets of bits, and a cluster is counted by population
// counts. `alone_part` is the part of log p(cells) that is a sum over cells and the same for all clusters. A
// Cell with few values may have `probability`, the predictive itself instead of its logarithm; one of
// centered moments `add_all`.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/data/table.hpp"
#include "coppice/family/cell_column.hpp"
#include "coppice/family/learned_cells.hpp"

namespace coppice {

template <typename Cell>
class IndependentColumn final : public CellColumn {
 public:
  IndependentColumn(const Cell& cell, std::span<const double> cells)
      : cell_(cell), cells_(cells.begin(), cells.end()), stats_(cell.stats_size()) {
    log_alone_.resize(cells_.size());
    values_.reserve(cells_.size());
    if constexpr (kHasPlanes) fill_planes();
    weigh_alone();
  }

  void set_hyper(const double* values) override {
    if constexpr (LearnedCells<Cell>::kLearns) {
      if (cell_.hyper_size() == 0) return;
      cell_.set_hyper(values);
      weigh_alone();
    }
  }

  double log_marginal(const RowSets& clusters) const override {
    if constexpr (kHasPlanes)
      if (planes_ != 0) return log_marginal_by_counts(clusters);
    double total = 0.0;
    for (std::size_t c = 0; c < clusters.clusters(); ++c) {
      values_.clear();
      for (const std::uint32_t row : clusters.members(c))
        if (!is_missing(cells_[row])) values_.push_back(cells_[row]);
      if (values_.empty()) continue;
      cell_.clear(stats_.data());
      if constexpr (requires { cell_.add_all(stats_.data(), std::span<const double>(values_)); })
        cell_.add_all(stats_.data(), std::span<const double>(values_));
      else
        for (const double x : values_) cell_.add(stats_.data(), x);
      total += cell_.log_marginal(stats_.data());
    }
    return total;
  }

  void add_log_alone(std::span<double> sums) const override {
    for (std::size_t row = 0; row < sums.size(); ++row) sums[row] += log_alone_[row];
  }

  bool allocate(const AllocationRule& rule, Stream& stream, Allocation& made) const override {
    made.labels.resize(cells_.size());
    made.sizes.clear();
    made.stats.clear();
    made.place.clear();
    if (made.weights.size() < kLanes) made.weights.resize(kLanes);
    Sums sums;
    double seen = 0.0;
    for (const std::uint32_t row : rule.order) {
      const double x = cells_[row];
      if (is_missing(x)) continue;
      const std::size_t clusters = made.sizes.size();
      const double log_scale = fill_weights(rule.alpha, row, made);
      double total = 0.0;
      for (std::size_t c = 0; c <= clusters; ++c) total += made.weights[c];
      const std::size_t chosen = choose(rule, row, total, stream, made);
      sums.add(log_scale, total / (seen + rule.alpha), made.weights[chosen] / total);
      if (kIsDiscrete && sums.log_total < rule.log_stop) return false;
      seen += 1.0;
      join(row, chosen, x, made);
    }
    sums.flush();
    made.log_joint = sums.log_total + sums.log_chosen;
    made.log_q = sums.log_chosen;
    if (kIsDiscrete && sums.log_total < rule.log_stop) return false;
    // Rows without a cell follow the prior, in both laws.
    for (const std::uint32_t row : rule.order) {
      if (!is_missing(cells_[row])) continue;
      const std::size_t clusters = made.sizes.size();
      reserve_weights(clusters + 1, made);
      std::copy(made.sizes.begin(), made.sizes.end(), made.weights.begin());
      made.weights[clusters] = rule.alpha;
      const std::size_t chosen = choose(rule, row, seen + rule.alpha, stream, made);
      const double log_chosen = std::log(made.weights[chosen] / (seen + rule.alpha));
      made.log_joint += log_chosen;
      made.log_q += log_chosen;
      seen += 1.0;
      join(row, chosen, kMissing, made);
    }
    return true;
  }

 private:
  static constexpr bool kHasPlanes = requires(const Cell& cell) { cell.planes(1.0); };
  static constexpr bool kHasProbability = requires(const Cell& cell) { cell.probability(nullptr, 0.0); };
  /// Predictives are probabilities, at most 1: a product of them only falls.
  static constexpr bool kIsDiscrete = kHasPlanes;
  static constexpr std::size_t kMostPlanes = 64;

  /// Logarithms of products, taken once for many factors.
  struct Sums {
    double log_total = 0.0, log_chosen = 0.0;
    double total = 1.0, chosen = 1.0;
    int factors = 0;
    static constexpr double kLeast = 1e-100;
    void add(double log_scale, double share_total, double share_chosen) {
      log_total += log_scale;
      total *= share_total;
      chosen *= std::max(share_chosen, kLeast);  // a given choice may be next to impossible
      if (++factors == 8 || std::min(total, chosen) < kLeast * kLeast) flush();
    }
    void flush() {
      log_total += std::log(total);
      log_chosen += std::log(chosen);
      total = chosen = 1.0;
      factors = 0;
    }
  };

  void fill_planes() {
    double largest = 0.0;
    for (const double x : cells_)
      if (!is_missing(x)) largest = std::max(largest, x);
    const std::size_t planes = cell_.planes(largest);
    if (planes > kMostPlanes) return;
    planes_ = planes;
    const std::size_t words = (cells_.size() + 63) / 64;
    bits_.assign((planes_ + 1) * words, 0);
    for (std::size_t row = 0; row < cells_.size(); ++row) {
      if (is_missing(cells_[row])) continue;
      const std::uint64_t bit = std::uint64_t{1} << (row % 64);
      bits_[row / 64] |= bit;
      for (std::size_t plane = 0; plane < planes_; ++plane)
        if (cell_.is_on(cells_[row], plane)) bits_[(plane + 1) * words + row / 64] |= bit;
    }
  }
  /// What of the cells by themselves depends on the hyper-parameters.
  void weigh_alone() {
    cell_.clear(stats_.data());
    for (std::size_t row = 0; row < cells_.size(); ++row)
      log_alone_[row] = is_missing(cells_[row]) ? 0.0 : cell_.log_predictive(stats_.data(), cells_[row]);
    if constexpr (kHasPlanes) {
      alone_part_ = 0.0;
      for (const double x : cells_)
        if (!is_missing(x)) alone_part_ += cell_.alone_part(x);
    }
  }

  double log_marginal_by_counts(const RowSets& clusters) const {
    const std::size_t words = clusters.words();
    double total = alone_part_;
    std::uint64_t counts[kMostPlanes];
    for (std::size_t c = 0; c < clusters.clusters(); ++c) {
      const std::uint64_t* set = clusters.bits(c);
      const std::uint64_t present = common_bits(set, bits_.data(), words);
      if (present == 0) continue;
      for (std::size_t plane = 0; plane < planes_; ++plane)
        counts[plane] = common_bits(set, bits_.data() + (plane + 1) * words, words);
      total += cell_.log_marginal_of_counts(counts, planes_, present);
    }
    return total;
  }
  static std::uint64_t common_bits(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < words; ++i) count += static_cast<std::uint64_t>(std::popcount(a[i] & b[i]));
    return count;
  }

  static void reserve_weights(std::size_t count, Allocation& made) {
    if (made.weights.size() < count) made.weights.resize((count + kLanes) / kLanes * kLanes);
  }

  /// Weights of the clusters so far and of a new one, up to exp of the scale that is returned.
  double fill_weights(double alpha, std::uint32_t row, Allocation& made) const {
    const std::size_t clusters = made.sizes.size();
    const double x = cells_[row];
    reserve_weights(clusters + 1, made);
    double* weights = made.weights.data();
    if constexpr (kHasProbability) {
      const std::size_t size = stats_.size();
      for (std::size_t c = 0; c < clusters; ++c)
        weights[c] = made.sizes[c] * cell_.probability(made.stats.data() + c * size, x);
      weights[clusters] = alpha * cell_.probability(nullptr, x);
      return 0.0;
    } else {
      const std::size_t stride = cell_.cache_size() * kLanes;
      double top = log_alone_[row];
      for (std::size_t c = 0; c < clusters; c += kLanes) {
        const Lanes predictive = cell_.lane_log_predictive(made.cache.data() + c / kLanes * stride, x);
        store_lanes(weights + c, predictive);
        for (std::size_t lane = 0; lane < std::min(kLanes, clusters - c); ++lane)
          top = std::max(top, predictive[lane]);
      }
      for (std::size_t c = 0; c < clusters; c += kLanes)
        store_lanes(weights + c, exp(load_lanes(weights + c) - top));
      for (std::size_t c = 0; c < clusters; ++c) weights[c] *= made.sizes[c];
      weights[clusters] = alpha * std::exp(log_alone_[row] - top);
      return top;
    }
  }

  static std::size_t choose(const AllocationRule& rule, std::uint32_t row, double total, Stream& stream,
                            Allocation& made) {
    const std::size_t clusters = made.sizes.size();
    if (rule.given != nullptr) return made.place_of(rule.given[row]);
    double target = draw_uniform(stream) * total;
    for (std::size_t c = 0; c < clusters; ++c) {
      if (target < made.weights[c]) return c;
      target -= made.weights[c];
    }
    return clusters;
  }

  void join(std::uint32_t row, std::size_t chosen, double x, Allocation& made) const {
    const std::size_t size = stats_.size();
    const std::size_t stride = cell_.cache_size() * kLanes;
    made.labels[row] = static_cast<std::int32_t>(chosen);
    if (chosen == made.sizes.size()) {
      made.sizes.push_back(0.0);
      made.stats.resize((chosen + 1) * size);
      cell_.clear(made.stats.data() + chosen * size);
      if constexpr (!kHasProbability) {
        const std::size_t needed = (chosen / kLanes + 1) * stride;
        if (made.cache.size() < needed) made.cache.resize(needed);
        // The other lanes of a fresh chunk must be finite.
        if (chosen % kLanes == 0)
          for (std::size_t lane = 0; lane < kLanes; ++lane)
            cell_.fill_cache(made.stats.data() + chosen * size,
                             made.cache.data() + chosen / kLanes * stride + lane);
      }
    }
    made.sizes[chosen] += 1.0;
    if (is_missing(x)) return;
    double* stats = made.stats.data() + chosen * size;
    cell_.add(stats, x);
    if constexpr (!kHasProbability)
      cell_.fill_cache(stats, made.cache.data() + chosen / kLanes * stride + chosen % kLanes);
  }

  Cell cell_;
  std::vector<double> cells_, log_alone_;
  std::size_t planes_ = 0;           // 0: there are none
  std::vector<std::uint64_t> bits_;  // rows with a cell, then the planes
  double alone_part_ = 0.0;
  mutable std::vector<double> stats_, values_;
};

}  // namespace coppice
