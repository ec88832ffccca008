// The point estimate: the partition that minimizes the posterior expected loss, estimated by the average over
// the draws,
//   VI (Meila 2007; Wade and Ghahramani 2018): E[H(c) + H(draw) - 2 I(c, draw)], in nats, or
//   Binder (1978): E[2 * pairs in disagreement] / n^2,
// with equal costs, or with a cost b of joining what a draw separates and 2 - b of separating what it joins
// (the generalized losses of Dahl, Johnson and Mueller 2022): b H(draw | c) + (2 - b) H(c | draw).
// Both are exact averages over the draws; the Jensen lower bound of the VI from the co-clustering matrix
// serves only to screen candidates. Candidates are the draws and the average-linkage cuts of 1 -
// co-clustering; the best few are improved by moving one row at a time to the cluster (or to a new one) that
// lowers the expected loss most, until no row moves (in the manner of SALSO, Dahl, Johnson and Mueller 2022,
// without its random restarts). Deterministic.
//
// Limits. With more than matrix_rows rows there is no matrix: candidates are the best of up to 128 evenly
// spaced draws. With more than label_budget labels, evenly spaced draws represent all: 100 of them for a
// million rows. All losses refer to the draws used. The tables of a descent take at most 150 MB, and all
// descents together at most about ten seconds; every step lowers the loss, so a descent cut short still gives
// the best partition so far.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/post/loss.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// What is estimated, and how much work goes into it.
struct ConsensusOptions {
  Loss loss = Loss::vi;            // whose posterior expectation is minimized
  double join_cost = 1.0;          // above 0, below 2; more than 1 gives more and smaller clusters
  double credibility = 0.95;       // of the credible ball
  std::size_t matrix_rows = 5000;  // above this many rows no n x n matrix is made and no linkage is cut
  std::size_t max_clusters = 0;    // of the estimate; 0: no limit
  std::size_t descents = 3;        // starts that are improved row by row
  std::size_t sweeps = 25;         // passes over the rows in one descent
  std::size_t label_budget = 100'000'000;  // with more labels (rows x draws), evenly spaced draws are used
  std::size_t threads = 1;  // of the co-clustering matrix; 0: all. The answer does not depend on it.
};

/// The point estimate of the partition, with its uncertainty.
struct Consensus {
  Labels labels;                   // canonical
  std::size_t clusters = 0;        // in the estimate
  double expected_loss = 0.0;      // average over the draws used, in nats for VI
  double best_draw_loss = 0.0;     // the least expected loss of a draw that was evaluated
  double best_linkage_loss = 0.0;  // of a linkage cut; NaN if no linkage was made
  double ball_radius = 0.0;        // the given fraction of the draws is within this loss of the estimate
  /// Mean co-clustering of a row with the other rows of its cluster; for a singleton the fraction of draws in
  /// which it is a singleton.
  std::vector<double> row_confidence;
  std::size_t draws_used = 0;  // for the losses
};

/// Rows that cannot be placed: singletons of the estimate that are singletons in less than half of the draws,
/// so that no cluster takes them and they are not clusters either.
std::vector<bool> unassigned_rows(const Consensus& estimate);
/// Which clusters of the estimate have one of these rows.
std::vector<bool> clusters_of_rows(const Consensus& estimate, const std::vector<bool>& rows);

/// Computes the point estimate. Error{usage} if there are no rows or no draws.
Consensus consensus(const LabelMatrix& draws, const ConsensusOptions& options = {});

/// The same summary as consensus() for labels (canonical) that were found in another way; the losses of draws
/// and linkage cuts are NaN.
Consensus assess(const LabelMatrix& draws, Labels labels, const ConsensusOptions& options = {});

/// Exact average loss between labels and every draw. Labels are any non-negative numbers.
double expected_loss(const LabelMatrix& draws, std::span<const Label> labels, Loss loss);

/// The loss between labels and each draw.
std::vector<double> losses(const LabelMatrix& draws, std::span<const Label> labels, Loss loss);

}  // namespace coppice
