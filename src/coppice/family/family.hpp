// A family is p(row | theta) with its conjugate prior, theta integrated out: statistics in, log probabilities
// out. Statistics are plain values, `stats_size()` doubles whose first one is the number of rows; the family
// itself is immutable and shared by all threads, but for a clone that one chain owns and whose
// hyper-parameters it learns. Rows are `width()` doubles, measured from the family's origin (the mean of a
// column of a Gaussian), with NaN for a missing cell.
//
// Sampling needs the predictive of one row under many clusters at once. For that each cluster keeps a cache
// of `cache_size()` doubles; the caches of eight clusters are interleaved (value j of the cluster in lane
// s is at cache[j * kLanes + s]), so that add_log_predictive works on eight clusters per instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/lanes.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/data/table.hpp"

namespace coppice {

/// What a cluster predicts for one cell, in the family's units (origin added back). Of a column with a spike
/// mean, variance, dof and scale are those of a value that is not at the spike.
struct CellPredictive {
  double mean = 0.0;
  double variance = 0.0;              // infinite if the predictive has none
  std::vector<double> probabilities;  // binary and category columns: one per level
  /// Real columns: a t distribution of that many degrees of freedom around the mean, of that scale; infinite:
  /// a normal distribution of that variance.
  double dof = std::numeric_limits<double>::infinity();
  double scale = 0.0;
  double spike = 0.0;  // the probability of the spike
};

/// The row's own cluster in add_log_predictive, whose predictive must leave the row out.
struct OwnCluster {
  std::size_t slot = static_cast<std::size_t>(-1);
  const double* stats = nullptr;
};

class CellColumn;

/// An inner node of a tree: two nodes (items come first, then made nodes in their order), or a block of
/// several items.
struct MadeNode {
  std::uint32_t left = 0, right = 0;
  std::span<const std::uint32_t> block = {};
};

class Family {
 public:
  Family() = default;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;

  virtual std::string_view name() const = 0;
  virtual std::size_t width() const = 0;
  virtual std::size_t stats_size() const = 0;
  virtual std::size_t theta_size() const = 0;
  virtual std::size_t cache_size() const = 0;
  /// Encoded cell = table cell - origin(column).
  virtual double origin(std::size_t column) const = 0;

  virtual void clear(double* stats) const = 0;
  virtual void add(double* stats, const double* row) const = 0;
  /// Takes out a row that was added. False: rounding has spoilt the result; rebuild from the rows that are
  /// left.
  [[nodiscard]] virtual bool remove(double* stats, const double* row) const = 0;
  virtual void merge(double* stats, const double* other) const = 0;

  /// The same for several copies of a row, as many as `copies` (a whole number) says.
  virtual void add_copies(double* stats, const double* row, double copies) const = 0;
  [[nodiscard]] virtual bool remove_copies(double* stats, const double* row, double copies) const = 0;
  /// log p(rows in stats and copies of a row), and log p(rows in stats without copies that are among them).
  virtual double log_marginal_with(const double* stats, const double* row, double copies) const;
  virtual double log_marginal_without(const double* stats, const double* row, double copies) const;

  /// log p(all rows in stats).
  virtual double log_marginal(const double* stats) const = 0;
  /// log p(row | rows in stats).
  virtual double log_predictive(const double* stats, const double* row) const = 0;

  /// A draw from the posterior of theta; from the prior for empty statistics.
  virtual void draw_theta(const double* stats, Stream& stream, double* theta) const = 0;
  virtual void draw(const double* theta, Stream& stream, double* row) const = 0;
  virtual double log_likelihood(const double* theta, const double* row) const = 0;

  /// Writes a cluster's cache: value j at cache[j * kLanes].
  virtual void fill_cache(const double* stats, double* cache) const = 0;
  /// out[s] += log p(row | cluster in slot s), for 8 * chunks slots; caches of chunk c start at cache + c *
  /// stride. For the row's own cluster the row itself is left out of the statistics (they hold at least two
  /// rows).
  virtual void add_log_predictive(const double* row, const double* cache, std::size_t stride,
                                  std::size_t chunks, const OwnCluster& own, double* out) const = 0;

  virtual CellPredictive predict_cell(const double* stats, std::size_t column) const = 0;
  /// log p(encoded cell | rows in stats), the other cells unknown. Error{bug} if the family takes no missing
  /// cells.
  virtual double cell_log_predictive(const double* stats, std::size_t column, double value) const;
  /// The same two given the other present cells of a row that is not in the statistics. Where cells are
  /// independent given the cluster, nothing else.
  virtual CellPredictive predict_cell_given(const double* stats, const double* row, std::size_t column) const;
  virtual double cell_log_predictive_given(const double* stats, const double* row, std::size_t column,
                                           double value) const;

  // Where cells depend on each other given the cluster, a row must be complete before it enters statistics:
  // the owner of the rows fills in missing cells, which are then part of a chain's state.
  /// Whether a missing cell of this column must be filled in.
  virtual bool must_fill(std::size_t /*column*/) const { return false; }
  /// Draws the missing cells that must be filled in given the present ones and the rows in stats, of which
  /// this row is none.
  virtual void draw_missing(const double* stats, Stream& stream, double* row) const;
  /// add_log_predictive for a row in no cluster, some of whose cells may be missing.
  virtual void add_log_predictive_of_present(const double* row, const double* cache, std::size_t stride,
                                             std::size_t chunks, double* out) const;
  /// out[i] = log p(row i by itself), for rows one after the other; some of their cells may be missing.
  virtual void log_marginals_alone(const double* rows, std::size_t count, double* out) const;

  // Hyper-parameters. A family that learns them has a prior of its own for them; a chain owns a clone and
  // updates them given its clusters.
  /// A copy that one chain owns and may change.
  virtual std::unique_ptr<Family> clone() const = 0;
  /// Memory of a copy, roughly, and of the tables that it has once its learned hyper-parameters change.
  virtual std::size_t bytes() const { return 0; }
  virtual std::size_t table_bytes() const { return 0; }
  /// Numbers of learned hyper-parameters; 0: none is learned.
  virtual std::size_t hyper_size() const { return 0; }
  /// As stored with a draw.
  virtual void get_hyper(double* values) const;
  /// Owner only. Throws Error{bad_data} for values outside of their range.
  virtual void set_hyper(const double* values);
  /// One name per number, "column.parameter" (without a column for those of the whole block).
  virtual std::vector<std::string> hyper_names() const;
  virtual double log_hyper_prior() const { return 0.0; }
  virtual void draw_hyper_prior(Stream& stream);
  /// The same for one cell, whose numbers these are. Only where cells are independent given the cluster.
  virtual void set_cell_hyper(std::size_t cell, const double* values);
  /// One update that leaves p(hyper | partition, data) invariant; clusters: statistics of the occupied
  /// clusters. At another power than 1 what it leaves invariant is p(hyper) p(data | partition, hyper)^power;
  /// joint blocks have no such update. Cells that restrict_to() has left out keep their values.
  void update_hyper(std::span<const double* const> clusters, Stream& stream, double power = 1.0) {
    update_hyper_at_power(clusters, stream, power);
  }
  /// Turns statistics made under the values `before` (as get_hyper wrote) into those under the present ones.
  virtual void rebase(double* stats, const double* before) const;
  /// A family for the same rows whose cells are independent given the cluster, under a prior scaled to the
  /// columns: it takes missing cells, and is much faster where there are many columns. nullptr if the cells
  /// of this one are independent, or if there is none.
  virtual std::unique_ptr<Family> with_independent_cells() const { return nullptr; }
  /// A few numbers that say where the learned values are, for the traces of a chain.
  virtual std::vector<std::string> hyper_trace_names() const;
  virtual void hyper_traces(double* values) const;

  // Greedy methods ask for the marginals of many unions of two clusters at once. Each cluster has
  // `union_size()` doubles for that, side by side as in a cache. What add_log_marginals gives is a function
  // of the two clusters, bit for bit, whichever of them comes first and wherever they stand.
  virtual std::size_t union_size() const { return stats_size(); }
  /// Writes a cluster's values: value j at cache[j * kLanes].
  virtual void fill_union(const double* stats, double* cache) const;
  /// out[s] += log p(rows of the one cluster and of the cluster in slot s), for 8 * chunks slots; `one` is as
  /// fill_union wrote it, the values of chunk c start at cache + c * stride.
  virtual void add_log_marginals(const double* one, const double* cache, std::size_t stride,
                                 std::size_t chunks, double* out) const;

  /// out[i] = log p(rows of made node i), the bits that add_log_marginals gives for it and no row at all.
  /// `items` are the statistics of single rows, `made` has room for those of the made nodes, `none` are the
  /// values of no row as fill_union writes them, and `values` has room for union_size() * kLanes doubles.
  virtual void log_marginals_upwards(const double* items, std::size_t count, std::span<const MadeNode> nodes,
                                     const double* none, double* made, double* values, double* out) const;

  // Most of these clusters are singletons. The union of the one cluster with any singleton then takes only
  // `single_size()` doubles of the one cluster, and `single_words()` words of bits for the cells of 64
  // singletons, which have few values.
  virtual std::size_t single_size() const { return 0; }
  virtual std::size_t single_words() const { return 0; }
  /// Of the one cluster, as fill_union wrote it.
  virtual void fill_single(const double* one, double* values) const;
  /// Writes the bits of a singleton, with these statistics, at place 0 to 63.
  virtual void set_single(const double* stats, std::size_t place, std::uint64_t* words) const;
  /// The same bits as add_log_marginals for 64 slots. The slots of the chunks in `chunks` (a bit each) hold
  /// singletons; what is added to the other slots is unspecified.
  virtual void add_log_marginals_of_singles(const double* one, const double* values,
                                            const std::uint64_t* words, const double* cache,
                                            std::size_t stride, unsigned chunks, double* out) const;

  /// The family of some cells (ascending) by themselves; nullptr if cells depend on each other given the
  /// cluster.
  virtual std::unique_ptr<Family> of_cells(std::span<const std::size_t> cells) const;
  /// From now on only these cells (ascending) count. Rows, statistics and caches keep their layout; what they
  /// hold for other cells is neither read nor written. Only for the sole owner of a family. False if cells
  /// depend on each other given the cluster.
  virtual bool restrict_to(std::span<const std::size_t> cells);
  /// The cells of the first column, one for each row, made ready for questions about clusters of the rows,
  /// which stay together with their copies (none given: each row is one); nullptr if cells depend on each
  /// other given the cluster.
  virtual std::unique_ptr<CellColumn> make_column(std::span<const double> cells,
                                                  std::span<const double> copies) const;

 protected:
  virtual void update_hyper_at_power(std::span<const double* const> clusters, Stream& stream, double power);

  Family(const Family&) = default;  // for clone()
};

inline double count_of(const double* stats) { return stats[0]; }

}  // namespace coppice
