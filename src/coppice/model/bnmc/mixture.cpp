#include "coppice/model/bnmc/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/digamma.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"

namespace coppice::bnmc {
namespace {

// Rows are cut into as many parts whatever the number of threads, so that sums are added in one order.
constexpr std::size_t kMostParts = 8;
constexpr std::size_t kLeastPart = 128;

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

void add_row(const MixtureRows& rows, std::size_t row, const double* r, std::size_t stride,
             MixtureStatistics& statistics) {
  for (std::size_t k = 0; k < stride; ++k) statistics.counts[k] += r[k];
  add_items(rows.features, row, r, stride, statistics.features);
  add_items(rows.labels, row, r, stride, statistics.labels);
}

void add_to(AlignedVector& sum, const AlignedVector& part) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
}

/// Scores to probabilities; the log of their normaliser.
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
  for (const std::uint32_t slot : slots)
    for (std::size_t k = 0; k < stride; ++k)
      statistics.table[slot * stride + k] += step * update.table[slot * stride + k];
  for (std::size_t k = 0; k < stride; ++k)
    statistics.totals[k] = (1.0 - rate) * statistics.totals[k] + rate * factor * update.totals[k];
}

}  // namespace

struct Mixture::Expectations {
  AlignedVector base, features, labels;
};

Mixture::Mixture(std::size_t clusters, double alpha, BlockPrior features, BlockPrior labels)
    : clusters_(clusters),
      alpha_(alpha),
      features_(std::move(features), clusters),
      labels_(std::move(labels), clusters) {}

MixtureRows Mixture::encode(const LabelledRows& rows) const {
  MixtureRows result{features_.encode(rows.features), labels_.encode(rows.labels), {}};
  for (std::size_t row = 0; row < rows.labels.rows(); ++row) {
    const auto values = rows.labels.values_of(row);
    const auto missing = static_cast<std::size_t>(std::count_if(values.begin(), values.end(), is_missing));
    result.labelled.push_back(missing < rows.labels.columns ? 1 : 0);
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
    add_row(rows, row, responsibilities.data() + row * stride(), stride(), statistics);
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

std::vector<std::uint32_t> Mixture::slots_of(const Block& block, const SparseRows& items,
                                             std::span<const std::uint32_t> which) {
  std::vector<std::uint32_t> slots;
  std::size_t size = 0;
  for (const std::uint32_t row : which) size += items.columns_of(row).size();
  if (!block.is_local() || size >= block.slots()) {
    slots.resize(block.slots());
    std::iota(slots.begin(), slots.end(), 0u);
    return slots;
  }
  for (const std::uint32_t row : which) {
    const auto of_row = items.columns_of(row);
    slots.insert(slots.end(), of_row.begin(), of_row.end());
  }
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

Mixture::Local Mixture::local_update(const MixtureRows& rows, std::span<const std::uint32_t> which,
                                     const MixtureStatistics& given, std::size_t threads,
                                     Responsibilities* responsibilities) const {
  const std::size_t width = stride();
  Expectations expected{AlignedVector(width, 0.0), AlignedVector(features_.slots() * width),
                        AlignedVector(labels_.slots() * width)};
  AlignedVector label_base(width, 0.0);
  features_.expectations(given.counts, given.features, slots_of(features_, rows.features, which),
                         expected.features.data(), expected.base.data());
  labels_.expectations(given.counts, given.labels, slots_of(labels_, rows.labels, which),
                       expected.labels.data(), label_base.data());
  const std::vector<double> weights = expected_log_weights(given.counts);
  for (std::size_t k = 0; k < clusters_; ++k) expected.base[k] += weights[k];

  const std::size_t parts = std::clamp<std::size_t>(which.size() / kLeastPart, 1, kMostParts);
  std::vector<Local> results(parts);
  parallel_for(parts, threads, [&](std::size_t part) {
    Local& local = results[part];
    local.statistics = no_statistics();
    AlignedVector r(width);
    const std::size_t end = which.size() * (part + 1) / parts;
    for (std::size_t i = which.size() * part / parts; i < end; ++i) {
      const std::uint32_t row = which[i];
      for (std::size_t k = 0; k < width; ++k) r[k] = expected.base[k] + label_base[k];
      add_scores(rows.features.columns_of(row), rows.features.values_of(row), expected.features.data(), width,
                 r.data());
      add_scores(rows.labels.columns_of(row), rows.labels.values_of(row), expected.labels.data(), width,
                 r.data());
      local.log_normaliser += softmax(r.data(), clusters_, width);
      add_row(rows, row, r.data(), width, local.statistics);
      if (responsibilities != nullptr)
        std::copy(r.begin(), r.end(), responsibilities->begin() + static_cast<std::ptrdiff_t>(row * width));
    }
  });
  Local sum = std::move(results.front());
  for (std::size_t part = 1; part < parts; ++part) {
    sum.log_normaliser += results[part].log_normaliser;
    add_to(sum.statistics.counts, results[part].statistics.counts);
    for (auto block : {&MixtureStatistics::features, &MixtureStatistics::labels}) {
      add_to((sum.statistics.*block).table, (results[part].statistics.*block).table);
      add_to((sum.statistics.*block).totals, (results[part].statistics.*block).totals);
    }
  }
  return sum;
}

double Mixture::divergence(const MixtureStatistics& statistics) const {
  return sticks_divergence(statistics.counts) + features_.divergence(statistics.counts, statistics.features) +
         labels_.divergence(statistics.counts, statistics.labels);
}

double Mixture::elbo(const MixtureRows& rows, const MixtureStatistics& statistics,
                     const Responsibilities& responsibilities) const {
  const std::size_t width = stride();
  std::vector<std::uint32_t> all(std::max(features_.slots(), labels_.slots()));
  std::iota(all.begin(), all.end(), 0u);
  const std::span<const std::uint32_t> slots(all);
  AlignedVector base(width, 0.0);
  AlignedVector features(features_.slots() * width);
  AlignedVector labels(labels_.slots() * width);
  features_.expectations(statistics.counts, statistics.features, slots.first(features_.slots()),
                         features.data(), base.data());
  labels_.expectations(statistics.counts, statistics.labels, slots.first(labels_.slots()), labels.data(),
                       base.data());
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

void Mixture::blend(MixtureStatistics& statistics, const MixtureStatistics& update, const MixtureRows& rows,
                    std::span<const std::uint32_t> which, double rate, double factor,
                    double label_factor) const {
  for (std::size_t k = 0; k < stride(); ++k)
    statistics.counts[k] = (1.0 - rate) * statistics.counts[k] + rate * factor * update.counts[k];
  blend_block(features_, statistics.features, update.features, slots_of(features_, rows.features, which),
              rate, factor);
  if (label_factor > 0.0)
    blend_block(labels_, statistics.labels, update.labels, slots_of(labels_, rows.labels, which), rate,
                label_factor);
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
