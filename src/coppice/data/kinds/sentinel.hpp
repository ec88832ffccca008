// Numbers that mean "missing": -999 among heights, 9999 among weights, -1 among ages.
#pragma once

#include <span>
#include <string>

namespace coppice {

/// The number, as a text for `missing_values`, if one of the usual codes repeats far from all other numbers;
/// otherwise empty.
std::string find_sentinel(std::span<const double> values);

}  // namespace coppice
