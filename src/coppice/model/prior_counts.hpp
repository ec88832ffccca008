// What an inference can do if its prior gives numbers of clusters without partitions.
#pragma once

#include <cstddef>

#include "coppice/base/rng.hpp"

namespace coppice {

class PriorCounts {
 public:
  virtual ~PriorCounts() = default;
  /// A number of clusters of the rows at the coarsest level, drawn from the prior with its parameters; the
  /// state stays as it is.
  virtual std::size_t draw_prior_count(Stream& stream) const = 0;
};

}  // namespace coppice
