// Data given clusters: how every model of clusters simulates rows.
#pragma once

#include <cstddef>
#include <span>

#include "coppice/base/rng.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// Each of the labels 0 to clusters - 1 draws its parameters from the prior, then every row its cells, from
/// the cell `first` on, by its label.
void draw_clusters(const Family& family, std::span<const Label> labels, std::size_t clusters, Stream& stream,
                   Rows& rows, std::size_t first = 0);

/// Throws Error{bug} for rows with copies: partitions are drawn row by row, not given that copies stay
/// together.
void refuse_copies(const Rows& rows);

}  // namespace coppice
