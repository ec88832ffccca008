// Whether it depends on other columns which cells are missing: then the gaps are information.
#pragma once

#include <string>
#include <vector>

#include "coppice/data/table.hpp"

namespace coppice {

struct InformativeGaps {
  std::string column;
  std::string with;     // the column that says most about the gaps
  double errors = 0.0;  // the difference there, in standard errors
};

/// Columns whose missing cells go with another column, the clearest first. It looks at all pairs.
std::vector<InformativeGaps> find_informative_gaps(const Table& table);

}  // namespace coppice
