// The number of clusters K under the Chinese restaurant process with a Gamma prior on its concentration: its
// moments, its distribution, and the Gamma prior whose K has a given mean and standard deviation. Given
// alpha,
//   E[K] = 1 + alpha (psi(alpha + N) - psi(alpha + 1)),
//   Var[K] = E[K] - 1 + alpha^2 (psi'(alpha + N) - psi'(alpha + 1)).
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/prior/concentration.hpp"

namespace coppice {

struct ClusterCountMoments {
  double mean = 1.0;
  double variance = 0.0;
};

/// Of the clusters of `rows` rows, for a fixed concentration and averaged over its prior.
ClusterCountMoments cluster_count_moments(double alpha, std::size_t rows);
ClusterCountMoments cluster_count_moments(const GammaPrior& prior, std::size_t rows);

/// p(K = 1), ..., p(K = most); the last entry is p(K >= most). O(min(rows, 4000) * most): beyond 4000 rows
/// the clusters that the others open are binomial with their mean and variance, which changes no probability
/// by more than 1e-4.
std::vector<double> cluster_count_distribution(const GammaPrior& prior, std::size_t rows, std::size_t most);
/// The same for a concentration that is fixed or learned.
std::vector<double> cluster_count_distribution(const Concentration& concentration, std::size_t rows,
                                               std::size_t most);

/// The prior of the concentration under which K of `rows` rows has this mean and standard deviation. Throws
/// Error{configuration} naming the values that are possible if there is none.
GammaPrior match_cluster_count(std::size_t rows, double mean, double sd);
/// The exponential prior (shape 1) under which it has this mean, which there is for 1 < mean < rows.
GammaPrior match_cluster_count(std::size_t rows, double mean);

}  // namespace coppice
