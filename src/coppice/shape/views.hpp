// The views of a table: a partition of the columns, and for each block of columns a partition of all rows.
#pragma once

#include <vector>

#include "coppice/shape/partition.hpp"

namespace coppice {

struct Views {
  Labels columns;            // the view of each column; canonical
  std::vector<Labels> rows;  // of each view: canonical labels of the rows

  std::size_t count() const { return rows.size(); }
};

}  // namespace coppice
