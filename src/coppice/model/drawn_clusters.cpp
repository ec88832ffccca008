#include "coppice/model/drawn_clusters.hpp"

#include <vector>

#include "coppice/base/error.hpp"

namespace coppice {

void draw_clusters(const Family& family, std::span<const Label> labels, std::size_t clusters, Stream& stream,
                   Rows& rows, std::size_t first) {
  std::vector<double> empty(family.stats_size());
  family.clear(empty.data());
  std::vector<std::vector<double>> thetas(clusters, std::vector<double>(family.theta_size()));
  for (std::vector<double>& theta : thetas) family.draw_theta(empty.data(), stream, theta.data());
  for (std::size_t row = 0; row < rows.size(); ++row)
    family.draw(thetas[static_cast<std::size_t>(labels[row])].data(), stream, rows[row] + first);
}

void refuse_copies(const Rows& rows) {
  if (rows.has_copies) fail(ErrorCode::bug, "the prior of rows with copies cannot be drawn from");
}

}  // namespace coppice
