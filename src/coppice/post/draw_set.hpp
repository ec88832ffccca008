// The draws an estimate is made from: evenly spaced if there are too many, each distinct partition once with
// its weight, labels dense from 0. Draws that are dense already are viewed and not copied. The cluster c of
// draw d has the flat number offset(d) + c, which indexes tables over all clusters of all draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/shape/partition.hpp"
#include "coppice/shape/spaced.hpp"

namespace coppice {

class DrawSet {
 public:
  /// Uses at most `max_draws` (at least 1) evenly spaced draws. `draws` must outlive the set.
  DrawSet(const LabelMatrix& draws, std::size_t max_draws);
  DrawSet(const DrawSet&) = delete;
  DrawSet& operator=(const DrawSet&) = delete;

  std::size_t rows() const { return rows_; }
  std::size_t size() const { return entries_.size(); }  // distinct partitions
  std::size_t draws_used() const { return draws_used_; }
  std::span<const Label> operator[](std::size_t d) const { return entries_[d].labels; }
  std::size_t clusters(std::size_t d) const { return entries_[d].clusters; }
  double weight(std::size_t d) const { return entries_[d].weight; }  // sums to 1
  std::size_t offset(std::size_t d) const { return entries_[d].offset; }
  std::size_t all_clusters() const { return all_clusters_; }    // over all distinct draws
  std::size_t most_clusters() const { return most_clusters_; }  // in one draw

 private:
  struct Entry {
    std::span<const Label> labels;
    std::size_t clusters;
    std::size_t offset;
    double weight;
  };

  std::size_t rows_ = 0;
  std::size_t draws_used_ = 0;
  std::size_t all_clusters_ = 0;
  std::size_t most_clusters_ = 0;
  std::vector<Entry> entries_;
  std::vector<Labels> copies_;
};

}  // namespace coppice
