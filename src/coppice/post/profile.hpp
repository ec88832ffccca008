// What makes a cluster different: every modeled column's predictive inside the cluster against that of all
// other rows, both given the consensus labels and the run's family. Columns are sorted by the symmetrized
// Kullback-Leibler divergence, the mean of both directions in nats: exact for binary and category columns,
// between Poisson distributions of the predictive rates for families of rates (poisson, multinomial),
// otherwise between normal distributions of the predictive means and variances. Columns on the log scale are
// compared there; those with a hurdle by how often they are at it, and by the other numbers as far as there
// are any. Joint gaussians are compared by their marginals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "coppice/post/trait_words.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// What distinguishes a cluster.
struct ClusterProfile {
  Label cluster = 0;          // its number
  std::size_t size = 0;       // number of rows
  double confidence = 0.0;    // mean of its rows' confidence; NaN if none was given
  std::string words;          // its two or three strongest traits; more where two clusters would share them
  std::string name;           // the same, or what a user called it (cluster_names.hpp)
  std::vector<Trait> traits;  // strongest first
  /// The rows with the highest predictive density under the cluster's other rows, best first.
  std::vector<std::uint32_t> exemplars;
  std::vector<std::uint32_t> outliers;  // of lowest, worst first; none that is an exemplar
};

/// One profile per cluster of the labels (numbers from 0), in their order, with at most `most_traits` traits
/// (0: all). Columns without a present cell inside or outside have no trait; a single cluster has none at
/// all. For exemplars and outliers a missing cell counts like the cluster's average present cell of its
/// column. `row_confidence` may be empty. Error{usage} if sizes do not fit.
std::vector<ClusterProfile> profile_clusters(const SavedRun& run, std::span<const Label> consensus,
                                             std::span<const double> row_confidence, std::size_t most_traits);

/// The same for groups of some of the rows, such as the children of a node: a group is compared only with the
/// other groups, and only traits and names are found.
std::vector<ClusterProfile> profile_groups(const SavedRun& run,
                                           std::span<const std::vector<std::uint32_t>> groups,
                                           std::size_t most_traits);

/// "has_feathers, visits higher": all traits of a profile in short words.
std::string join_traits(const ClusterProfile& profile);

}  // namespace coppice
