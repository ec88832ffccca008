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
  MoveCount columns, view_splits, view_merges, view_divisions, rows, splits, merges;
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
  /// Moves of views: of two columns drawn without regard to the state, the common view is split; if they have
  /// two, these are merged, or their columns are divided between them again.
  void move_views(Stream& stream, std::size_t moves, const StreamName& name, Relatives& relatives);
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
  void move_view(std::size_t first, std::size_t second, const StreamName& name, Relatives& relatives,
                 Stream& stream);
  /// The rows of the view that the second column founds, into launched_, from a few of its relatives.
  void launch_view(std::size_t first, std::size_t second, const StreamName& name, Relatives& relatives,
                   Stream& stream);
  /// log p(column | rows) of the columns both_, into log_fit_ of the side.
  void fit_columns(std::span<const Label> rows, std::size_t side);
  /// One scan over the columns from the launched sides, into sides_; or along the way to the division that is
  /// there. Its log probability.
  double divide(std::size_t first, std::size_t second, bool is_given, Stream& stream);
  /// log target density of a view (its rows and columns, without the prior of the columns), and the log
  /// probability of the scan that led to its rows.
  struct Way {
    double log_joint, log_q;
  };
  /// Rows for these columns by a scan that begins with those of another view, or along the way to `goal`.
  Way carry_rows(std::span<const std::size_t> cells, std::span<const Label> from, const Label* goal,
                 Stream& stream);
  /// Rows of the founded view with the columns sides_[1].
  Way found_rows(const Label* goal, Stream& stream);
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
  // Of the moves of views: the view that stays and the one that is founded.
  GibbsSweep launching_;
  std::unique_ptr<View> offers_[2];
  Labels launched_, carried_, founded_;
  std::vector<std::size_t> both_, sides_[2], proposed_[2];
  std::vector<std::uint8_t> launch_of_, side_of_;  // side of each column of both_, as launched and as divided
  std::vector<double> log_fit_[2];                 // of each column of both_ in either view
};

}  // namespace coppice::crosscat
