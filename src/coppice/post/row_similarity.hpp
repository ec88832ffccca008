// How similar two rows are: the posterior probability that they belong to one cluster. With views, a row has
// a cluster for each column, that of the column's view, and the similarity given some columns is the mean
// over these. Without views all columns share one partition; given some columns, two rows are then judged by
// these cells alone: the probability, averaged over the draws, that two new rows with these cells would join
// the same one of the draw's clusters.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/post/analysis.hpp"

namespace coppice {

/// The similarity of `row` to every row; to itself it is 1. `columns` are those of the table, none: all.
/// Error{usage} for a row or column that is not there.
std::vector<double> row_similarity(const Analysis& analysis, std::size_t row,
                                   std::span<const std::size_t> columns, std::size_t level = 1,
                                   std::size_t threads = 0);

}  // namespace coppice
