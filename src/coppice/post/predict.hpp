// Where a row belongs, with probabilities: averages over the stored draws, without new draws. For a draw with
// clusters c and weights w_c = p(row, row joins c), a new cluster among them, and a consensus partition of
// the training rows in groups g,
//   log density        = log of the average over draws of sum_c w_c,
//   probability of g   = average over draws of sum_c (w_c / sum w) * |c and g| / |c|,
//   probability of new = average over draws of w_new / sum w,
// so that the probabilities of a row sum to one. The new row does not reweight the draws: it is placed into
// the posterior of the training rows. Each row is judged by itself: results do not depend on the other rows,
// on their order or on the number of threads, to the last bit. `membership` answers the same question for the
// training rows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/family/rows.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// The group of a row that most probably belongs to none of the existing ones.
inline constexpr Label kNewCluster = -1;

/// How many draws, threads and which level.
struct PredictOptions {
  /// At most this many draws, evenly spaced; 0: all, but in big data no more than are read in a few seconds
  /// (a function of the run alone, see draws_for_prediction).
  std::size_t most_draws = 0;
  std::size_t threads = 0;  // 0: all
  std::size_t level = 1;    // of the consensus: 1 = coarsest
};

/// Where a new row belongs.
struct Prediction {
  Label cluster = kNewCluster;        // the most probable group; kNewCluster if new is more probable than any
  std::vector<double> probabilities;  // of each consensus group
  double new_probability = 0.0;       // of belonging to none of them
  double log_density = 0.0;  // nats, in the units of the table as modeled (--standardize is one; log scales
                             // are not)
  double entropy = 0.0;      // of groups and new together, nats
};

/// The number of draws that `predict` averages over.
std::size_t draws_for_prediction(const SavedRun& run, std::size_t most_draws);

/// One prediction per row of `rows` (encoded by the run's plan; missing cells allowed). `consensus` has a
/// label (from 0) for every training row. A row that has density zero everywhere is new. Error{usage} if
/// sizes do not fit or the run has no draws, Error{bad_data} for a missing cell of a multinomial column.
std::vector<Prediction> predict(const SavedRun& run, const Rows& rows, std::span<const Label> consensus,
                                const PredictOptions& options = {});

/// Makes the clusters of each row a path, given predictions and consensus labels of level 1, 2, ...: at every
/// level the most probable child of the cluster above, or none (kNewCluster) there and below, if a new
/// cluster is more probable than any of the children.
void follow_paths(std::span<std::vector<Prediction>> levels, std::span<const Labels> consensus);

/// The membership of a training row in each consensus group: the average over draws of the fraction of its
/// cluster's other members that belong to the group. Draws in which the row is a singleton count as `alone`,
/// or for its own group if that is a singleton too. Probabilities and `alone` sum to one.
struct Membership {
  Label cluster = 0;                  // its consensus group
  std::vector<double> probabilities;  // of each consensus group
  double alone = 0.0;                 // probability of being a singleton
  double entropy = 0.0;               // nats
};

/// Error{usage} if there are no draws or the labels do not fit them.
std::vector<Membership> membership(const LabelMatrix& draws, std::span<const Label> consensus,
                                   std::size_t threads = 0);

/// The entropy in nats of probabilities that sum to one together with the rest.
double entropy_of(std::span<const double> probabilities, double rest);

/// A row that is nearly as probable in another group.
struct AmbiguousRow {
  std::size_t row = 0;             // of the training rows
  Label cluster = 0;               // its consensus group
  double probability = 0.0;        // of its group
  Label rival = kNewCluster;       // the most probable other group; kNewCluster: a singleton
  double rival_probability = 0.0;  // of that group
  double entropy = 0.0;            // of its membership, in nats
};

/// The rows with the highest entropy, at most `most`, in decreasing order; rows of zero entropy are left out.
std::vector<AmbiguousRow> most_ambiguous(std::span<const Membership> rows, std::size_t most);

}  // namespace coppice
