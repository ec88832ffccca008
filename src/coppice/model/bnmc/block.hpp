// A conjugate block of the mixture: all features, or all labels, of a row given its cluster. Every likelihood
// here is linear in statistics of the row, so that a row becomes a short list of (slot, value) items and one
// kernel serves all of them: the expected log likelihood under cluster k is base[k] + sum of value *
// weights[slot][k], and the statistics of a cluster are the same values summed with its responsibilities.
//
//   multinomial   slot d: counts                                     Dirichlet(a) over the columns
//   bernoulli     slot d: ones; slot D + d: missing cells            Beta(a, b) for each column
//   gaussian      slot d: x; D + d: x^2; 2 D + d: missing cells      normal-inverse-gamma for each column
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/data/labeled_rows.hpp"

namespace coppice::bnmc {

enum class Likelihood { multinomial, bernoulli, gaussian };

struct BlockPrior {
  Likelihood likelihood = Likelihood::multinomial;
  std::size_t columns = 0;
  double a = 0.5, b = 0.5;                                          // Dirichlet or Beta
  double mean = 0.0, mean_strength = 0.1, shape = 2.0, rate = 1.0;  // normal-inverse-gamma
  double weight = 1.0;                                              // power of the likelihood
  std::vector<double> origin = {}, scale = {};  // gaussian: columns are measured as (x - origin) / scale
};

/// Statistics of one block for all clusters, slots x stride; the true value is scale * table.
struct BlockStatistics {
  AlignedVector table;
  AlignedVector totals;  // sum over the slots of each cluster, true value
  double scale = 1.0;
};

class Block {
 public:
  Block(BlockPrior prior, std::size_t clusters);

  const BlockPrior& prior() const { return prior_; }
  std::size_t slots() const { return slots_; }
  std::size_t stride() const { return stride_; }
  /// Items of all rows.
  SparseRows encode(const SparseRows& rows) const;
  BlockStatistics no_statistics() const;
  /// What a row's log density gains in the units of the data: normal columns are measured by their scales.
  double log_jacobian(std::span<const std::uint32_t> slots, std::span<const double> values) const;

  /// Whether weights of a slot depend on that slot and the totals alone, so that few can be asked for.
  bool is_local() const { return prior_.likelihood == Likelihood::multinomial; }
  /// Weights of the given slots, one after the other (all slots if the block is not local), and the base of
  /// each cluster, which is added to `base`.
  void expectations(const AlignedVector& counts, const BlockStatistics& statistics,
                    std::span<const std::uint32_t> slots, double* weights, double* base) const;
  /// Sum over clusters of KL(q || prior).
  double divergence(const AlignedVector& counts, const BlockStatistics& statistics) const;
  /// Sum over clusters of the log ratio of normalizers, posterior over prior: the log evidence of hard
  /// counts.
  double log_evidence(const AlignedVector& counts, const BlockStatistics& statistics) const;

  /// Posterior mean of each column in cluster k: share of the counts, probability of 1, mean (in x's units).
  std::vector<double> means(const AlignedVector& counts, const BlockStatistics& statistics,
                            std::size_t cluster) const;

 private:
  template <typename Visit>
  void for_each_cell(const AlignedVector& counts, const BlockStatistics& statistics, Visit&& visit) const;
  BlockPrior prior_;
  std::size_t clusters_, stride_, slots_;
};

/// log p(items of a row | cluster) under the posterior predictive of a block, for many rows.
class BlockPredictive {
 public:
  BlockPredictive(const Block& block, const AlignedVector& counts, const BlockStatistics& statistics);
  /// Adds to out[k].
  void add(std::span<const std::uint32_t> slots, std::span<const double> values, double* out) const;

 private:
  Likelihood likelihood_;
  std::size_t columns_, stride_;
  double weight_;
  AlignedVector
      table_;  // Dirichlet parameters; or weights of slots; or, for each column, t location, precision, dof
  AlignedVector base_;  // Dirichlet totals; or the base; or the densities' constants by column
};

/// Expected log p(items of a row | cluster) under the posterior, as in a local update, for many rows.
class BlockExpectation {
 public:
  BlockExpectation(const Block& block, const AlignedVector& counts, const BlockStatistics& statistics);
  /// Adds to out[k].
  void add(std::span<const std::uint32_t> slots, std::span<const double> values, double* out) const;

 private:
  AlignedVector weights_, base_;
};

/// sum += value * weights[slot] for every item: the kernel of all local updates.
void add_scores(std::span<const std::uint32_t> slots, std::span<const double> values, const double* weights,
                std::size_t stride, double* sum);

}  // namespace coppice::bnmc
