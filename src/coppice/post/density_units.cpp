#include "coppice/post/density_units.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/data/transform.hpp"
#include "coppice/post/units.hpp"

namespace coppice {

DensityUnits::DensityUnits(const SavedRun& run) : plan_(&run.setup().plan) {
  const Transform transform = transform_from_json(run.contents().transform);
  const std::vector<OriginalUnits> units = original_units(transform, run.table());
  for (const std::size_t column : plan_->order) log_deviations_.push_back(std::log(units[column].deviation));
  if (static_cast<std::size_t>(transform.loadings.cols()) != transform.inputs.size()) return;
  // All principal components are a rotation of the columns, which may have been scaled before.
  for (const Transform::Scale& scale : transform.scales)
    if (std::find(transform.inputs.begin(), transform.inputs.end(), scale.column) != transform.inputs.end())
      log_rotated_ -= std::log(scale.deviation);
}

double DensityUnits::log_factor(const double* row) const {
  double total = plan_->log_jacobian(row) + log_rotated_;
  for (std::size_t j = 0; j < log_deviations_.size(); ++j)
    if (!is_missing(row[j])) total -= log_deviations_[j];
  return total;
}

}  // namespace coppice
