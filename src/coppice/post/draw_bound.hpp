// Which draws could have a smaller expected loss than a partition that was found: most are excluded by a
// lower bound, at a fraction of the cost of their loss. Row i of draw c contributes E_d[log(n_c(i) m_d(i) /
// n_cd(i)^2)] >= 0 to the VI, where n_c(i), m_d(i) and n_cd(i) are the sizes of its clusters in c, in draw d
// and in both. By Jensen's inequality E_d[log n_cd(i)] is at most log E_d[n_cd(i)], and E_d[n_cd(i)] is a sum
// of co-clustering counts. That alone is loose for rows that are sometimes elsewhere, so the draws are parted
// into those that leave the row with most of its cluster in the found partition and the others, and the
// inequality is used in each part. For Binder's loss the same sum without logarithms is exact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/post/descent.hpp"

namespace coppice {

/// Those of the asked draws (ascending) whose bound is not above `limit`. `counts` are the co-clustering
/// counts of `total` draws, all of which stand in the set; `found` is any partition with labels below
/// `clusters`. Fewer than 65536 rows and draws.
std::vector<std::size_t> draws_below_bound(const DrawSet& draws, std::span<const std::uint32_t> counts,
                                           std::size_t total, Loss loss, std::span<const Label> found,
                                           std::size_t clusters, double limit,
                                           std::vector<std::size_t> asked);

}  // namespace coppice
