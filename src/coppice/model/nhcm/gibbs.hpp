// Gibbs updates of rows, which may go to any sub-cluster of any cluster or open one, and of whole
// sub-clusters, which may go to any cluster or open one.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/cluster/move_count.hpp"
#include "coppice/model/nhcm/state.hpp"

namespace coppice::nhcm {

class Gibbs {
 public:
  /// All rows in order; with `interleaved`, each followed by an update of the sub-cluster it is in.
  void scan_rows(State& state, const StreamName& name, bool interleaved);
  /// All sub-clusters in the order of their first rows. The order must not depend on their clusters, as that
  /// of the slots may: which slot is free depends on what was opened before.
  void scan_subclusters(State& state, const StreamName& name);
  /// The rows of an empty state one by one, in random order.
  void allocate(State& state, const StreamName& name);

  void update_row(State& state, std::size_t row, double uniform);
  void update_subcluster(State& state, Label sub, double uniform);

  /// From now on Error{stopped} is thrown soon after the flag is set, between two rows; may be null.
  void stop_at(const std::atomic<bool>* stop) { stop_ = stop; }

  /// Accepted: it has moved.
  const MoveCount& rows() const { return rows_; }
  const MoveCount& subclusters() const { return subclusters_; }
  void set_counts(const MoveCount& rows, const MoveCount& subclusters) {
    rows_ = rows;
    subclusters_ = subclusters;
  }

 private:
  const std::atomic<bool>* stop_ = nullptr;
  AlignedVector weights_;
  Labels order_;
  MoveCount rows_, subclusters_;
};

}  // namespace coppice::nhcm
