// The hyper-parameters that a run learned, with their uncertainty: of each column, or of a joint block of
// columns. In the units of the data (on the log scale for columns that are modeled there), and in numbers
// that can be read: where clusters are expected and how wide they are, not the factors that a chain keeps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coppice/run/saved_run.hpp"

namespace coppice {

struct LearnedValue {
  std::string column;  // empty: of all columns of the family together
  std::string family;
  std::string parameter;
  bool is_log = false;     // on the log scale
  std::string level = {};  // whose probability this is; empty: of no level
  double mean = 0.0, sd = 0.0, q05 = 0.0, q95 = 0.0;
};

/// Over evenly spaced draws, in the order of the columns; empty if nothing was learned by MCMC.
std::vector<LearnedValue> learned_values(const SavedRun& run);

/// A copy of the family of `plan`, which is the run's or one in which other families stand for joint blocks,
/// at the medians of what was learned for its columns.
std::unique_ptr<Family> family_as_learned(const SavedRun& run, const FamilyPlan& plan);

}  // namespace coppice
