// A partition of rows that carries its statistics: the state of every sampler of flat mixtures. Each cluster
// lives in a slot (a label); an emptied slot is kept and used again. Beside the statistics a slot has a cache
// for the batch predictive and the log weight of joining it, so that a Gibbs weight is one sum over
// contiguous memory. Moving a row costs two updates; nothing is allocated unless the number of slots passes
// its maximum so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

class Clusters {
 public:
  static constexpr Label kUnassigned = -1;

  /// `log_join[n]` is the log weight of joining a cluster of n rows; it must outlive the clusters.
  Clusters(const Family& family, const Rows& rows, std::span<const double> log_join);

  /// All rows at once: canonical labels, statistics from the rows alone. Unassigned rows (-1) are allowed.
  void assign(std::span<const Label> labels);
  /// assign(labels()) with the labels made canonical: the state becomes a function of the partition.
  void rebuild();

  std::size_t rows() const { return labels_.size(); }
  std::span<const Label> labels() const { return labels_; }
  Label label(std::size_t row) const { return labels_[row]; }
  /// Sizes by slot, with zeros for the empty ones.
  std::span<const std::uint32_t> sizes() const { return {sizes_.data(), slots_}; }
  std::uint32_t size(Label slot) const { return sizes_[static_cast<std::size_t>(slot)]; }
  std::size_t clusters() const { return slots_ - free_.size(); }
  const double* stats(Label slot) const {
    return stats_.data() + static_cast<std::size_t>(slot) * stats_size_;
  }
  const Family& family() const { return *family_; }
  const Rows& data() const { return *data_; }

  /// How many log weights log_conditional writes: the slots, padded to full lanes.
  std::size_t weights_size() const { return chunks() * kLanes; }
  /// out[s] = log weight of the row joining slot s, the row itself left out; minus infinity for empty slots.
  void log_conditional(std::size_t row, double* out) const;

  /// The same for a row that is in no cluster, by the cells that are present in `cells`.
  void log_conditional_of_present(const double* cells, double* out) const;

  /// Takes the row to the slot (one that is in use).
  void move(std::size_t row, Label to);
  /// Takes the row to a cluster of its own; returns its slot.
  Label move_to_new(std::size_t row);
  void add(std::size_t row, Label to);
  /// Takes the row out of its cluster; its cells may then change.
  void take_out(std::size_t row) { detach(row); }
  /// Statistics of no rows.
  const double* empty_stats() const { return empty_.data(); }
  /// The slot in which the next new cluster will open.
  Label next_slot() const;

  /// Takes rows of one slot together to another slot in use, or to a cluster of their own if `to` is
  /// kUnassigned; returns where they are. `block` are the statistics of these rows, `rest` those of the rows
  /// that stay behind.
  Label move_block(std::span<const std::uint32_t> rows, const double* block, const double* rest, Label to);
  /// Splits `members_of_new` (rows of `slot`) off into a new cluster; recomputes both statistics.
  void split(Label slot, std::span<const std::uint32_t> members_of_new);
  /// Puts all rows of `gone` into `kept` and recomputes its statistics.
  void merge(Label kept, Label gone);
  /// Takes in that the values of the table `log_join` have changed.
  void refresh_weights();
  /// Takes in that the family's hyper-parameters have changed; `before` are those of the statistics.
  void rebase(const double* before);
  /// Rows of the slots a or b, in ascending order.
  void members(Label a, Label b, std::vector<std::uint32_t>& out) const;

  /// Log marginal of one cluster, computed when it is first asked for after a change.
  double log_marginal(Label slot) const;
  /// Sum of the clusters' log marginals.
  double log_marginal() const;

  /// Bytes that clusters of this many rows and columns will take, for the estimate before a run.
  static std::size_t bytes(const Family& family, std::size_t rows, std::size_t slots);

 private:
  std::size_t chunks() const { return (slots_ + kLanes - 1) / kLanes; }
  double* mutable_stats(Label slot) { return stats_.data() + static_cast<std::size_t>(slot) * stats_size_; }
  Label open();
  void detach(std::size_t row);
  void refresh(Label slot);  // cache and weight from statistics and size
  void recompute(Label slot);

  const Family* family_;
  const Rows* data_;
  std::span<const double> log_join_;
  std::size_t stats_size_, stride_;
  Labels labels_;
  std::size_t slots_ = 0;
  std::vector<std::uint32_t> sizes_;
  std::vector<Label> free_;
  AlignedVector stats_, cache_, log_weight_;
  std::vector<double> empty_;
  mutable std::vector<double> log_marginal_;  // NaN: not known
};

}  // namespace coppice
