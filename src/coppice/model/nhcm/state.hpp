// Rows in sub-clusters, sub-clusters in clusters, with the statistics of both. A row has a place: a slot,
// which is a sub-cluster or, if it holds no row, the opening of a cluster, where its next sub-cluster would
// be. Cluster 0 is always present and always empty: it represents the cluster that the next row or
// sub-cluster may open, so that opening needs no code of its own. Emptied slots are kept and used again.
// Every cluster keeps the Cholesky factor of its Psi; every slot keeps what its density needs in the layout
// of the Gaussian family's batch kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/family/gaussian.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/model/nhcm/evidence.hpp"
#include "coppice/prior/two_level_crp.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice::nhcm {

class State {
 public:
  static constexpr Label kNone = -1;
  static constexpr Label kNewCluster = 0;
  using Counts = TwoLevelCrp::Cluster;

  State(const Gaussian& family, const Rows& rows, const TwoLevelCrp& prior, double spread);

  /// Labels of both levels by row; rows that are not in yet have kNone.
  void assign(std::span<const Label> clusters, std::span<const Label> subclusters);
  /// Slots in the order of first appearance, statistics from the rows alone.
  void rebuild();
  /// Canonical labels of both levels, clusters first.
  void labels(std::span<Label> out) const;

  const Evidence& evidence() const { return evidence_; }
  const Rows& data() const { return *data_; }
  /// New statistics of all clusters for another spread.
  void set_spread(double spread);
  /// Takes in that the family has learned other hyper-parameters.
  void adopt_prior();
  /// What the clusters say of them.
  void get_moments(std::vector<GaussianMoments>& clusters) const;
  /// Takes in that the concentrations of the prior have changed.
  void refresh_weights();

  std::size_t rows() const { return sub_of_.size(); }
  std::size_t subclusters() const { return sub_sizes_.size() - free_slots_.size() - clusters() - 1; }
  std::size_t clusters() const { return counts_.size() - 1 - free_clusters_.size(); }
  /// Copies of a row, which count as so many rows in all numbers of rows here.
  std::uint32_t copies_of(std::size_t row) const { return static_cast<std::uint32_t>(data_->copies_of(row)); }
  /// Rows by slot: zeros for openings and for slots not in use.
  std::span<const std::uint32_t> sizes() const { return sub_sizes_; }
  std::span<const Counts> counts() const { return counts_; }
  std::span<const Label> subs_of(Label cluster) const { return subs_of_[index(cluster)]; }
  Label sub_of(std::size_t row) const { return sub_of_[row]; }
  Label cluster_of(Label sub) const { return cluster_of_[index(sub)]; }
  const double* sub_stats(Label sub) const { return sub_stats_.data() + index(sub) * sub_size_; }
  const double* cluster_stats(Label cluster) const {
    return cluster_stats_.data() + index(cluster) * cluster_size_;
  }
  double log_marginal(Label cluster) const { return log_marginal_[index(cluster)]; }
  double log_marginal() const;
  /// The same if the spread were another.
  double log_marginal_with(double spread);

  // ---- rows ----

  /// How many log weights log_conditional writes: the slots, padded to full lanes.
  std::size_t options() const { return padded(sub_sizes_.size()); }
  /// out[s] = log weight of the row in slot s, the row itself left out, if it is in; minus infinity for slots
  /// not in use.
  void log_conditional(std::size_t row, double* out) const;
  /// Takes the row to the slot; true if that is another place than before.
  bool place(std::size_t row, Label slot);
  bool is_opening(Label slot) const {
    return cluster_of(slot) != kNone && openings_[index(cluster_of(slot))] == slot;
  }
  void take_out(std::size_t row);
  /// Puts a row that is not in into a sub-cluster, which may be one that was just opened.
  void put(std::size_t row, Label sub);
  Label open_sub(Label cluster);

  // ---- whole sub-clusters ----

  /// out[c] = log weight of the sub-cluster in cluster slot c, itself left out; counts_.size() of them.
  void log_conditional_of_sub(Label sub, std::span<double> out) const;
  /// True if it was in another one.
  bool move_sub(Label sub, Label to);

  /// Takes these rows of one sub-cluster to a new one of the same cluster.
  void split_sub(Label sub, std::span<const std::uint32_t> rows);
  /// Puts all rows of `gone` into `kept`; both are in the same cluster.
  void merge_subs(Label kept, Label gone);
  /// Takes these sub-clusters of one cluster to a new one.
  void split_cluster(std::span<const Label> subs);
  void merge_clusters(Label kept, Label gone);
  /// All sub-clusters in the order of their first rows.
  void subs_by_first_row(Labels& out) const;
  /// Rows of the sub-clusters a or b, in ascending order.
  void members(Label a, Label b, std::vector<std::uint32_t>& out) const;

  /// Bytes of a state with this many rows, of as many copies, and slots of each kind.
  static std::size_t bytes(std::size_t rows, double copies, std::size_t dimension, std::size_t slots);

 private:
  void refresh_all();
  static std::size_t index(Label slot) { return static_cast<std::size_t>(slot); }
  static std::size_t padded(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

  double* mutable_sub(Label sub) { return sub_stats_.data() + index(sub) * sub_size_; }
  double* factor(Label cluster) { return factors_.data() + index(cluster) * evidence_.factor_size(); }
  const double* factor(Label cluster) const {
    return factors_.data() + index(cluster) * evidence_.factor_size();
  }
  Label open_slot(Label cluster);
  void close_slot(Label slot);
  Label open_cluster();
  void close_sub(Label sub);
  void close_cluster(Label cluster);
  void clear_slots();
  void add_row(std::size_t row, Label sub);
  void remove_row(std::size_t row);
  /// Takes the row with its copies out of the statistics of its sub-cluster. False: it has taken the digits
  /// of what is left with it.
  [[nodiscard]] bool subtract(double* sub, std::size_t row) const;
  void recompute_sub(Label sub);
  /// All that follows from the statistics of its sub-clusters.
  void refresh(Label cluster);
  void refresh_weights(Label cluster);
  void fill_cache(Label slot, Label cluster, const double* sub);
  void refresh_open_shift();
  /// log_conditional of a row with several copies.
  void weigh_copies(std::size_t row, double open_shift, double* out) const;
  void own_weights(std::size_t row, double open_shift, double* out) const;
  /// scratch_sub_ = the statistics of the row's sub-cluster without it, from the other rows.
  void gather_rest(std::size_t row) const;
  /// own_weights with a factorization of its own, for a row that dominates its cluster, or has several
  /// copies. scratch_sub_ holds what is left of its sub-cluster.
  void own_weights_beside_rest(std::size_t row, double open_shift, double* out) const;

  const Gaussian* family_;
  const Rows* data_;
  const TwoLevelCrp* prior_;
  Evidence evidence_;
  std::size_t sub_size_, cluster_size_, stride_;
  Labels sub_of_;
  // By slot.
  std::vector<std::uint32_t> sub_sizes_;
  Labels cluster_of_;
  std::vector<double> sub_stats_;
  Labels free_slots_;
  AlignedVector cache_, log_weight_;   // eight slots side by side, without the shift of openings
  double open_shift_[2] = {0.0, 0.0};  // for all sub-clusters, and for one less
  // By cluster.
  std::vector<Counts> counts_;
  std::vector<Labels> subs_of_;
  Labels openings_;
  std::vector<double> cluster_stats_, factors_, inverse_diagonals_, log_determinant_, log_marginal_;
  Labels free_clusters_;
  mutable std::vector<double> scratch_, scratch_factor_, scratch_sub_;
  mutable std::vector<bool> seen_;
  mutable Labels own_slots_;
  mutable AlignedVector own_;
};

}  // namespace coppice::nhcm
