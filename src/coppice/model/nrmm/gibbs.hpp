// Collapsed Gibbs: each row in turn leaves its cluster and joins cluster c with weight (n_c) p(x | X_c) or
// opens a new one with weight alpha m(x).
#pragma once

#include <cstdint>
#include <span>

#include "coppice/base/aligned.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"

namespace coppice::nrmm {

class GibbsSweep {
 public:
  explicit GibbsSweep(std::size_t rows) : rows_(rows) {}

  /// One scan over all rows in order. log_marginal_alone[i] is log m({x_i}); log_open the prior's log weight
  /// of a new cluster. Every row has its own uniform number, named by the row.
  void step(Clusters& clusters, const StreamName& name, std::span<const double> log_marginal_alone,
            double log_open);

  /// Rows one by one in random order into a growing set of clusters, by the same weights: the starting state.
  void allocate(Clusters& clusters, const StreamName& name, std::span<const double> log_marginal_alone,
                double log_open);

  std::uint64_t visited() const { return visited_; }
  std::uint64_t moved() const { return moved_; }
  void set_counts(std::uint64_t visited, std::uint64_t moved) {
    visited_ = visited;
    moved_ = moved;
  }

 private:
  void update(Clusters& clusters, std::size_t row, double uniform, double log_new);

  std::size_t rows_;
  AlignedVector weights_;
  std::uint64_t visited_ = 0;
  std::uint64_t moved_ = 0;
};

}  // namespace coppice::nrmm
