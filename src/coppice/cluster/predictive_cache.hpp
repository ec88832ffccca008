// Log predictives of a row under many statistics at once, eight at a time: what one draw takes to judge new
// rows. The caches are filled once for each draw, not once for each row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "coppice/base/aligned.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/family/family.hpp"

namespace coppice {

class PredictiveCache {
 public:
  /// `stats_of(place)` are the statistics of the places 0 to count - 1, at least one; the family must outlive
  /// the cache.
  template <typename StatsOf>
  void fill(const Family& family, std::size_t count, StatsOf&& stats_of) {
    family_ = &family;
    count_ = count;
    stride_ = family.cache_size() * kLanes;
    chunks_ = (count + kLanes - 1) / kLanes;
    cache_.resize(chunks_ * stride_);
    for (std::size_t slot = 0; slot < chunks_ * kLanes; ++slot)  // unused slots hold something finite
      family.fill_cache(stats_of(std::min(slot, count - 1)),
                        cache_.data() + slot / kLanes * stride_ + slot % kLanes);
  }

  std::size_t size() const { return count_; }

  /// out[place] = log p(row | statistics of the place), by the cells that are present.
  void log_predictives(const double* row, AlignedVector& out) const {
    out.assign(chunks_ * kLanes, 0.0);
    family_->add_log_predictive_of_present(row, cache_.data(), stride_, chunks_, out.data());
  }

 private:
  const Family* family_ = nullptr;
  std::size_t count_ = 0, stride_ = 0, chunks_ = 0;
  AlignedVector cache_;
};

}  // namespace coppice
