// Are a few distinct numbers amounts or names of something? Their frequencies, as categories, are compared
// with the distributions that clusters of amounts would give them.
#pragma once

#include <span>

#include "coppice/data/kinds/measure.hpp"

namespace coppice {

/// By how many nats categories explain whole numbers from 0 better than the best of a Poisson distribution
/// and mixtures of two or three, a negative binomial, and a rounded normal distribution, by the Bayesian
/// information criterion. The measure is that of the cells.
double evidence_against_counts(std::span<const double> cells, const Measure& m);

/// The same against mixtures of up to three normal distributions, rounded to the smallest gap, on the scale
/// of the numbers or (of positive ones) on the log scale.
double evidence_against_measurements(std::span<const double> cells, const Measure& m);

/// Whether most neighbors among the numbers are farther apart than the smallest gap. (Of a few tight groups
/// most are not.)
bool are_far_apart(std::span<const double> cells, const Measure& m);

}  // namespace coppice
