#include "coppice/model/bnmc/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/digamma.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/model/bnmc/row_parts.hpp"

namespace coppice::bnmc {
namespace {

// A group of clusters with less than this of a row gets nothing of it: sums would not change by it.
constexpr double kLeastShare = 1e-25;

void add_items(const SparseRows& items, std::size_t row, const double* r, std::size_t stride,
               BlockStatistics& statistics) {
  const auto slots = items.columns_of(row);
  const auto values = items.values_of(row);
  double length = 0.0;
  for (const double value : values) length += value;
  for (std::size_t g = 0; g < stride; g += kLanes) {
    const Lanes share = load_lanes(r + g);
    if (maximum(share) < kLeastShare) continue;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      double* to = statistics.table.data() + slots[i] * stride + g;
      store_lanes(to, load_lanes(to) + values[i] * share);
    }
    double* total = statistics.totals.data() + g;
    store_lanes(total, load_lanes(total) + length * share);
  }
}

void add_row(const SparseRows& features, const SparseRows& labels, std::size_t row, const double* r,
             std::size_t stride, MixtureStatistics& statistics) {
  for (std::size_t k = 0; k < stride; ++k) statistics.counts[k] += r[k];
  add_items(features, row, r, stride, statistics.features);
  add_items(labels, row, r, stride, statistics.labels);
}

void add_to(AlignedVector& sum, const AlignedVector& part) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
}

/// Scores to probabilities; the log of their normalizer.
double softmax(double* scores, std::size_t clusters, std::size_t stride) {
  double largest = scores[0];
  for (std::size_t k = 1; k < clusters; ++k) largest = std::max(largest, scores[k]);
  for (std::size_t g = 0; g < stride; g += kLanes)
    store_lanes(scores + g, exp(load_lanes(scores + g) - largest));
  for (std::size_t k = clusters; k < stride; ++k) scores[k] = 0.0;
  double total = 0.0;
  for (std::size_t k = 0; k < clusters; ++k) total += scores[k];
  const double inverse = 1.0 / total;
  for (std::size_t k = 0; k < clusters; ++k) scores[k] *= inverse;
  return largest + std::log(total);
}

double entropy(const Responsibilities& r) {
  double total = 0.0;
  for (const double p : r)
    if (p > 0.0) total -= p * std::log(p);
  return total;
}

void permute(AlignedVector& table, std::size_t stride, const std::vector<std::size_t>& order) {
  std::vector<double> row(order.size());
  for (std::size_t at = 0; at < table.size(); at += stride) {
    for (std::size_t k = 0; k < order.size(); ++k) row[k] = table[at + order[k]];
    std::copy(row.begin(), row.end(), table.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

void blend_block(const Block& block, BlockStatistics& statistics, const BlockStatistics& update,
                 std::span<const std::uint32_t> slots, double rate, double factor) {
  const std::size_t stride = block.stride();
  statistics.scale *= 1.0 - rate;
  if (statistics.scale < 1e-100) {
    for (double& value : statistics.table) value *= statistics.scale;
    statistics.scale = 1.0;
  }
  const double step = rate * factor / statistics.scale;
  for (std::size_t i = 0; i < slots.size(); ++i)
    for (std::size_t k = 0; k < stride; ++k)
      statistics.table[slots[i] * stride + k] += step * update.table[i * stride + k];
  for (std::size_t k = 0; k < stride; ++k)
    statistics.totals[k] = (1.0 - rate) * statistics.totals[k] + rate * factor * update.totals[k];
}

std::vector<std::uint32_t> all_slots(const Block& block) {
  std::vector<std::uint32_t> slots(block.slots());
  std::iota(slots.begin(), slots.end(), 0u);
  return slots;
}

/// Some rows, with their slots numbered as in `slots`, which become those that occur; a block that is not
/// local keeps all of them.
SparseRows compact(const Block& block, const SparseRows& items, std::span<const std::uint32_t> which,
                   std::vector<std::uint32_t>& slots) {
  SparseRows part;
  for (const std::uint32_t row : which) {
    const auto of_row = items.columns_of(row);
    const auto values = items.values_of(row);
    part.column.insert(part.column.end(), of_row.begin(), of_row.end());
    part.value.insert(part.value.end(), values.begin(), values.end());
    part.start.push_back(part.column.size());
  }
  if (!block.is_local()) {
    slots = all_slots(block);
  } else {
    slots = part.column;
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    for (std::uint32_t& slot : part.column)
      slot = static_cast<std::uint32_t>(std::lower_bound(slots.begin(), slots.end(), slot) - slots.begin());
  }
  part.columns = slots.size();
  return part;
}

BlockStatistics empty_table(std::size_t slots, std::size_t stride) {
  return {AlignedVector(slots * stride, 0.0), AlignedVector(stride, 0.0), 1.0};
}

}  // namespace

struct Mixture::Part {
  const SparseRows& features;
  const SparseRows& labels;
  std::span<const std::uint32_t> feature_slots, label_slots;
  std::span<const std::uint32_t> rows;   // of the items above
  std::span<const std::uint32_t> which;  // what those rows are called
};

Mixture::Mixture(std::size_t clusters, double alpha, BlockPrior features, BlockPrior labels)
    : clusters_(clusters),
      alpha_(alpha),
      features_(std::move(features), clusters),
      labels_(std::move(labels), clusters) {}

MixtureRows Mixture::encode(const LabeledRows& rows) const {
  MixtureRows result{features_.encode(rows.features), labels_.encode(rows.labels), {}};
  for (std::size_t row = 0; row < rows.labels.rows(); ++row) {
    const auto values = rows.labels.values_of(row);
    const auto missing = static_cast<std::size_t>(std::count_if(values.begin(), values.end(), is_missing));
    result.labeled.push_back(missing < rows.labels.columns ? 1 : 0);
  }
  return result;
}

MixtureStatistics Mixture::no_statistics() const {
  return {AlignedVector(stride(), 0.0), features_.no_statistics(), labels_.no_statistics()};
}

MixtureStatistics Mixture::collect(const MixtureRows& rows, std::span<const std::uint32_t> which,
                                   const Responsibilities& responsibilities) const {
  MixtureStatistics statistics = no_statistics();
  for (const std::uint32_t row : which)
    add_row(rows.features, rows.labels, row, responsibilities.data() + row * stride(), stride(), statistics);
  return statistics;
}

std::vector<double> Mixture::expected_log_weights(const AlignedVector& counts) const {
  std::vector<double> result(clusters_);
  double after =
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(clusters_), 0.0);
  double left = 0.0;  // sum of E[log(1 - v)] so far
  for (std::size_t k = 0; k < clusters_; ++k) {
    after = std::max(0.0, after - counts[k]);
    result[k] = left;
    if (k + 1 == clusters_) break;
    const double a = 1.0 + counts[k];
    const double b = alpha_ + after;
    const double both = digamma(a + b);
    result[k] += digamma(a) - both;
    left += digamma(b) - both;
  }
  return result;
}

std::vector<double> Mixture::log_mean_weights(const AlignedVector& counts) const {
  std::vector<double> result(clusters_);
  double after =
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(clusters_), 0.0);
  double left = 0.0;
  for (std::size_t k = 0; k < clusters_; ++k) {
    after = std::max(0.0, after - counts[k]);
    result[k] = left;
    if (k + 1 == clusters_) break;
    const double a = 1.0 + counts[k];
    const double b = alpha_ + after;
    result[k] += std::log(a / (a + b));
    left += std::log(b / (a + b));
  }
  return result;
}

double Mixture::sticks_divergence(const AlignedVector& counts) const {
  double after =
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(clusters_), 0.0);
  double total = 0.0;
  for (std::size_t k = 0; k + 1 < clusters_; ++k) {
    after = std::max(0.0, after - counts[k]);
    const double a = 1.0 + counts[k];
    const double b = alpha_ + after;
    total += log_beta(1.0, alpha_) - log_beta(a, b) + counts[k] * digamma(a) + after * digamma(b) -
             (counts[k] + after) * digamma(a + b);
  }
  return total;
}

double Mixture::sticks_evidence(const AlignedVector& counts) const {
  double after =
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(clusters_), 0.0);
  double total = 0.0;
  for (std::size_t k = 0; k + 1 < clusters_; ++k) {
    after = std::max(0.0, after - counts[k]);
    total += log_beta(1.0 + counts[k], alpha_ + after) - log_beta(1.0, alpha_);
  }
  return total;
}

Mixture::Local Mixture::update_part(const Part& part, const MixtureStatistics& given, std::size_t threads,
                                    Responsibilities* responsibilities) const {
  const std::size_t width = stride();
  AlignedVector feature_weights(part.feature_slots.size() * width);
  AlignedVector label_weights(part.label_slots.size() * width);
  AlignedVector base(width, 0.0);
  const auto expect = [&](const Block& block, const BlockStatistics& statistics,
                          std::span<const std::uint32_t> slots, AlignedVector& to) {
    const std::size_t ranges = block.is_local() && slots.size() > kLeastPart ? kMostParts : 1;
    parallel_for(ranges, threads, [&](std::size_t range) {
      const std::size_t begin = slots.size() * range / ranges;
      const std::size_t end = slots.size() * (range + 1) / ranges;
      block.expectations(given.counts, statistics, slots.subspan(begin, end - begin),
                         to.data() + begin * width, base.data());
    });
  };
  expect(features_, given.features, part.feature_slots, feature_weights);
  expect(labels_, given.labels, part.label_slots, label_weights);
  const std::vector<double> weights = expected_log_weights(given.counts);
  for (std::size_t k = 0; k < clusters_; ++k) base[k] += weights[k];

  const std::size_t count = part.rows.size();
  const std::size_t parts = parts_of(count);
  std::vector<Local> results(parts);
  parallel_for(parts, threads, [&](std::size_t piece) {
    Local& local = results[piece];
    local.statistics = {AlignedVector(width, 0.0), empty_table(part.feature_slots.size(), width),
                        empty_table(part.label_slots.size(), width)};
    AlignedVector r(width);
    const std::size_t end = count * (piece + 1) / parts;
    for (std::size_t i = count * piece / parts; i < end; ++i) {
      const std::uint32_t row = part.rows[i];
      std::copy(base.begin(), base.end(), r.begin());
      add_scores(part.features.columns_of(row), part.features.values_of(row), feature_weights.data(), width,
                 r.data());
      add_scores(part.labels.columns_of(row), part.labels.values_of(row), label_weights.data(), width,
                 r.data());
      local.log_normalizer += softmax(r.data(), clusters_, width);
      add_row(part.features, part.labels, row, r.data(), width, local.statistics);
      if (responsibilities != nullptr)
        std::copy(r.begin(), r.end(),
                  responsibilities->begin() + static_cast<std::ptrdiff_t>(part.which[i] * width));
    }
  });
  Local sum = std::move(results.front());
  for (std::size_t piece = 1; piece < parts; ++piece) {
    sum.log_normalizer += results[piece].log_normalizer;
    add_to(sum.statistics.counts, results[piece].statistics.counts);
    for (auto block : {&MixtureStatistics::features, &MixtureStatistics::labels})
      add_to((sum.statistics.*block).totals, (results[piece].statistics.*block).totals);
  }
  for (auto block : {&MixtureStatistics::features, &MixtureStatistics::labels}) {
    AlignedVector& table = (sum.statistics.*block).table;
    parallel_for(parts == 1 ? 0 : kMostParts, threads, [&](std::size_t range) {
      for (std::size_t piece = 1; piece < parts; ++piece) {
        const AlignedVector& more = (results[piece].statistics.*block).table;
        const std::size_t end = table.size() * (range + 1) / kMostParts;
        for (std::size_t i = table.size() * range / kMostParts; i < end; ++i) table[i] += more[i];
      }
    });
  }
  return sum;
}

Mixture::Local Mixture::local_update(const MixtureRows& rows, std::span<const std::uint32_t> which,
                                     const MixtureStatistics& given, std::size_t threads,
                                     Responsibilities* responsibilities) const {
  return update_part({rows.features, rows.labels, all_slots(features_), all_slots(labels_), which, which},
                     given, threads, responsibilities);
}

Mixture::Minibatch Mixture::minibatch_update(const MixtureRows& rows, std::span<const std::uint32_t> which,
                                             const MixtureStatistics& given, std::size_t threads,
                                             Responsibilities* responsibilities) const {
  Minibatch result;
  const SparseRows features = compact(features_, rows.features, which, result.feature_slots);
  const SparseRows labels = compact(labels_, rows.labels, which, result.label_slots);
  std::vector<std::uint32_t> numbers(which.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  result.statistics =
      update_part({features, labels, result.feature_slots, result.label_slots, numbers, which}, given,
                  threads, responsibilities)
          .statistics;
  return result;
}

double Mixture::divergence(const MixtureStatistics& statistics) const {
  return sticks_divergence(statistics.counts) + features_.divergence(statistics.counts, statistics.features) +
         labels_.divergence(statistics.counts, statistics.labels);
}

double Mixture::elbo(const MixtureRows& rows, const MixtureStatistics& statistics,
                     const Responsibilities& responsibilities) const {
  const std::size_t width = stride();
  AlignedVector base(width, 0.0);
  AlignedVector features(features_.slots() * width);
  AlignedVector labels(labels_.slots() * width);
  features_.expectations(statistics.counts, statistics.features, all_slots(features_), features.data(),
                         base.data());
  labels_.expectations(statistics.counts, statistics.labels, all_slots(labels_), labels.data(), base.data());
  const std::vector<double> weights = expected_log_weights(statistics.counts);
  double total = entropy(responsibilities) - divergence(statistics);
  AlignedVector scores(width);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    scores = base;
    add_scores(rows.features.columns_of(row), rows.features.values_of(row), features.data(), width,
               scores.data());
    add_scores(rows.labels.columns_of(row), rows.labels.values_of(row), labels.data(), width, scores.data());
    for (std::size_t k = 0; k < clusters_; ++k)
      total += responsibilities[row * width + k] * (scores[k] + weights[k]);
  }
  return total;
}

double Mixture::elbo_after_collect(const MixtureStatistics& statistics,
                                   const Responsibilities& responsibilities) const {
  return sticks_evidence(statistics.counts) + features_.log_evidence(statistics.counts, statistics.features) +
         labels_.log_evidence(statistics.counts, statistics.labels) + entropy(responsibilities);
}

void Mixture::blend(MixtureStatistics& statistics, const Minibatch& update, double rate, double factor,
                    double label_factor) const {
  const MixtureStatistics& found = update.statistics;
  for (std::size_t k = 0; k < stride(); ++k)
    statistics.counts[k] = (1.0 - rate) * statistics.counts[k] + rate * factor * found.counts[k];
  blend_block(features_, statistics.features, found.features, update.feature_slots, rate, factor);
  if (label_factor > 0.0)
    blend_block(labels_, statistics.labels, found.labels, update.label_slots, rate, label_factor);
}

void Mixture::add(MixtureStatistics& statistics, const MixtureStatistics& more) const {
  add_to(statistics.counts, more.counts);
  for (auto block : {&MixtureStatistics::features, &MixtureStatistics::labels}) {
    BlockStatistics& sum = statistics.*block;
    const BlockStatistics& part = more.*block;
    for (std::size_t i = 0; i < sum.table.size(); ++i)
      sum.table[i] = sum.scale * sum.table[i] + part.scale * part.table[i];
    sum.scale = 1.0;
    add_to(sum.totals, part.totals);
  }
}

void Mixture::scale(MixtureStatistics& statistics, double factor) const {
  for (double& count : statistics.counts) count *= factor;
  for (BlockStatistics* block : {&statistics.features, &statistics.labels}) {
    block->scale *= factor;
    for (double& total : block->totals) total *= factor;
  }
}

bool Mixture::reorder(MixtureStatistics& statistics) const {
  std::vector<std::size_t> order(clusters_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return statistics.counts[a] > statistics.counts[b]; });
  AlignedVector sorted = statistics.counts;
  permute(sorted, stride(), order);
  if (!(sticks_evidence(sorted) > sticks_evidence(statistics.counts))) return false;
  statistics.counts = std::move(sorted);
  for (BlockStatistics* block : {&statistics.features, &statistics.labels}) {
    permute(block->table, stride(), order);
    permute(block->totals, stride(), order);
  }
  return true;
}

}  // namespace coppice::bnmc
