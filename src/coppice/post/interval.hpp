// The intervals of values that are reported: of imputed and predicted cells, of clusters and of columns.
#pragma once

namespace coppice {

/// The probability below such an interval, and above it.
inline constexpr double kIntervalTail = 0.05;

}  // namespace coppice
