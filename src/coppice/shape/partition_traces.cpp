#include "coppice/shape/partition_traces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/shape/contingency.hpp"
#include "coppice/shape/spaced.hpp"

namespace coppice {
namespace {

constexpr std::size_t kCandidates = 40;    // draws of which the references are chosen
constexpr std::size_t kPairMembers = 128;  // whose pairs are counted

/// The draws of all chains, one chain after the other, with dense labels.
struct CompactDraws {
  std::size_t chains, per_chain, members;
  std::vector<Label> labels;
  std::vector<std::size_t> clusters;
  std::vector<double> terms;  // f(x) = x log x / members
  std::vector<double> own;    // sum of f over the sizes of each draw's clusters
  PairCounter counter;

  explicit CompactDraws(std::span<const LabelMatrix> given)
      : chains(given.size()), per_chain(given.front().draws()), members(given.front().rows) {
    terms.assign(members + 1, 0.0);
    for (std::size_t x = 2; x <= members; ++x)
      terms[x] = static_cast<double>(x) * std::log(static_cast<double>(x)) / static_cast<double>(members);
    labels.resize(size() * members);
    std::vector<std::size_t> sizes;
    for (std::size_t d = 0; d < size(); ++d) {
      const LabelMatrix& chain = given[d / per_chain];
      if (chain.draws() != per_chain || chain.rows != members)
        fail(ErrorCode::usage, "partition traces: chains of {} and {} draws; all must have the same length",
             per_chain, chain.draws());
      const std::span<Label> compact(labels.data() + d * members, members);
      clusters.push_back(compact_labels(chain[d % per_chain], compact));
      sizes.assign(clusters.back(), 0);
      for (const Label label : compact) ++sizes[static_cast<std::size_t>(label)];
      double sum = 0.0;
      for (const std::size_t count : sizes) sum += terms[count];
      own.push_back(sum);
    }
  }

  std::size_t size() const { return chains * per_chain; }
  std::span<const Label> operator[](std::size_t d) const { return {labels.data() + d * members, members}; }

  /// Variation of information of two draws; what rounding leaves of 0 is 0, so that equal draws are equal.
  double distance(std::size_t a, std::size_t b) {
    const double overlap = counter.sum_over_cells((*this)[a], clusters[a], (*this)[b], clusters[b], terms);
    const double value = own[a] + own[b] - 2.0 * overlap;
    return value > 1e-12 ? std::round(value * 1e12) * 1e-12 : 0.0;
  }
};

std::vector<std::size_t> choose_references(CompactDraws& draws, std::size_t most) {
  const std::vector<std::size_t> candidates = spaced_members(draws.size(), kCandidates);
  const std::size_t count = candidates.size();
  std::vector<double> distance(count * count, 0.0);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b)
      distance[a * count + b] = distance[b * count + a] = draws.distance(candidates[a], candidates[b]);
  std::vector<double> sums;
  for (std::size_t a = 0; a < count; ++a)
    sums.push_back(std::accumulate(distance.begin() + static_cast<std::ptrdiff_t>(a * count),
                                   distance.begin() + static_cast<std::ptrdiff_t>((a + 1) * count), 0.0));
  auto next = static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
  std::vector<double> nearest(count, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> references;
  while (references.size() < most) {
    references.push_back(candidates[next]);
    for (std::size_t a = 0; a < count; ++a) nearest[a] = std::min(nearest[a], distance[next * count + a]);
    const auto farthest = std::max_element(nearest.begin(), nearest.end());
    if (*farthest <= 0.0) break;
    next = static_cast<std::size_t>(farthest - nearest.begin());
  }
  return references;
}

/// The least decided pairs, no member twice.
std::vector<std::pair<std::size_t, std::size_t>> choose_pairs(const CompactDraws& draws,
                                                              const PartitionTraceOptions& options) {
  const std::vector<std::size_t> members = spaced_members(draws.members, kPairMembers);
  const std::size_t count = members.size();
  std::vector<std::uint32_t> together(count * count, 0);
  std::vector<Label> labels(count);
  for (std::size_t d = 0; d < draws.size(); ++d) {
    const std::span<const Label> draw = draws[d];
    for (std::size_t a = 0; a < count; ++a) labels[a] = draw[members[a]];
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = a + 1; b < count; ++b) together[a * count + b] += labels[a] == labels[b] ? 1U : 0U;
  }
  struct Pair {
    double undecided;
    std::size_t a, b;
  };
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b) {
      const double share = static_cast<double>(together[a * count + b]) / static_cast<double>(draws.size());
      const double undecided = std::min(share, 1.0 - share);
      if (undecided >= options.least_share) pairs.push_back({undecided, members[a], members[b]});
    }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.undecided > b.undecided; });
  std::vector<bool> taken(draws.members, false);
  std::vector<std::pair<std::size_t, std::size_t>> chosen;
  for (const Pair& pair : pairs) {
    if (chosen.size() == options.pairs) break;
    if (taken[pair.a] || taken[pair.b]) continue;
    taken[pair.a] = taken[pair.b] = true;
    chosen.emplace_back(pair.a, pair.b);
  }
  return chosen;
}

template <typename Value>
std::vector<std::vector<double>> values_of(const CompactDraws& draws, Value value) {
  std::vector<std::vector<double>> values(draws.chains);
  for (std::size_t d = 0; d < draws.size(); ++d) values[d / draws.per_chain].push_back(value(d));
  return values;
}

bool is_same_in_all(const std::vector<std::vector<double>>& values) {
  const double first = values.front().front();
  return std::all_of(values.begin(), values.end(), [&](const std::vector<double>& chain) {
    return std::all_of(chain.begin(), chain.end(), [&](double value) { return value == first; });
  });
}

}  // namespace

std::vector<PartitionTrace> partition_traces(std::span<const LabelMatrix> chains,
                                             const PartitionTraceOptions& options) {
  std::vector<PartitionTrace> traces;
  if (chains.empty() || chains.front().draws() == 0) return traces;
  CompactDraws draws(chains);
  const auto keep = [&](PartitionTrace trace) {
    if (!is_same_in_all(trace.values)) traces.push_back(std::move(trace));
  };
  for (const std::size_t reference : choose_references(draws, options.references)) {
    PartitionTrace trace;
    trace.chain = reference / draws.per_chain;
    trace.draw = reference % draws.per_chain;
    trace.values = values_of(draws, [&](std::size_t d) { return draws.distance(d, reference); });
    keep(std::move(trace));
  }
  for (const auto& [first, second] : choose_pairs(draws, options)) {
    PartitionTrace trace;
    trace.kind = PartitionTrace::Kind::pair;
    trace.first = first;
    trace.second = second;
    trace.values = values_of(
        draws, [&, a = first, b = second](std::size_t d) { return draws[d][a] == draws[d][b] ? 1.0 : 0.0; });
    keep(std::move(trace));
  }
  return traces;
}

}  // namespace coppice
