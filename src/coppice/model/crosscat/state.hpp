// The state of one replica: a partition of the columns into views, and in each view a partition of the rows
// with its statistics. The target is (prior times likelihood) to a power.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/gibbs_sweep.hpp"
#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/crosscat/options.hpp"
#include "coppice/prior/crp.hpp"
#include "coppice/shape/views.hpp"

namespace coppice::crosscat {

/// What all replicas share: the columns one by one, and the priors.
class Columns {
 public:
  /// Throws Error{configuration} if columns depend on each other within a cluster.
  Columns(const Family& family, const Rows& rows, const Options& options);

  std::size_t count() const { return columns_.size(); }
  std::size_t rows() const { return rows_->size(); }
  const Family& all() const { return *family_; }
  const Rows& table() const { return *rows_; }
  const Family& family(std::size_t column) const { return *columns_[column].family; }
  const double* cell(std::size_t column, std::size_t row) const {
    return columns_[column].cells.data() + row;
  }
  /// The cells of the table are other ones now.
  void data_changed();

  const Crp& row_prior() const { return row_prior_; }
  const Crp& column_prior() const { return column_prior_; }

 private:
  struct Column {
    std::unique_ptr<Family> family;
    std::vector<double> cells;
  };
  const Family* family_;
  const Rows* rows_;
  std::vector<Column> columns_;
  Crp row_prior_, column_prior_;
};

/// Some columns with a partition of the rows.
class View {
 public:
  View(const Columns& table, std::vector<std::size_t> cells, std::span<const Label> labels,
       const SplitMergeOptions& options);

  std::span<const std::size_t> cells() const { return cells_; }
  const Clusters& clusters() const { return *clusters_; }
  Labels labels() const { return {clusters_->labels().begin(), clusters_->labels().end()}; }
  /// log p(rows' partition) + log p(cells | partition).
  double log_joint() const;

  void gibbs(GibbsSweep& sweep, Stream& stream);
  void split_merge(Stream& stream);
  const MoveCount& splits() const { return split_merge_->splits(); }
  const MoveCount& merges() const { return split_merge_->merges(); }
  void rebuild() { clusters_->rebuild(); }

 private:
  const Columns* table_;
  std::vector<std::size_t> cells_;
  std::unique_ptr<Family> family_;
  std::unique_ptr<Rows> rows_;
  std::unique_ptr<Clusters> clusters_;
  std::unique_ptr<SplitMerge> split_merge_;
  std::vector<double> log_marginal_alone_;
};

struct MoveCounts {
  MoveCount columns, rows, splits, merges;
};

class State {
 public:
  State(const Columns& table, const Options& options, double power);

  void set(const Views& views);
  Views views() const;
  /// Views by their first columns, labels canonical, statistics anew.
  void rebuild() { set(views()); }
  /// The content of the other one, at the power of this one, and the reverse.
  void exchange(State& other);

  /// Every column in random order: out of its view, then into one of the others or a new one.
  void column_sweep(Stream& stream);
  /// Rows of every view; each view has a stream of its own, named by `first_index` and the view.
  void row_sweep(const StreamName& name, std::uint64_t first_index);
  void split_merge(const StreamName& name, std::uint64_t first_index);

  void draw_prior(Stream& stream);

  double log_joint() const;  // to the power 1
  std::size_t count() const { return views_.size(); }
  const View& view(std::size_t index) const { return *views_[index]; }
  const MoveCounts& counts() const { return counts_; }
  void set_counts(const MoveCounts& counts) { counts_ = counts; }

 private:
  /// A view during the sweep over columns: which columns it has, and the clusters of the rows.
  struct Draft {
    std::vector<std::size_t> cells;
    Labels labels;
    std::size_t clusters = 0;
    std::unique_ptr<View> made;  // until its columns change
  };
  /// Clusters of the rows that a new view of a column would have, and the log probability of proposing them.
  struct Proposal {
    Labels labels;
    std::size_t clusters = 0;
    double log_prior = 0.0, log_likelihood = 0.0, log_q = 0.0;
  };
  double log_likelihood(std::size_t column, std::span<const Label> labels, std::size_t clusters);
  /// Row by row in `order`; `given`: the choices are these labels and not drawn.
  Proposal allocate(std::size_t column, std::span<const std::uint32_t> order, const Labels* given,
                    Stream& stream);
  Proposal draw_from_prior(std::size_t column, std::span<const std::uint32_t> order, const Labels* given,
                           Stream& stream);
  double log_partition(std::span<const Label> labels) const;
  void note(const View& view);

  const Columns* table_;
  Options options_;
  double power_;
  GibbsSweep gibbs_;
  std::vector<std::unique_ptr<View>> views_;
  MoveCounts counts_;
  std::vector<double> stats_;
};

}  // namespace coppice::crosscat
