// One column by itself, with its cells: how likely they are given clusters of the rows, and clusters of the
// rows made for it. What moves columns between partitions of the rows asks nothing else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/rng.hpp"

namespace coppice {

/// Clusters of rows laid out for counting: as sets of bits and as lists. Some may be empty.
class RowSets {
 public:
  explicit RowSets(std::size_t rows);

  void assign(std::span<const std::int32_t> labels);
  std::size_t clusters() const { return first_.size() - 1; }
  std::size_t words() const { return words_; }
  const std::uint64_t* bits(std::size_t cluster) const { return bits_.data() + cluster * words_; }
  std::span<const std::uint32_t> members(std::size_t cluster) const {
    return {members_.data() + first_[cluster], first_[cluster + 1] - first_[cluster]};
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::size_t> first_{0};
  std::vector<std::uint32_t> members_;
};

/// Clusters of the rows that were made row by row, with the probability of making them.
struct Allocation {
  std::vector<std::int32_t> labels;
  std::vector<double> sizes;  // of the clusters
  double log_joint = 0.0;     // log p(clusters) + log p(cells | clusters)
  double log_q = 0.0;         // log probability of the choices

  /// The cluster of a given label: the next new one if no row of that label has come yet.
  std::size_t place_of(std::int32_t label) {
    const auto index = static_cast<std::size_t>(label);
    if (place.size() <= index) place.resize(index + 1, -1);
    if (place[index] < 0) place[index] = static_cast<std::int32_t>(sizes.size());
    return static_cast<std::size_t>(place[index]);
  }

  // Room for what is made, kept so that the next one allocates nothing.
  std::vector<double> stats;
  AlignedVector cache, weights;
  std::vector<std::int32_t> place;
};

/// How clusters are made: the order of the rows, the concentration, and whether choices are drawn or given.
struct AllocationRule {
  std::span<const std::uint32_t> order;
  double alpha = 1.0;
  const std::int32_t* given = nullptr;  // labels that the choices must follow
  /// Making may end early once log_joint - log_q cannot but end below this.
  double log_stop = -1e300;
  const std::atomic<bool>* stop = nullptr;  // making many columns' clusters may be broken off
};

/// Belongs to one chain.
class CellColumn {
 public:
  virtual ~CellColumn() = default;
  /// Other values of the learned hyper-parameters, which must be valid; nothing if the cell does not learn.
  virtual void set_hyper(const double* values) = 0;
  /// log p(cells | clusters).
  virtual double log_marginal(const RowSets& clusters) const = 0;
  /// sums[i] += log p(cell of row i alone).
  virtual void add_log_alone(std::span<double> sums) const = 0;
  /// Row by row in the rule's order, those with a cell first, with weights size x predictive for the clusters
  /// so far and alpha x p(cell alone) for a new one. False: it ended early, and nothing was made.
  virtual bool allocate(const AllocationRule& rule, Stream& stream, Allocation& made) const = 0;
};

}  // namespace coppice
