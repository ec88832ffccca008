// The nested Chinese restaurant process: a tree of fixed depth in which the rows at every inner node are
// divided among its children by a Chinese restaurant process with the same concentration,
//   log p(tree) = sum over inner nodes z of [ lgamma(alpha) - lgamma(alpha + N_z) + |Ch(z)| log alpha
//                                             + sum over children of lgamma(N_child) ].
#pragma once

#include "coppice/base/rng.hpp"
#include "coppice/prior/concentration.hpp"
#include "coppice/shape/level_tree.hpp"

namespace coppice {

double log_nested_crp(const LevelTree& tree, double alpha);

/// Paths of all rows from the prior.
void draw_nested_crp(Stream& stream, double alpha, LevelTree& tree);

/// One exact Gibbs update of alpha given the tree: an auxiliary Beta(alpha, N_z) for every inner node.
double update_nested_crp(Stream& stream, const GammaPrior& prior, double alpha, const LevelTree& tree);

}  // namespace coppice
