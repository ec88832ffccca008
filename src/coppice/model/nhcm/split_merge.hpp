// Splits and merges at both levels. A move takes two anchors: two rows of one cluster, whose sub-clusters are
// split or merged, or two sub-clusters, whose clusters are. The other items of the two groups come in one
// after the other, in a fresh random order, with their Gibbs weights given those that are in (sequential
// allocation); for a merge the choices that give the present groups are made instead. The acceptance ratio is
// that of the joint densities times the probability q of the choices, inverted for a split. Since q <= 1, a
// merge is refused before any choice if the ratio without q is too small already.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/cluster/move_count.hpp"
#include "coppice/model/nhcm/state.hpp"

namespace coppice::nhcm {

struct SplitMergeCounts {
  MoveCount splits, merges;
};

/// Two sub-clusters of one cluster; the other sub-clusters stay as they are.
class SubclusterSplitMerge {
 public:
  SubclusterSplitMerge(const Evidence& evidence, std::size_t rows);
  /// One move on two rows drawn uniformly; nothing happens if they are in different clusters.
  void step(State& state, const TwoLevelCrp& prior, Stream& stream);

  const SplitMergeCounts& counts() const { return counts_; }
  void set_counts(const SplitMergeCounts& counts) { counts_ = counts; }

 private:
  bool split(State& state, const TwoLevelCrp& prior, Stream& stream, double log_uniform);
  bool merge(State& state, const TwoLevelCrp& prior, Stream& stream, double log_uniform);
  void gather(const State& state, Label first, Label second, Stream& stream);
  /// Fills sides_ by choose(item, probability of group 1); returns the log probability of the choices.
  template <typename Choose>
  double allocate(const State& state, Choose&& choose);

  std::uint32_t anchors_[2] = {0, 0};
  std::vector<std::uint32_t> items_;
  std::vector<std::uint8_t> sides_;
  std::vector<double> rest_;                        // the cluster without the two groups
  std::vector<double> groups_[2];                   // moments
  std::vector<double> cluster_, factor_, scratch_;  // the cluster with both groups
  std::vector<double> centers_[2];
  SplitMergeCounts counts_;
};

/// Two clusters of sub-clusters.
class ClusterSplitMerge {
 public:
  /// One move on two sub-clusters drawn uniformly.
  void step(State& state, const TwoLevelCrp& prior, Stream& stream);

  const SplitMergeCounts& counts() const { return counts_; }
  void set_counts(const SplitMergeCounts& counts) { counts_ = counts; }

 private:
  struct Group {
    std::vector<double> stats;
    State::Counts counts;
  };
  void take_in(Group& group, const State& state, std::uint32_t sub) const;
  double log_weight(const Group& group, const State& state, const TwoLevelCrp& prior);
  template <typename Choose>
  double allocate(const State& state, const TwoLevelCrp& prior, Choose&& choose);

  std::uint32_t anchors_[2] = {0, 0};
  std::vector<std::uint32_t> items_;
  std::vector<std::uint8_t> sides_;
  Group groups_[2], joined_[2];
  double log_weights_[2] = {0.0, 0.0};
  std::vector<double> scratch_;
  Labels moved_;
  SplitMergeCounts counts_;
};

}  // namespace coppice::nhcm
