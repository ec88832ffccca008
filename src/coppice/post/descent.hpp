// The expected loss of a partition and its improvement by moving one row, or merging two clusters, at a time.
// With f(x) = x log x / n (VI) or x^2 / n^2 (Binder), sizes n_k of the partition, m_dl of draw d and n_dkl of
// their overlaps,
//   expected loss = sum_k f(n_k) + E_d[sum_l f(m_dl) - 2 sum_kl f(n_dkl)],
// (with unequal costs the first sum counts b and the second 2 - b times, so that joining members of different
// clusters of a draw costs b / (2 - b) times as much as separating members of one), so the row i with label
// l_d in draw d makes cluster k dearer by f(n_k + 1) - f(n_k) - 2 E_d[g(n_d,k,l_d)], where g(x) = f(x + 1) -
// f(x). All g are kept in a table with the clusters of the partition side by side, one line for each cluster
// of each draw: one row's costs for all clusters are the sum of as many lines as there are draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/post/draw_bits.hpp"
#include "coppice/post/draw_set.hpp"
#include "coppice/post/linkage.hpp"
#include "coppice/post/loss.hpp"
#include "coppice/shape/contingency.hpp"

namespace coppice {

/// Smaller gains are rounding, and could make rows go round in circles.
inline constexpr double kLeastGain = 1e-12;

/// f(0), ..., f(rows) of the loss.
std::vector<double> loss_terms(Loss loss, std::size_t rows);

/// A canonical partition that is compared with many draws; it views its labels.
struct ComparedPartition {
  std::span<const Label> labels;
  std::size_t clusters;
  double own;  // sum of f over the cluster sizes
  std::vector<std::uint64_t> bits;
};

/// Exact expected losses under a set of draws.
class ExpectedLoss {
 public:
  /// `join_cost` is b above, 1 for equal costs.
  ExpectedLoss(const DrawSet& draws, Loss loss, double join_cost = 1.0);

  const DrawSet& draws() const { return draws_; }
  std::span<const double> terms() const { return terms_; }
  double join_cost() const { return join_cost_; }
  /// The part that does not depend on the partition: (2 - b) E_d[sum_l f(m_dl)].
  double constant() const { return constant_; }
  ComparedPartition prepare(std::span<const Label> labels, std::size_t clusters) const;
  /// Loss between a partition and draw d.
  double to_draw(const ComparedPartition& partition, std::size_t d);
  /// Average over the draws; may stop early, with a part of the sum, once that exceeds `limit`.
  double operator()(std::span<const Label> labels, std::size_t clusters,
                    double limit = std::numeric_limits<double>::infinity());

 private:
  double own(std::span<const Label> labels, std::size_t clusters) const;

  const DrawSet& draws_;
  DrawBits bits_;
  std::vector<double> terms_;
  double join_cost_;
  std::vector<double> own_of_draw_;
  double constant_ = 0.0;
  PairCounter counter_;
};

/// Exact expected losses of the cuts of a tree into 1, ..., count clusters; entry k - 1 belongs to k
/// clusters. Starts from the finest cut; each merge after it changes the overlaps of two clusters only.
std::vector<double> losses_of_cuts(const Linkage& tree, std::size_t count, const ExpectedLoss& loss);

class Descent {
 public:
  /// At most `max_cells` table cells (12 bytes each) are used; a partition that needs more is left as it is.
  Descent(const ExpectedLoss& loss, std::size_t max_clusters, std::size_t max_cells);

  /// Lowers the expected loss of canonical labels in place, until nothing helps, after `sweeps` passes, or
  /// when `work` (table cells that may still be read) is used up; subtracts from it what was used. Returns
  /// the number of clusters.
  std::size_t improve(Labels& labels, std::size_t sweeps, double& work);

  // For searches that choose their moves themselves, such as those in a tree of partitions.
  /// Takes in canonical labels, with a few empty clusters beside theirs; false if the table would be too
  /// large.
  bool build(std::span<const Label> labels);
  std::size_t slots() const { return slots_; }
  std::size_t size(std::size_t cluster) const { return sizes_[cluster]; }
  /// costs[k], for k < slots(): what the row, which is in `from`, would add to the loss of all other rows in
  /// cluster k, up to a constant of the row.
  void costs(std::size_t row, std::size_t from, std::vector<double>& costs) const;
  void move(std::size_t row, std::size_t from, std::size_t to);
  /// Table cells that one call of costs() reads.
  double work_per_row() const { return static_cast<double>(draws_.size() * (width_ + 4)); }

 private:
  std::vector<std::uint32_t> lines_of(std::size_t row) const;
  bool sweep(Labels& labels, double& work);
  bool merge_best_pair(Labels& labels, double& work);
  void sum_gains(const std::uint32_t* lines, double* sums) const;
  void set_count(std::size_t line, std::size_t cluster, std::uint32_t count);
  void move_row(const std::uint32_t* lines, std::size_t from, std::size_t to);

  const DrawSet& draws_;
  std::span<const double> terms_;
  std::vector<double> gains_;       // g(x)
  std::vector<double> size_gains_;  // b g(x): of the sizes of the partition's own clusters
  std::size_t max_clusters_;
  std::size_t max_cells_;
  double join_cost_;
  std::size_t width_ = 0;  // clusters side by side, a multiple of 8
  std::size_t slots_ = 0;  // of them usable
  std::vector<std::size_t> sizes_;
  std::vector<std::uint32_t> counts_;  // line x width
  AlignedVector table_;                // weight * g(count)
  std::vector<double> line_weight_;
};

}  // namespace coppice
