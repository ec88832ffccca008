// Hierarchies of Dirichlet processes on a finite set of atoms and a remainder: what the weights of a child
// given those of its parent, and the counts of tables in its restaurant, need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coppice/base/rng.hpp"

namespace coppice {

/// The number of tables that `customers` customers of one dish take in a Dirichlet process of mass `mass` at
/// that dish (Antoniak 1974): sum over i < customers of Bernoulli(mass / (mass + i)). Exact, in
/// O(mass log customers) steps: inside a block of doubling length, successes are found by geometric skips at
/// the block's highest probability and kept with the ratio of the probabilities.
std::uint64_t draw_table_count(Stream& stream, std::uint64_t customers, double mass);

/// log of the probability of one sequence with these counts under Dirichlet(concentration); the counts may be
/// any non-negative numbers. A count on an atom of zero concentration is impossible.
double log_dirichlet_multinomial(std::span<const double> counts, std::span<const double> base, double scale,
                                 double total_concentration);

/// log (concentration + n) - rising factorial helper: lgamma(a + n) - lgamma(a), exact for small whole n.
double log_rising(double a, double n);

}  // namespace coppice
