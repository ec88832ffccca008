// What the models of views have in common: views drawn from the prior, cells drawn given views, and the
// figures of views that are traced.
#pragma once

#include <cstddef>

#include "coppice/base/rng.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/model/drawn_clusters.hpp"
#include "coppice/model/trace_table.hpp"
#include "coppice/prior/crp.hpp"
#include "coppice/shape/views.hpp"

namespace coppice {

/// Views of this many columns, and in each a partition of this many rows.
Views draw_views(const Crp& column_prior, std::size_t columns, const Crp& row_prior, std::size_t rows,
                 Stream& stream);

/// Cells of all columns; family_of(column) is the family of one of them.
template <typename FamilyOf>
void draw_cells(const Views& views, FamilyOf&& family_of, Stream& stream, Rows& rows) {
  for (std::size_t column = 0; column < views.columns.size(); ++column) {
    const Labels& labels = views.rows[static_cast<std::size_t>(views.columns[column])];
    draw_clusters(family_of(column), labels, cluster_sizes(labels).size(), stream, rows, column);
  }
}

/// What the traces of a draw of views are computed from.
struct ViewFigures {
  explicit ViewFigures(const Views& views);
  double views = 0.0;
  double clusters = 0.0;        // of the rows, in the view with most columns
  double column_entropy = 0.0;  // of the partition of the columns, nats
  double mean_clusters = 0.0;   // of the rows, averaged over the columns
};

/// The first traces of a model with views; its Figures have log_joint and derive from ViewFigures.
template <typename Figures>
std::vector<typename TraceTable<Figures>::Row> view_traces(const char* log_joint_help) {
  return {{"log_joint", log_joint_help, [](const Figures& f) { return f.log_joint; }},
          {"clusters", "row clusters in the view with the most columns",
           [](const Figures& f) { return f.clusters; }},
          {"views", "number of views", [](const Figures& f) { return f.views; }},
          {"column_entropy", "entropy of the partition of the columns into views, in nats",
           [](const Figures& f) { return f.column_entropy; }},
          {"mean_clusters", "row clusters, averaged over the columns",
           [](const Figures& f) { return f.mean_clusters; }}};
}

}  // namespace coppice
