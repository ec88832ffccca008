#include "coppice/post/chain_agreement.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/post/coclustering.hpp"
#include "coppice/shape/contingency.hpp"
#include "coppice/shape/spaced.hpp"

namespace coppice {
namespace {

constexpr std::size_t kPairMembers = 200;
constexpr double kLeastDifference = 0.15;    // between chains, of a pair that is shown
constexpr double kUnstableDifference = 0.3;  // of a pair that makes its members unstable
constexpr std::size_t kDecidedMembers = 500;

/// Those members of the draws alone.
LabelMatrix members_of(std::span<const LabelMatrix> chains, const std::vector<std::size_t>& members) {
  LabelMatrix part{members.size(), {}};
  std::size_t draws = 0;
  for (const LabelMatrix& chain : chains) draws += chain.draws();
  part.values.reserve(draws * members.size());
  for (const LabelMatrix& chain : chains)
    for (std::size_t d = 0; d < chain.draws(); ++d)
      for (const std::size_t member : members) part.values.push_back(chain[d][member]);
  return part;
}

}  // namespace

void compare_pairs(const PartitionDraws& draws, std::size_t most, ChainAgreement& agreement) {
  const std::vector<std::size_t> places = spaced_members(draws.members.size(), kPairMembers);
  const std::size_t count = places.size();
  std::vector<std::vector<double>> shares;
  for (const LabelMatrix& chain : draws.chains)
    shares.push_back(coclustering(members_of({&chain, 1}, places), 0));
  struct Pair {
    double difference;
    std::size_t a, b;
  };
  std::vector<Pair> pairs;
  std::vector<double> largest(count, 0.0);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b) {
      double low = 1.0, high = 0.0;
      for (const std::vector<double>& chain : shares) {
        low = std::min(low, chain[a * count + b]);
        high = std::max(high, chain[a * count + b]);
      }
      largest[a] = std::max(largest[a], high - low);
      largest[b] = std::max(largest[b], high - low);
      if (high - low >= kLeastDifference) pairs.push_back({high - low, a, b});
    }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.difference > b.difference; });
  std::vector<bool> taken(count, false);
  for (const Pair& pair : pairs) {
    if (agreement.pairs.size() == most) break;
    if (taken[pair.a] || taken[pair.b]) continue;
    taken[pair.a] = taken[pair.b] = true;
    PairByChain entry;
    entry.first = draws.members[places[pair.a]];
    entry.second = draws.members[places[pair.b]];
    for (const std::vector<double>& chain : shares) entry.shares.push_back(chain[pair.a * count + pair.b]);
    agreement.pairs.push_back(std::move(entry));
  }
  agreement.members = count;
  for (std::size_t a = 0; a < count; ++a)
    if (largest[a] >= kUnstableDifference) agreement.unstable.push_back(draws.members[places[a]]);
}

std::vector<ClusterByChain> compare_clusters(const PartitionDraws& draws, std::span<const Label> labels) {
  const std::vector<std::size_t> sizes = cluster_sizes(labels);
  std::vector<ClusterByChain> clusters(sizes.size());
  Labels own;
  std::vector<double> own_sizes(sizes.size(), 0.0);
  for (const std::size_t member : draws.members) {
    own.push_back(labels[member]);
    own_sizes[static_cast<std::size_t>(own.back())] += 1.0;
  }
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    clusters[k].cluster = k;
    clusters[k].size = sizes[k];
  }
  PairCounter counter;
  Labels other(own.size());
  std::vector<double> other_sizes, best;
  for (const LabelMatrix& chain : draws.chains) {
    std::vector<double> sums(sizes.size(), 0.0);
    for (std::size_t d = 0; d < chain.draws(); ++d) {
      const std::size_t other_clusters = compact_labels(chain[d], other);
      other_sizes.assign(other_clusters, 0.0);
      for (const Label label : other) other_sizes[static_cast<std::size_t>(label)] += 1.0;
      best.assign(sizes.size(), 0.0);
      counter.for_each_cell(own, sizes.size(), other, other_clusters,
                            [&](std::size_t k, std::size_t l, std::size_t both) {
                              const auto shared = static_cast<double>(both);
                              best[k] = std::max(best[k], shared / (own_sizes[k] + other_sizes[l] - shared));
                            });
      for (std::size_t k = 0; k < sizes.size(); ++k) sums[k] += best[k];
    }
    for (std::size_t k = 0; k < sizes.size(); ++k)
      clusters[k].overlaps.push_back(sums[k] / static_cast<double>(chain.draws()));
  }
  for (ClusterByChain& cluster : clusters)
    cluster.agrees = own_sizes[cluster.cluster] > 0.0 &&
                     *std::min_element(cluster.overlaps.begin(), cluster.overlaps.end()) >= kAgreeingOverlap;
  return clusters;
}

double undecided_pairs(const PartitionDraws& draws) {
  const std::vector<std::size_t> places = spaced_members(draws.members.size(), kDecidedMembers);
  const LabelMatrix all = members_of(draws.chains, places);
  double plausible = 0.0, undecided = 0.0;
  for (const float share : coclustering_packed(all, 0)) {
    if (share <= 0.1F) continue;
    plausible += 1.0;
    if (share < 0.9F) undecided += 1.0;
  }
  return plausible > 0.0 ? undecided / plausible : std::nan("");
}

}  // namespace coppice
