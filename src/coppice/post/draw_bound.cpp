#include "coppice/post/draw_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "coppice/base/aligned.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/post/vector_width.hpp"
#include "coppice/shape/contingency.hpp"

namespace coppice {
namespace {

constexpr std::size_t kBlock = 32;  // rows of the matrix that stay in the cache while all draws use them
constexpr std::size_t kWords = kVectorBytes / sizeof(std::uint16_t);
using WordVector = std::vector<std::uint16_t, LaneAllocator<std::uint16_t>>;
typedef std::uint16_t Words __attribute__((vector_size(kVectorBytes)));

/// The label of what pads the rows, which no row has.
constexpr std::uint16_t kNobody = 65535;

struct Sums {
  std::uint32_t all = 0, rare = 0;
};

/// Sums of all[j] and rare[j] over the rows j with the label `own`; `limit` vectors can be added before 16
/// bits overflow.
Sums sums_where_equal(const Words* labels, const Words* all, const Words* rare, std::size_t size,
                      std::uint16_t own, std::size_t limit) {
  const Words wanted = Words{} + own;
  Sums sums;
  for (std::size_t begin = 0; begin < size; begin += limit) {
    const std::size_t end = std::min(size, begin + limit);
    Words partial_all = {};
    Words partial_rare = {};
    for (std::size_t v = begin; v < end; ++v) {
      const Words here = reinterpret_cast<Words>(labels[v] == wanted);
      partial_all += all[v] & here;
      partial_rare += rare[v] & here;
    }
    for (std::size_t l = 0; l < kWords; ++l) {
      sums.all += partial_all[l];
      sums.rare += partial_rare[l];
    }
  }
  return sums;
}

const Words* words(const WordVector& values, std::size_t at) {
  return reinterpret_cast<const Words*>(values.data() + at);
}

class DrawBound {
 public:
  DrawBound(const DrawSet& draws, std::size_t total, Loss loss)
      : draws_(draws),
        rows_(draws.rows()),
        padded_((rows_ + kWords - 1) / kWords * kWords),
        total_(total),
        is_vi_(loss == Loss::vi),
        labels_(draws.size() * padded_, kNobody),
        size_terms_(draws.size()),
        expected_(rows_, 0.0),
        order_(rows_),
        counts_(kBlock * padded_, 0),
        rare_counts_(kBlock * padded_, 0) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (std::size_t d = 0; d < draws.size(); ++d) {
      std::vector<double>& terms = size_terms_[d];
      terms.assign(draws.clusters(d), 0.0);
      for (const Label label : draws[d]) terms[static_cast<std::size_t>(label)] += 1.0;
      if (is_vi_)
        std::transform(terms.begin(), terms.end(), terms.begin(), [](double m) { return std::log(m); });
      for (std::size_t i = 0; i < rows_; ++i) {
        const auto label = static_cast<std::size_t>(draws[d][i]);
        expected_[i] += draws.weight(d) * terms[label];
        labels_[d * padded_ + i] = static_cast<std::uint16_t>(label);
      }
    }
  }

  /// Marks the draws in which a row is away from most of its found cluster.
  void part_draws(std::span<const Label> found, std::size_t clusters) {
    away_.assign(rows_ * draws_.size(), 0);
    rare_draws_.assign(rows_, 0);
    std::vector<std::uint32_t> sizes(clusters, 0);
    for (const Label label : found) ++sizes[static_cast<std::size_t>(label)];
    PairCounter counter;
    std::vector<std::uint32_t> overlap(rows_);
    for (std::size_t d = 0; d < draws_.size(); ++d) {
      counter.overlaps(found, clusters, draws_[d], draws_.clusters(d), overlap);
      for (std::size_t i = 0; i < rows_; ++i) {
        if (2 * overlap[i] >= sizes[static_cast<std::size_t>(found[i])]) continue;
        away_[i * draws_.size() + d] = 1;
        rare_draws_[i] += copies(d);
      }
    }
    // Rows that are often elsewhere contribute most: with them first, a draw is soon excluded.
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return rare_draws_[a] > rare_draws_[b]; });
  }

  std::vector<std::size_t> below(std::span<const std::uint32_t> counts, double limit,
                                 std::vector<std::size_t> alive) {
    std::vector<double> bound(draws_.size(), 0.0);
    const auto rows = static_cast<double>(rows_);
    const double scaled_limit = is_vi_ ? limit * rows : limit * rows * rows;
    for (std::size_t start = 0; start < rows_ && !alive.empty(); start += kBlock) {
      const std::size_t end = std::min(start + kBlock, rows_);
      load_block(counts, start, end);
      for (const std::size_t d : alive) bound[d] += block_bound(d, start, end);
      std::erase_if(alive, [&](std::size_t d) { return bound[d] > scaled_limit; });
    }
    return alive;
  }

 private:
  std::uint16_t copies(std::size_t d) const {
    return static_cast<std::uint16_t>(std::lround(draws_.weight(d) * static_cast<double>(total_)));
  }

  /// Of the rows `start` to `end` of the order.
  void load_block(std::span<const std::uint32_t> counts, std::size_t start, std::size_t end) {
    std::fill(rare_counts_.begin(), rare_counts_.end(), std::uint16_t{0});
    for (std::size_t at = 0; at < end - start; ++at) {
      const std::size_t i = order_[start + at];
      std::transform(counts.begin() + static_cast<std::ptrdiff_t>(i * rows_),
                     counts.begin() + static_cast<std::ptrdiff_t>((i + 1) * rows_),
                     counts_.begin() + static_cast<std::ptrdiff_t>(at * padded_),
                     [](std::uint32_t count) { return static_cast<std::uint16_t>(count); });
      if (!is_vi_ || rare_draws_[i] == 0) continue;
      Words* rare = reinterpret_cast<Words*>(rare_counts_.data() + at * padded_);
      for (std::size_t d = 0; d < draws_.size(); ++d) {
        if (away_[i * draws_.size() + d] == 0) continue;
        const Words* labels = words(labels_, d * padded_);
        const Words own = Words{} + labels_[d * padded_ + i];
        const Words more = Words{} + copies(d);
        for (std::size_t v = 0; v < padded_ / kWords; ++v)
          rare[v] += more & reinterpret_cast<Words>(labels[v] == own);
      }
    }
  }

  /// What the rows of the block contribute to the bound of draw d, times the rows (VI) or their square.
  double block_bound(std::size_t d, std::size_t start, std::size_t end) const {
    const std::uint16_t* draw = labels_.data() + d * padded_;
    const auto total = static_cast<double>(total_);
    const std::size_t limit = 65535 / total_;
    std::array<double, kBlock> base{}, often, often_share{}, rarely, rarely_share{};
    often.fill(1.0);
    rarely.fill(1.0);
    double sum = 0.0;
    for (std::size_t at = 0; at < end - start; ++at) {
      const std::size_t i = order_[start + at];
      const Sums together =
          sums_where_equal(words(labels_, d * padded_), words(counts_, at * padded_),
                           words(rare_counts_, at * padded_), padded_ / kWords, draw[i], limit);
      base[at] = size_terms_[d][draw[i]] + expected_[i];
      if (!is_vi_) {
        sum += std::max(base[at] - 2.0 * static_cast<double>(together.all) / total, 0.0);
        continue;
      }
      // A row is in its own cluster, so that both sums are positive where there are such draws.
      const std::uint32_t rare = rare_draws_[i];
      if (rare < total_) {
        often[at] = static_cast<double>(together.all - together.rare) / (total - rare);
        often_share[at] = (total - rare) / total;
      }
      if (rare > 0) {
        rarely[at] = static_cast<double>(together.rare) / rare;
        rarely_share[at] = rare / total;
      }
    }
    if (!is_vi_) return sum;
    Lanes sums{};
    for (std::size_t at = 0; at < kBlock; at += kLanes) {
      const Lanes term = load_lanes(base.data() + at) -
                         2.0 * (load_lanes(often_share.data() + at) * log(load_lanes(often.data() + at)) +
                                load_lanes(rarely_share.data() + at) * log(load_lanes(rarely.data() + at)));
      sums += term > 0.0 ? term : Lanes{};
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
    return sum;
  }

  const DrawSet& draws_;
  std::size_t rows_, padded_, total_;
  bool is_vi_;
  WordVector labels_;                            // draw after draw, padded
  std::vector<std::vector<double>> size_terms_;  // of the clusters of each draw: log of the size, or the size
  std::vector<double> expected_;                 // for each row the mean of size_terms_ over the draws
  std::vector<std::size_t> order_;               // of the rows
  std::vector<std::uint8_t> away_;               // row after row, for each draw
  std::vector<std::uint32_t> rare_draws_;        // how many of those draws there are
  WordVector counts_, rare_counts_;              // of the rows of a block: of all draws, and of those
};

}  // namespace

std::vector<std::size_t> draws_below_bound(const DrawSet& draws, std::span<const std::uint32_t> counts,
                                           std::size_t total, Loss loss, std::span<const Label> found,
                                           std::size_t clusters, double limit,
                                           std::vector<std::size_t> asked) {
  if (asked.empty()) return asked;
  DrawBound bound(draws, total, loss);
  if (loss == Loss::vi) bound.part_draws(found, clusters);
  return bound.below(counts, limit, std::move(asked));
}

}  // namespace coppice
