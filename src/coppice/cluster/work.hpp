// What moves cost, counted so that no clock has a part in it: the unit is the predictive of one row under
// eight clusters, which is one step of a Gibbs scan. Rough averages over the families; they decide how many
// moves a sweep makes, never which state is right.
#pragma once

#include <cstdint>

namespace coppice {

using Work = std::uint64_t;

/// A row that enters or leaves a cluster: its statistics and its cache.
inline constexpr Work kWorkOfChange = 4;
/// The marginal of a union of two clusters.
inline constexpr Work kWorkOfUnion = 16;

}  // namespace coppice
