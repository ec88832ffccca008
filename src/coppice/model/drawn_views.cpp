#include "coppice/model/drawn_views.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace coppice {

Views draw_views(const Crp& column_prior, std::size_t columns, const Crp& row_prior, std::size_t rows,
                 Stream& stream) {
  Views views;
  views.columns.resize(columns);
  column_prior.draw_partition(stream, views.columns);
  views.rows.resize(canonicalize(views.columns));
  for (Labels& labels : views.rows) {
    labels.resize(rows);
    row_prior.draw_partition(stream, labels);
    canonicalize(labels);
  }
  return views;
}

ViewFigures::ViewFigures(const Views& of) {
  const std::vector<std::size_t> sizes = cluster_sizes(of.columns);
  const auto all = static_cast<double>(of.columns.size());
  for (std::size_t v = 0; v < sizes.size(); ++v) {
    const double share = static_cast<double>(sizes[v]) / all;
    mean_clusters += share * static_cast<double>(cluster_sizes(of.rows[v]).size());
  }
  column_entropy = partition_entropy(sizes, all);
  views = static_cast<double>(of.count());
  clusters = static_cast<double>(cluster_sizes(of.rows[of.largest()]).size());
}

}  // namespace coppice
