// Co-clustering between groups of rows instead of rows: what a picture of many rows can show, and what a tree
// of clusters is made from, without a matrix of rows x rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/shape/partition.hpp"

namespace coppice {

/// Entry (a, b) of the bins x bins matrix is the share of draws in which two different rows, one of bin a and
/// one of bin b, are in the same cluster, averaged over all such pairs; 1 for the pairs within a bin of one
/// row. Every bin must have a row. `bin_of_row` has a number below `bins` for every row. The result does not
/// depend on `threads` (0: all). Error{usage} if there is no draw or the sizes do not fit.
std::vector<double> binned_coclustering(const LabelMatrix& draws, std::span<const std::uint32_t> bin_of_row,
                                        std::size_t bins, std::size_t threads = 1);

}  // namespace coppice
