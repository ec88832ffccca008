// From log densities of encoded rows to those in the units of the table as it was read: what standardizing
// and the log scale change. As many principal components as there are columns are a rotation of them; of
// fewer, densities are those of the components.
#pragma once

#include <vector>

#include "coppice/family/plan.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

class DensityUnits {
 public:
  explicit DensityUnits(const SavedRun& run);
  /// Add this to the log density of the row's present cells.
  double log_factor(const double* row) const;

 private:
  const FamilyPlan* plan_;
  std::vector<double> log_deviations_;  // cell by cell
  double log_rotated_ = 0.0;            // of the columns behind principal components
};

}  // namespace coppice
