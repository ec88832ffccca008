#include "coppice/data/kinds/unit_column.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/data/table.hpp"

namespace coppice {

Eigen::VectorXd unit_column(const std::vector<double>& values, std::size_t rows, bool logs) {
  const std::size_t step = std::max<std::size_t>(1, values.size() / rows);
  Eigen::VectorXd z(static_cast<Eigen::Index>((values.size() + step - 1) / step));
  double scale = 0.0;
  for (Eigen::Index i = 0; i < z.size(); ++i) {
    const double value = values[static_cast<std::size_t>(i) * step];
    z[i] = !logs ? value : value > 0.0 ? std::log(value) : kMissing;
    if (!is_missing(z[i])) scale = std::max(scale, std::abs(z[i]));
  }
  if (!(scale > 0.0)) return {};
  double sum = 0.0;
  double count = 0.0;
  for (const double value : z) {
    if (is_missing(value)) continue;
    sum += value / scale;
    ++count;
  }
  for (double& value : z) value = is_missing(value) ? 0.0 : value / scale - sum / count;
  const double norm = z.norm();
  if (!(norm > 1e-12)) return {};
  return z / norm;
}

}  // namespace coppice
