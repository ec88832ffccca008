// Numbers of a draw that say who is with whom, and not only how many clusters there are: its distance
// (variation of information) from a few reference partitions that were drawn too, and whether the two members
// of a pair share a cluster. Chains that agree on the number of clusters, on entropy and log joint may still
// disagree on these; R-hat and effective draws of them tell. A pure function of the draws, so that a rule for
// when to stop can use it as well as the verdict on a finished run.
//
// References: of up to 40 evenly spaced draws the one nearest to the others, then each time the one farthest
// from those chosen, so that separate modes get one each. Pairs: of up to 128 evenly spaced members those
// whose co-clustering is least decided over all draws (never those that differ most between chains, which
// would find a difference wherever there is chance), no member twice.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/shape/partition.hpp"

namespace coppice {

struct PartitionTraceOptions {
  std::size_t references = 4;
  std::size_t pairs = 6;
  double least_share = 0.05;  // pairs that are together (or apart) less often than this are decided
};

/// A number for every draw of every chain.
struct PartitionTrace {
  enum class Kind { distance, pair };
  Kind kind = Kind::distance;
  std::size_t chain = 0, draw = 0;          // distance: those of the reference
  std::size_t first = 0, second = 0;        // pair: its members
  std::vector<std::vector<double>> values;  // [chain][draw]: nats, or 1 if the pair shares a cluster
};

/// `chains` has the draws of each chain, equally many; labels are any non-negative numbers. Traces that are
/// the same in all draws are left out. O(draws * members).
std::vector<PartitionTrace> partition_traces(std::span<const LabelMatrix> chains,
                                             const PartitionTraceOptions& options = {});

}  // namespace coppice
