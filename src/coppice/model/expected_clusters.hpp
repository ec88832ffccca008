// --expect-clusters K[,sd]: the Gamma prior of the concentration that seats the rows, given by what a person
// knows, the mean and the standard deviation of the number of clusters under it. Without a standard deviation
// the prior is exponential (shape 1, as the default has it) and only its rate is matched: that is possible
// for every mean, and wide.
#pragma once

#include <cstddef>
#include <string>

#include "coppice/model/model.hpp"

namespace coppice {

inline constexpr const char* kExpectClusters = "expect-clusters";

/// The row of a parameter table; `help` ends the sentence "mean and standard deviation of ...".
Parameter expected_clusters_row(const std::string& help);

/// Throws Error{configuration} if settings that were given (under present names) also give the prior of this
/// concentration, or its fixed value.
void check_expected_clusters(const Settings& given, const std::string& concentration);

/// The settings with the prior that --expect-clusters means for so many rows, and with the concentration
/// among what is learned; as they are if there is no such setting or if they have the prior already. Throws
/// Error{configuration} naming what is possible.
Settings with_expected_clusters(const ModelEntry& model, Settings settings, std::size_t rows);

/// What the setting has come to, for people; empty if it was not given.
std::string expected_clusters_note(const ModelEntry& model, const ParameterValues& values, std::size_t rows);

}  // namespace coppice
