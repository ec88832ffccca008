// A column that was not in the fit, given a tree over the rows: with M(c) the log marginal of its cells in
// the rows of node c and r_c the probability that c is one cluster,
//   Q(c) = r_c exp M(c) + (1 - r_c) Q(left) Q(right),
// so that exp of the result is the joint probability of all its present cells, averaged over the partitions
// that cutting the tree can give; over several trees the product.
#pragma once

#include <span>

#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/shape/dendrogram.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// The family has the new columns alone, as have the rows, with their numbers of copies behind if they have
/// them; items of the tree are rows.
double log_new_column(const Dendrogram& tree, const Family& family, const Rows& rows);

/// The lower bound on the log evidence of the rows by a greedy tree of their own.
double log_bound_of_rows(const Family& family, const Rows& rows, double alpha);

/// log p(all present cells | clusters of the rows).
double log_marginal_of_clusters(const Family& family, const Rows& rows, std::span<const Label> labels);

}  // namespace coppice
