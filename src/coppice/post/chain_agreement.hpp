// What chains disagree on, and what they agree on: pairs of rows (or columns) by chain, and how well each
// chain finds each cluster of the point estimate. And how decided the grouping is, all chains together.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coppice/post/partition_diagnostics.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// How often two rows (or columns) of the table are together in each chain.
struct PairByChain {
  std::size_t first = 0, second = 0;
  std::vector<double> shares;
};

/// How well each chain finds a cluster: mean over its draws of the best Jaccard overlap with a cluster.
struct ClusterByChain {
  std::size_t cluster = 0;
  std::size_t size = 0;  // of all rows, or columns
  std::vector<double> overlaps;
  bool agrees = false;  // at least kAgreeingOverlap in every chain
};
inline constexpr double kAgreeingOverlap = 0.9;

struct ChainAgreement {
  std::string where;  // as in PartitionDraws
  std::size_t level = 1;
  bool of_columns = false;
  std::vector<PairByChain> pairs;     // most different between chains first, no member twice
  std::vector<std::size_t> unstable;  // members with a pair whose shares differ by 0.3 or more
  std::size_t members = 0;            // that were looked at
  std::vector<ClusterByChain> clusters;
  std::vector<std::string> agreed_traces;  // traces that converged
};

/// The pairs; of more than 200 members evenly spaced ones.
void compare_pairs(const PartitionDraws& draws, std::size_t most, ChainAgreement& agreement);
/// `labels` are those of all rows (or columns) of the table, canonical.
std::vector<ClusterByChain> compare_clusters(const PartitionDraws& draws, std::span<const Label> labels);

/// Of the pairs that may belong together (in more than a tenth of the draws), the fraction that is undecided
/// (not in nine tenths). NaN without such pairs.
double undecided_pairs(const PartitionDraws& draws);

}  // namespace coppice
