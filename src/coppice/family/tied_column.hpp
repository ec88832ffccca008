// The column of rows with copies (see tied_copies.hpp). What it says of clusters of the rows is said of all
// copies: a cell counts as often as its row, and clusters that are made have the law of the Chinese
// restaurant process over the copies, where w of them join a cluster of N with the weight
// Gamma(N + w) / Gamma(N) and open one with alpha Gamma(w).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coppice/family/cell_column.hpp"
#include "coppice/family/family.hpp"

namespace coppice {

class TiedColumn final : public CellColumn {
 public:
  /// The family has one cell.
  TiedColumn(std::unique_ptr<Family> cell, std::span<const double> cells, std::span<const double> copies);

  void set_hyper(const double* values) override;
  double log_marginal(const RowSets& clusters) const override;
  void add_log_alone(std::span<double> sums) const override;
  /// Never ends early.
  bool allocate(const AllocationRule& rule, Stream& stream, Allocation& made) const override;

 private:
  void weigh_alone();
  /// Log weights of the clusters so far and of a new one.
  void fill_log_weights(double alpha, std::uint32_t row, Allocation& made) const;
  void join(std::uint32_t row, std::size_t chosen, Allocation& made) const;

  std::unique_ptr<Family> cell_;
  std::size_t size_;  // of the statistics of a cluster and, behind them, their log marginal
  std::vector<double> cells_, copies_, log_alone_;
  mutable std::vector<double> stats_;
};

}  // namespace coppice
