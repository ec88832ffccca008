#include "coppice/post/density_units.hpp"

#include <cmath>

#include "coppice/data/transform.hpp"
#include "coppice/post/units.hpp"

namespace coppice {

DensityUnits::DensityUnits(const SavedRun& run) : plan_(&run.setup().plan) {
  const std::vector<OriginalUnits> units =
      original_units(transform_from_json(run.contents().transform), run.table());
  for (const std::size_t column : plan_->order) log_deviations_.push_back(std::log(units[column].deviation));
}

double DensityUnits::log_factor(const double* row) const {
  double total = plan_->log_jacobian(row);
  for (std::size_t j = 0; j < log_deviations_.size(); ++j)
    if (!is_missing(row[j])) total -= log_deviations_[j];
  return total;
}

}  // namespace coppice
