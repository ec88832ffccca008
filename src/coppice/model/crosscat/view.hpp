// A view: some columns with a partition of the rows. Its family covers the whole table and is restricted to
// the view's columns, so that a column that comes or goes moves no memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/gibbs_sweep.hpp"
#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/crosscat/columns.hpp"
#include "coppice/prior/crp.hpp"

namespace coppice::crosscat {

class View {
 public:
  /// Both must outlive it; the prior may change between its uses.
  View(const Columns& table, const Crp& row_prior, const SplitMergeOptions& options);

  /// Replaces the columns and the labels of the rows; recomputes the statistics.
  void set(std::span<const std::size_t> cells, std::span<const Label> labels);
  /// The same columns and labels, made canonical.
  void rebuild();

  // While columns change their views, only the list of columns and the sets of rows are kept up; refresh()
  // brings the rest after them.
  void add_column(std::size_t column);
  void remove_column(std::size_t column);
  /// A view without columns, its rows in these clusters.
  void begin(std::span<const Label> labels);
  /// Takes in where the rows are now.
  void note_rows() { sets_.assign(clusters_.labels()); }
  void refresh();

  std::span<const std::size_t> cells() const { return cells_; }
  const RowSets& sets() const { return sets_; }
  std::span<const Label> labels() const { return is_stale_ ? labels_ : clusters_.labels(); }
  const Clusters& clusters() const { return clusters_; }
  /// log p(rows' partition) + log p(cells | partition), at the columns' hyper-parameters.
  double log_joint() const;

  void gibbs(GibbsSweep& sweep, Stream& stream);
  void split_merge(Stream& stream);
  /// Updates the hyper-parameters of the view's columns given the clusters, and tells the columns.
  void update_hyper(Columns& table, double power, Stream& stream);
  // Clusters of the rows as proposals: such a view is in no state.
  /// Room for the usual number of clusters: most scans then never allocate.
  void reserve_scans();
  /// Made for these columns, row by row in the order.
  void allocate(std::span<const std::size_t> cells, std::span<const std::uint32_t> order, GibbsSweep& sweep,
                Stream& stream);
  /// One scan over the rows from the clusters as they are, every row joining one of them or a new one with
  /// the weights of a Gibbs update at this power; or the way to the clusters `goal`. Clusters keep their
  /// names on the way: those that are there are matched with those that come by the rows they share, and only
  /// the way that agrees with this counts. Returns its log probability, minus infinity if it was another.
  double scan(std::span<const std::uint32_t> order, double power, const Label* goal, Stream& stream,
              const std::atomic<bool>* stop = nullptr);
  const MoveCount& splits() const { return split_merge_.splits(); }
  const MoveCount& merges() const { return split_merge_.merges(); }
  void clear_counts() { split_merge_.set_counts({}, {}); }
  /// What a view of a table takes that has had this many clusters.
  static std::size_t bytes(const Family& family, std::size_t rows, std::size_t slots);

 private:
  void number_rows(std::span<const Label> labels, Labels& out);
  void change_columns();
  void sum_log_alone();

  const Columns* table_;
  const Crp* row_prior_;
  std::vector<std::size_t> cells_;
  std::unique_ptr<Family> family_;
  Clusters clusters_;
  SplitMerge split_merge_;
  RowSets sets_;
  Labels labels_;  // of a view whose columns have changed
  std::vector<Label> names_;
  std::vector<std::size_t> added_;  // columns whose statistics are missing
  bool is_stale_ = false;
  std::vector<double> log_marginal_alone_;
  // Of the update of hyper-parameters.
  std::vector<double> before_, after_;
  std::vector<const double*> occupied_;
  // Of scan().
  struct Overlap {
    std::uint32_t rows, before, after;
  };
  void match_names(std::span<const Label> before, std::span<const Label> after);
  AlignedVector weights_;
  Labels before_scan_, after_scan_;
  std::vector<Label> place_;    // of the clusters that come: the slot, or kUnassigned
  std::vector<Label> taker_;    // of the clusters that were there
  std::vector<char> is_fresh_;  // slots that were opened on the way
  std::vector<std::uint32_t> shared_;
  std::vector<Overlap> overlaps_;
};

}  // namespace coppice::crosscat
