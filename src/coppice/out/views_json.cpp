#include "coppice/out/views_json.hpp"

#include <nlohmann/json.hpp>

namespace coppice {

using nlohmann::ordered_json;

ordered_json views_json(const SavedRun& run, const ReportedViews& report) {
  ordered_json list = ordered_json::array();
  for (const ReportedView& view : report.views) {
    ordered_json groups = ordered_json::array();
    for (const ClusterProfile& profile : profile_view(run, view, 3)) {
      ordered_json members = ordered_json::array();
      for (std::size_t row = 0; row < run.rows(); ++row)
        if (view.rows.labels[row] == profile.cluster) members.push_back(run.table().row_ids[row]);
      groups.push_back({{"cluster", profile.cluster},
                        {"size", profile.size},
                        {"confidence", profile.confidence},
                        {"name", join_traits(profile)},
                        {"rows", members}});
    }
    list.push_back({{"columns", column_names(run, view)},
                    {"cohesion", view.cohesion},
                    {"clusters", view.rows.clusters},
                    {"labels", view.rows.labels},
                    {"groups", groups}});
  }
  return list;
}

}  // namespace coppice
