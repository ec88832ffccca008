// Answers of a run as plain matrices, the same for sampled and greedy models: for bindings and exports.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/data/table.hpp"
#include "coppice/post/analysis.hpp"
#include "coppice/post/predict.hpp"

namespace coppice {

/// Where new rows (in the units of the model) belong at a level; the clusters of a hierarchy's levels are
/// nested.
std::vector<Prediction> predict_rows(const Analysis& analysis, const Table& rows, std::size_t level,
                                     Selection selection, std::size_t threads);
/// The share of each training row in the groups of a partition of the rows at a level.
std::vector<Membership> memberships(const Analysis& analysis, std::size_t level,
                                    std::span<const Label> groups);
/// rows x rows: the fraction of draws in which two rows are together; of a greedy model its probability over
/// the partitions that cutting its tree can give.
std::vector<double> coclustering_matrix(const Analysis& analysis, std::size_t level, std::size_t threads);
/// The tree over the rows, as SciPy has it (4 numbers for each merge): of a greedy model its own, else that
/// of co-clustering at a level (0: of the average over all). Throws Error{configuration} for a forest.
std::vector<double> linkage_matrix(const Analysis& analysis, std::size_t level);

}  // namespace coppice
