// Whole numbers that look like counts and are measurements: miles per gallon beside other figures of cars,
// years of education. Every cluster of counts is at least as wide as a Poisson distribution; measurements
// that others explain, or that vary little, are narrower.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/data/codebook.hpp"
#include "coppice/data/kinds/rules.hpp"
#include "coppice/data/table.hpp"

namespace coppice {

/// Places of columns that are counts by inference, whose cells a rounded normal distribution with a mean
/// linear in the real columns, or a constant one, explains better than the best Poisson or negative binomial
/// distribution, by the Bayesian information criterion. Counts within two standard deviations of zero on
/// average stay counts if they are better than the normal distribution without the other columns.
std::vector<std::size_t> find_measured_counts(std::span<const Column> columns,
                                              std::span<const ColumnSpec> specs, const KindRules& rules);

}  // namespace coppice
