#include "coppice/out/hierarchy_json.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "coppice/data/transform.hpp"
#include "coppice/post/units.hpp"

namespace coppice {
namespace {

using nlohmann::ordered_json;

ordered_json centroid_json(const HierarchyNode& node, const Table& table,
                           std::span<const OriginalUnits> units) {
  ordered_json centroid = ordered_json::object();
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const Column& column = table.columns[j];
    double sum = 0.0;
    double present = 0.0;
    std::map<double, std::size_t> counts;
    for (const std::uint32_t row : node.rows) {
      const double value = column.values[row];
      if (is_missing(value)) continue;
      sum += value;
      present += 1.0;
      if (column.kind == Kind::category) ++counts[value];
    }
    if (present == 0.0) {
      centroid[column.name] = nullptr;
    } else if (column.kind == Kind::category) {
      const auto most = std::max_element(counts.begin(), counts.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      centroid[column.name] = column.levels[static_cast<std::size_t>(most->first)];
    } else {
      centroid[column.name] = units[j].location(sum / present);
    }
  }
  return centroid;
}

ordered_json distances_json(const NodeDistances& d) {
  return {{"aid", d.aid}, {"aid_ge2", d.aid_ge2}, {"aid_collapsed", d.collapsed},
          {"aod", d.aod}, {"nodes", d.nodes},     {"nodes_collapsed", d.collapsed_nodes}};
}

ordered_json distances_json(const MeanDistances& d) {
  return {{"aid", d.aid}, {"aid_ge2", d.aid_ge2}, {"aid_collapsed", d.collapsed},
          {"aod", d.aod}, {"nodes", d.nodes},     {"nodes_collapsed", d.collapsed_nodes}};
}

template <typename Quality>
ordered_json all_levels_json(const Quality& quality) {
  ordered_json answer = distances_json(quality.all);
  answer["leaves"] = quality.collapsed_leaves;
  answer["levels"] = ordered_json::array();
  for (std::size_t level = 1; level <= quality.levels.size(); ++level) {
    ordered_json entry{{"level", level}};
    entry.update(distances_json(quality.levels[level - 1]));
    answer["levels"].push_back(entry);
  }
  return answer;
}

}  // namespace

ordered_json hierarchy_json(const RunHierarchy& hierarchy, const SavedRun& run, bool full) {
  const Hierarchy& tree = full ? hierarchy.full : hierarchy.shown;
  const std::vector<OriginalUnits> units =
      original_units(transform_from_json(run.contents().transform), run.table());
  ordered_json nodes = ordered_json::array();
  for (const HierarchyNode& node : tree.nodes) {
    ordered_json rows = ordered_json::array();
    for (const std::uint32_t row : node.rows) rows.push_back(run.table().row_ids[row]);
    const NodeSupport& support = hierarchy.support[node.id];
    ordered_json entry{{"id", node.id}, {"parent", nullptr}};
    if (node.parent != HierarchyNode::kNoParent) entry["parent"] = tree.nodes[node.parent].id;
    entry.update(ordered_json{{"level", node.level},
                              {"last_level", node.last_level},
                              {"size", node.size()},
                              {"support", support.exact},
                              {"support_any_level", support.anywhere},
                              {"overlap", support.overlap},
                              {"number", hierarchy.captions[node.id].number},
                              {"name", hierarchy.captions[node.id].name},
                              {"described_as", hierarchy.captions[node.id].words},
                              {"rows", rows},
                              {"centroid", centroid_json(node, run.table(), units)}});
    nodes.push_back(entry);
  }
  const SelectedHierarchy& selected = hierarchy.selected;
  return {{"select", selected.selection.name()},
          {"levels", tree.levels},
          {"chain", selected.origin.chain},
          {"draw", selected.origin.draw},
          {"improved", selected.improved},
          {"expected_loss", selected.expected_loss},
          {"ball_radius", selected.ball_radius},
          {"collapsed", !full},
          {"nodes", nodes}};
}

ordered_json quality_json(const QualityReport& report) {
  ordered_json draws = all_levels_json(report.draws);
  draws["single_path_share"] = report.draws.single_path_share;
  draws["draws"] = report.draws.draws;
  return {{"selected", all_levels_json(report.selected)}, {"draws", draws}};
}

}  // namespace coppice
