// Batches of rows whose columns are independent given the cluster. A Cell may have likelihood_size,
// fill_likelihood (what eight rows need of drawn parameters) and lane_log_likelihood (of eight cells, up to a
// term that depends on the cell alone); without these its log_likelihood is asked cell by cell. A missing
// cell adds nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/lanes.hpp"
#include "coppice/data/table.hpp"
#include "coppice/family/row_batches.hpp"

namespace coppice {

/// `Place` has the cell and where its column and its parameters are.
template <typename Cell, typename Place>
class CellLikelihoods final : public Likelihoods {
 public:
  CellLikelihoods(std::span<const Place> places, std::span<const double> thetas, std::size_t theta_size)
      : places_(places), clusters_(theta_size == 0 ? 0 : thetas.size() / theta_size) {
    for (const Place& at : places_) {
      begins_.push_back(size_);
      size_ += size_of(*at.cell);
    }
    values_.resize(clusters_ * size_);
    for (std::size_t k = 0; k < clusters_; ++k)
      for (std::size_t i = 0; i < places_.size(); ++i)
        fill(*places_[i].cell, thetas.data() + k * theta_size + places_[i].theta,
             values_.data() + k * size_ + begins_[i]);
  }

  void add(const double* columns, std::size_t count, double* out) override {
    for (std::size_t k = 0; k < clusters_; ++k) {
      const double* values = values_.data() + k * size_;
      double* sums = out + k * kTileRows;
      for (std::size_t row = 0; row < count; row += kLanes) {
        Lanes total = load_lanes(sums + row);
        for (std::size_t i = 0; i < places_.size(); ++i) {
          const Lanes x = load_lanes(columns + places_[i].column * kTileRows + row);
          const Lanes term = log_likelihood(*places_[i].cell, values + begins_[i], x);
          total += x == x ? term : Lanes{};
        }
        store_lanes(sums + row, total);
      }
    }
  }

 private:
  static constexpr bool kHasLanes = requires(const Cell& cell) { cell.likelihood_size(); };

  static std::size_t size_of(const Cell& cell) {
    if constexpr (kHasLanes)
      return cell.likelihood_size();
    else
      return cell.theta_size();
  }
  static void fill(const Cell& cell, const double* theta, double* values) {
    if constexpr (kHasLanes)
      cell.fill_likelihood(theta, values);
    else
      std::copy_n(theta, cell.theta_size(), values);
  }
  static Lanes log_likelihood(const Cell& cell, const double* values, Lanes x) {
    if constexpr (kHasLanes) {
      return cell.lane_log_likelihood(values, x);
    } else {
      Lanes result{};
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        if (!is_missing(x[lane])) result[lane] = bounded_log(cell.log_likelihood(values, x[lane]));
      return result;
    }
  }

  std::span<const Place> places_;
  std::size_t clusters_;
  std::size_t size_ = 0;
  std::vector<std::size_t> begins_;
  std::vector<double> values_;
};

/// The cells of one column, some of them missing, into the statistics of that column.
template <typename Cell>
void add_cells(const Cell& cell, double* stats, const double* column, std::size_t stride,
               std::span<const std::uint32_t> which, std::vector<double>& room) {
  if constexpr (requires { cell.add_all(stats, std::span<const double>()); }) {
    room.clear();
    for (const std::uint32_t row : which)
      if (const double x = column[row * stride]; !is_missing(x)) room.push_back(x);
    if (room.empty()) return;
    const std::size_t size = cell.stats_size();
    const std::size_t count = room.size();
    room.resize(count + size);
    double* added = room.data() + count;
    cell.clear(added);
    cell.add_all(added, {room.data(), count});
    cell.merge(stats, added);
  } else {
    for (const std::uint32_t row : which)
      if (const double x = column[row * stride]; !is_missing(x)) cell.add(stats, x);
  }
}

}  // namespace coppice
