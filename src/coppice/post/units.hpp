// From the units a model works in back to those of the data as read: the inverse of standardizing. Principal
// components have no units to go back to.
#pragma once

#include <string_view>
#include <vector>

#include "coppice/data/table.hpp"

namespace coppice {

struct Transform;

/// A value in the data's units is mean + deviation * value.
struct OriginalUnits {
  double mean = 0.0;
  double deviation = 1.0;

  double location(double value) const { return mean + deviation * value; }
  double spread(double sd) const { return deviation * sd; }
  /// The number as it was read: of all that standardize to `value` bit for bit, the one of fewest decimals.
  double cell(double value) const;
};

/// One for each column of the table as modeled.
std::vector<OriginalUnits> original_units(const Transform& transform, const Table& table);

}  // namespace coppice
