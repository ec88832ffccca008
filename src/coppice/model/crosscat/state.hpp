// The state of one replica: a partition of the columns into views, in each view a partition of the rows with
// its statistics, and the hyper-parameters of each column, where they are learned. The target is (prior times
// likelihood) to a power; the prior is that of the concentrations too, where they are learned. The prior of
// the hyper-parameters is the same at every power.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/cluster/gibbs_sweep.hpp"
#include "coppice/model/crosscat/columns.hpp"
#include "coppice/model/crosscat/options.hpp"
#include "coppice/model/crosscat/relatives.hpp"
#include "coppice/model/crosscat/view.hpp"
#include "coppice/shape/views.hpp"

namespace coppice::crosscat {

struct Concentrations {
  double rows = 1.0, columns = 1.0;
};

struct MoveCounts {
  MoveCount columns, view_splits, view_merges, rows, splits, merges;
};

class State {
 public:
  /// The columns must outlive it, and are its own if hyper-parameters are learned.
  State(Columns& table, const Options& options, double power, const std::atomic<bool>* stop = nullptr);

  /// Rows of different views are updated at once; each view has streams of its own, so the threads do not
  /// change a bit.
  void use_threads(std::size_t threads) { threads_ = threads; }

  void set(const Views& views);
  /// Both must be above zero.
  void set_concentrations(const Concentrations& values);
  Concentrations concentrations() const { return {row_prior_->alpha(), column_prior_->alpha()}; }
  /// To be followed by set(), which makes the statistics under these values.
  void set_hyper(std::span<const double> values) { table_->set_hyper(values); }
  std::span<const double> hyper() const { return table_->hyper(); }
  Views views() const;
  /// Orders views by their first columns, makes labels canonical and recomputes statistics.
  void rebuild() { set(views()); }
  /// The content of the other one, at the power of this one, and the reverse.
  void exchange(State& other);

  /// Every column in random order: out of its view, then into one of the others; a share of them, drawn
  /// without regard to the state, are offered a new one too.
  void column_sweep(Stream& stream, double new_view_share);
  /// Split and merge of views: of two columns drawn without regard to the state, the views are merged, or
  /// their common one is split. The rows of what comes are clustered by sequential allocation.
  void split_merge_views(Stream& stream, std::size_t moves, const StreamName& name, Relatives& relatives);
  /// Rows of every view; each view has a stream of its own, named by `first_index` and the view.
  void row_sweep(const StreamName& name, std::uint64_t first_index);
  void split_merge(const StreamName& name, std::uint64_t first_index);
  /// Those that are learned, given the partitions.
  void update_concentrations(Stream& stream);
  /// Learned hyper-parameters of the columns given the clusters of their views; streams as in row_sweep.
  void update_hyper(const StreamName& name, std::uint64_t first_index);

  void draw_prior(Stream& stream);
  /// To be followed by set() or draw_prior().
  void draw_hyper_prior(Stream& stream) { table_->draw_hyper_prior(stream); }

  /// What the power is put on, to the power 1: without the prior of the hyper-parameters.
  double log_tempered() const;
  double log_joint() const { return log_tempered() + table_->log_hyper_prior(); }
  std::size_t count() const { return views_.size(); }
  const View& view(std::size_t index) const { return *views_[index]; }
  MoveCounts counts() const;
  void set_counts(const MoveCounts& counts);

 private:
  /// Before and after columns change their views.
  void begin_columns(Stream& stream);
  void end_columns();
  void split_merge_view(std::size_t first, std::size_t second, const StreamName& name, Relatives& relatives,
                        Stream& stream);
  /// log weight of clusters of the rows that are made for these columns, or of those they have: their target
  /// density over the probability of making them.
  double weigh_view(std::span<const std::size_t> cells, const Label* own, Stream& stream, Allocation& made);
  void update_column(std::size_t column, bool is_offered, Stream& stream);
  /// Log weights of the views that there are, into log_weights_: minus infinity for one that would be empty
  /// without the column.
  void weigh_views(std::size_t column);
  /// Makes the clusters of the rows in the new views that the column is offered, and appends their log
  /// weights. False: together they weigh less than `log_enough`.
  bool weigh_new_views(std::size_t column, double log_enough, Stream& stream);
  void draw_from_prior(std::size_t column, const Label* given, Stream& stream, Allocation& made);
  void move_column(std::size_t column, std::size_t to);
  /// The place of a view without columns.
  std::size_t open_view();
  void retire(std::unique_ptr<View> view);

  /// body(v) for every view, several at once if there are rows enough to gain by it.
  template <typename Body>
  void for_each_view(Body&& body);

  Columns* table_;
  Options options_;
  std::size_t threads_ = 1;
  double power_;
  const std::atomic<bool>* stop_;                  // looked at between columns and between rows
  std::unique_ptr<Crp> row_prior_, column_prior_;  // views point to the first
  std::vector<GibbsSweep> sweeps_;                 // of each view
  std::vector<std::unique_ptr<View>> views_, spare_;
  MoveCounts counts_;  // beside those that the views keep themselves
  // Of the sweep over columns.
  std::vector<std::size_t> home_;
  std::vector<std::uint32_t> column_order_, row_order_;
  std::vector<double> log_weights_;
  std::vector<Allocation> offered_;
  RowSets offered_sets_;
  // Of split and merge of views.
  std::unique_ptr<View> offer_;  // makes the clusters of new views
  std::vector<std::size_t> sides_[2], both_;
  Allocation made_[3];  // for both sides and for both together
};

}  // namespace coppice::crosscat
