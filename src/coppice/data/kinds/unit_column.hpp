// A column of numbers as a vector of mean 0 and norm 1: what correlations and regressions between columns are
// computed from.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace coppice {

/// About as many rows as this are enough to compare columns.
constexpr std::size_t kSampleRows = 512;

/// Some rows of the column (their logarithms, if it is modeled so) with mean 0 and norm 1, missing cells at
/// the mean; empty if it does not vary.
Eigen::VectorXd unit_column(const std::vector<double>& values, std::size_t rows, bool logs = false);

}  // namespace coppice
