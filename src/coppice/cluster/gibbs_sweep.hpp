// Collapsed Gibbs: a row leaves its cluster and joins cluster c with the prior's weight of joining times
// p(x | X_c), or opens a new one with the weight of opening times m(x).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "coppice/base/aligned.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/filled_rows.hpp"
#include "coppice/cluster/move_count.hpp"

namespace coppice {

class GibbsSweep {
 public:
  /// Weights are raised to `power`, which is that of the target.
  explicit GibbsSweep(double power = 1.0) : power_(power) {}

  /// One scan over the first rows in order, as many as `log_marginal_alone` has; log_marginal_alone[i] is
  /// log m({x_i}), log_open the prior's log weight of a new cluster. Every row has its own uniform number,
  /// named by the row.
  void step(Clusters& clusters, const StreamName& name, std::span<const double> log_marginal_alone,
            double log_open);
  /// The same for `count` rows drawn uniformly, with replacement.
  void step_some(Clusters& clusters, const StreamName& name, std::span<const double> log_marginal_alone,
                 double log_open, std::size_t count);
  /// The same for one row; a row that is in no cluster yet comes in.
  void update(Clusters& clusters, std::size_t row, double uniform, double log_new);
  /// The same; filled-in cells of the row are redrawn from the stream.
  void update(Clusters& clusters, std::size_t row, double uniform, double log_new, Stream& missing);

  /// From now on rows with missing cells are updated together with these. `log_marginal_alone` of such a row
  /// is that of its present cells.
  void fill_in(FilledRows* filled) { filled_ = filled; }

  /// The rows one by one in random order into a growing set of clusters, by the same weights: the starting
  /// state.
  void allocate(Clusters& clusters, const StreamName& name, std::span<const double> log_marginal_alone,
                double log_open);

  /// From now on Error{stopped} is thrown soon after the flag is set, between two rows; may be null.
  void stop_at(const std::atomic<bool>* stop) { stop_ = stop; }

  /// Accepted: the row has moved.
  const MoveCount& count() const { return count_; }
  void set_count(const MoveCount& count) { count_ = count; }

 private:
  double* weights_for(const Clusters& clusters, std::size_t& count);
  void update_incomplete(Clusters& clusters, std::size_t row, double uniform, double log_new,
                         Stream& missing);

  double power_;
  FilledRows* filled_ = nullptr;
  const std::atomic<bool>* stop_ = nullptr;
  AlignedVector weights_;
  MoveCount count_;
};

}  // namespace coppice
