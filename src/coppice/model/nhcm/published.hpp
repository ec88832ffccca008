// The sampler as published, for comparison; it leaves no posterior invariant. A row may only go to
// sub-clusters of its own cluster, with weights whose normalizers do not belong together, and to a new one
// with the density of the prior whatever its cluster holds; then the sub-cluster it is in chooses a cluster,
// its rows taken as independent. The scale of a cluster lacks the scatter between its sub-clusters and their
// distance from the prior mean.
#pragma once

#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/cluster/move_count.hpp"
#include "coppice/model/nhcm/state.hpp"

namespace coppice::nhcm {

class PublishedUpdates {
 public:
  /// All rows in order, each followed by its sub-cluster.
  void scan(State& state, const TwoLevelCrp& prior, const StreamName& name);
  /// A row, then the sub-cluster it is in.
  void update(State& state, const TwoLevelCrp& prior, std::size_t row, Stream& stream);

  const MoveCount& rows() const { return rows_; }
  const MoveCount& subclusters() const { return subclusters_; }
  void set_counts(const MoveCount& rows, const MoveCount& subclusters) {
    rows_ = rows;
    subclusters_ = subclusters;
  }

 private:
  /// Takes up a sub-cluster of a group of sub-clusters, or a new one (kNone), for log_density.
  void prepare(const State& state, std::span<const Label> subs, Label sub);
  /// Log density of a row there, as published.
  double log_density(const State& state, const double* row);
  void update_row(State& state, const TwoLevelCrp& prior, std::size_t row, Stream& stream);
  void update_subcluster(State& state, const TwoLevelCrp& prior, Label sub, Stream& stream);
  std::size_t draw(Stream& stream);

  std::vector<double> log_weights_, cluster_, factor_, center_, distance_;
  double rows_there_ = 0.0, ratio_ = 0.0, log_determinant_ = 0.0;
  std::vector<std::uint32_t> members_;
  Labels others_, targets_;
  MoveCount rows_, subclusters_;
};

}  // namespace coppice::nhcm
