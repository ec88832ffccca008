// Expert A: a truncated stick-breaking mixture over features and labels, by mean-field variational inference
// (NOTES.md maps the symbols). Everything it has learned is in the statistics; posteriors follow from them.
#pragma once

#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/model/bnmc/block.hpp"

namespace coppice::bnmc {

/// The rows as items of the two blocks.
struct MixtureRows {
  SparseRows features, labels;
  std::vector<char> labeled = {};  // whether any label of the row is known

  std::size_t size() const { return features.rows(); }
};

struct MixtureStatistics {
  AlignedVector counts;  // expected rows of each cluster
  BlockStatistics features, labels;
};

/// Responsibilities, rows x stride.
using Responsibilities = AlignedVector;

class Mixture {
 public:
  Mixture(std::size_t clusters, double alpha, BlockPrior features, BlockPrior labels);

  std::size_t clusters() const { return clusters_; }
  std::size_t stride() const { return features_.stride(); }
  double alpha() const { return alpha_; }
  const Block& features() const { return features_; }
  const Block& labels() const { return labels_; }

  MixtureRows encode(const LabeledRows& rows) const;
  MixtureStatistics no_statistics() const;
  /// Statistics of some rows with given responsibilities (of all rows, in their order).
  MixtureStatistics collect(const MixtureRows& rows, std::span<const std::uint32_t> which,
                            const Responsibilities& responsibilities) const;

  /// E[log pi], or log E[pi].
  std::vector<double> expected_log_weights(const AlignedVector& counts) const;
  std::vector<double> log_mean_weights(const AlignedVector& counts) const;

  struct Local {
    MixtureStatistics statistics;
    double log_normalizer = 0.0;  // sum over rows of log sum over clusters of exp(scores)
  };
  /// One local update (2.2) of some rows, under the posterior of `given`: their statistics and, if wanted,
  /// their responsibilities. The threads do not change a bit of the answer.
  Local local_update(const MixtureRows& rows, std::span<const std::uint32_t> which,
                     const MixtureStatistics& given, std::size_t threads,
                     Responsibilities* responsibilities = nullptr) const;
  /// KL(q || prior) of sticks and blocks: ELBO = log_normalizer of a local update - divergence.
  double divergence(const MixtureStatistics& statistics) const;
  /// (2) for any responsibilities of all rows.
  double elbo(const MixtureRows& rows, const MixtureStatistics& statistics,
              const Responsibilities& responsibilities) const;
  /// The second form, for responsibilities that the statistics were collected from.
  double elbo_after_collect(const MixtureStatistics& statistics,
                            const Responsibilities& responsibilities) const;

  /// The local update of a minibatch. Its tables have only the slots that occur in its rows (all of a block
  /// whose weights hang together), so that a step costs nothing for features that are not there.
  struct Minibatch {
    std::vector<std::uint32_t> feature_slots, label_slots;
    MixtureStatistics statistics;
  };
  Minibatch minibatch_update(const MixtureRows& rows, std::span<const std::uint32_t> which,
                             const MixtureStatistics& given, std::size_t threads,
                             Responsibilities* responsibilities = nullptr) const;
  /// s <- (1 - rate) s + rate * (factor * update): the natural-gradient step. Only slots of the update are
  /// touched. A label factor of 0 leaves the labels alone.
  void blend(MixtureStatistics& statistics, const Minibatch& update, double rate, double factor,
             double label_factor) const;

  /// Statistics of more rows; and as if each row had counted so much.
  void add(MixtureStatistics& statistics, const MixtureStatistics& more) const;
  void scale(MixtureStatistics& statistics, double factor) const;

  /// Sorts clusters by size if that raises the ELBO; true if it did.
  bool reorder(MixtureStatistics& statistics) const;

 private:
  double sticks_divergence(const AlignedVector& counts) const;
  double sticks_evidence(const AlignedVector& counts) const;
  /// Rows of items whose slots count from 0 in the order of `feature_slots` and `label_slots`; row number i
  /// is called which[i].
  struct Part;
  Local update_part(const Part& part, const MixtureStatistics& given, std::size_t threads,
                    Responsibilities* responsibilities) const;

  std::size_t clusters_;
  double alpha_;
  Block features_, labels_;
};

}  // namespace coppice::bnmc
