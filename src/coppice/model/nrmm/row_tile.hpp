// A tile of rows side by side in lanes, as batches of rows read them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "coppice/base/aligned.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/family/row_batches.hpp"

namespace coppice::nrmm {

class RowTile {
 public:
  explicit RowTile(std::size_t width) : width_(width), columns_(width * kTileRows) {}

  /// Takes `count` rows, row_at(i) for each, and fills up the last group of lanes with the last of them.
  template <typename RowAt>
  void fill(std::size_t count, RowAt&& row_at) {
    padded_ = (count + kLanes - 1) / kLanes * kLanes;
    for (std::size_t i = 0; i < padded_; ++i) {
      const double* row = row_at(std::min(i, count - 1));
      for (std::size_t j = 0; j < width_; ++j) columns_[j * kTileRows + i] = row[j];
    }
  }
  const double* columns() const { return columns_.data(); }
  std::size_t padded() const { return padded_; }

 private:
  std::size_t width_;
  std::size_t padded_ = 0;
  AlignedVector columns_;
};

}  // namespace coppice::nrmm
