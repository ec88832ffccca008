// The number of clusters before and after the data: its law under the prior of the run, for as many rows,
// beside that of the draws. Where the rows are seated by one Chinese restaurant process the prior is exact,
// its concentration integrated out; elsewhere it is counted in draws from the prior.
//
// The prior dominates if the data have hardly changed what it says: the posterior mean is within half a prior
// standard deviation of the prior mean, and the posterior standard deviation is at least 0.7 of the prior's.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coppice/post/analysis.hpp"

namespace coppice {

inline constexpr double kDominantShift = 0.5;
inline constexpr double kDominantSpread = 0.7;

/// A law of the number of clusters.
struct CountLaw {
  std::vector<double> shares;  // of 1, 2, ... clusters; they sum to one
  double total = 0.0;          // of the weights it was made of: draws, if these were counted
  double mean = 1.0;
  double sd = 0.0;
  std::size_t low = 1, high = 1;  // nine times in ten it is between these
};

/// The law with these weights of 1, 2, ... clusters.
CountLaw law_of_counts(std::vector<double> weights);

struct ClusterCounts {
  std::size_t level = 1;
  CountLaw prior, posterior;
  bool prior_is_exact = false;
  double total_variation = 0.0;  // between the two
  bool prior_dominates = false;

  /// One line that warns if the prior dominates; empty if it does not.
  std::string warning() const;
};

ClusterCounts compare_counts(CountLaw prior, CountLaw posterior);

/// Of every level. Of a greedy model the posterior is that of the partitions that cutting its tree can give,
/// and no prior dominates. Empty for a model that learns labels. Of rows
/// with weights the prior is not known and has no shares.
std::vector<ClusterCounts> cluster_counts(const Analysis& analysis);

/// counts[level - 1][k - 1]: how often draws from the prior of the run have k clusters.
std::vector<std::vector<double>> prior_cluster_counts(const SavedRun& run);

}  // namespace coppice
