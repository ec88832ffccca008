#include "coppice/family/family.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/family/cell_column.hpp"

namespace coppice {

void Family::fill_union(const double* stats, double* bank) const {
  for (std::size_t j = 0; j < stats_size(); ++j) bank[j * kLanes] = stats[j];
}

void Family::add_log_marginals(const double* one, const double* bank, std::size_t stride, std::size_t chunks,
                               double* out) const {
  const std::size_t size = stats_size();
  std::vector<double> left(size);
  std::vector<double> right(size);
  for (std::size_t slot = 0; slot < chunks * kLanes; ++slot) {
    const double* other = bank + slot / kLanes * stride + slot % kLanes;
    for (std::size_t j = 0; j < size; ++j) {
      left[j] = one[j * kLanes];
      right[j] = other[j * kLanes];
    }
    // Merging rounds differently in the other direction.
    if (right < left) left.swap(right);
    merge(left.data(), right.data());
    out[slot] += log_marginal(left.data());
  }
}

double Family::cell_log_predictive(const double*, std::size_t, double) const {
  fail(ErrorCode::bug, "the family {} takes no missing cells", name());
}

std::unique_ptr<Family> Family::of_cells(std::span<const std::size_t>) const { return nullptr; }

bool Family::restrict_to(std::span<const std::size_t>) { return false; }

std::unique_ptr<CellColumn> Family::make_column(std::span<const double>) const { return nullptr; }

}  // namespace coppice
