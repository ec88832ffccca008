// What to look at before a fit that takes more than the kinds of single columns: gaps that are information,
// and labels that are modeled.
#pragma once

#include <vector>

#include "coppice/data/read.hpp"

namespace coppice {

/// Known labels that were not declared are modeled, and then found again.
std::vector<Finding> undeclared_labels(const Dataset& data);

/// Adds what needs a look at all pairs of columns, or guesses from names. The gravest stay first.
void look_closer(Dataset& data);

}  // namespace coppice
