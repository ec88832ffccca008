#include "coppice/app/run_hierarchy.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "coppice/app/text_table.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/post/profile.hpp"
#include "coppice/post/units.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

/// Names by id: every set of siblings is described by itself.
std::vector<NodeCaption> caption_nodes(const SavedRun& run, const Hierarchy& full,
                                       const std::vector<NodeSupport>& support) {
  std::vector<NodeCaption> captions(full.nodes.size());
  for (const HierarchyNode& node : full.nodes)
    captions[node.id] = {"", support[node.id].exact, support[node.id].overlap};
  captions.front().name = "all rows";
  for (const HierarchyNode& node : full.nodes) {
    if (node.children.size() == 1) captions[node.children.front()].name = captions[node.id].name;
    if (node.children.size() < 2) continue;
    std::vector<std::vector<std::uint32_t>> groups;
    for (const std::size_t child : node.children) groups.push_back(full.nodes[child].rows);
    const std::vector<ClusterProfile> profiles = profile_groups(run, groups, 1);
    for (std::size_t c = 0; c < profiles.size(); ++c) captions[node.children[c]].name = profiles[c].name;
  }
  return captions;
}

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

std::string selection_sentence(const SelectedHierarchy& selected) {
  const bool binder = selected.selection == Selection::binder;
  const bool by_loss = selected.selection.is_by_loss();
  const std::string which =
      selection_words(selected.selection) +
      (by_loss ? std::string(", averaged over the levels")
               : fmt::format(": draw {} of chain {}", selected.origin.draw, selected.origin.chain));
  return fmt::format(
      "The hierarchy to report ({}):\nexpected {} {:.3f}; 95 % of the draws are within {:.3f}.\n", which,
      binder ? "loss" : "VI", selected.expected_loss, selected.ball_radius);
}

RunHierarchy run_hierarchy(const Analysis& analysis, Selection selection) {
  RunHierarchy answer;
  answer.selected = analysis.hierarchy(selection);
  answer.full = make_hierarchy(answer.selected.labels, answer.selected.rows);
  answer.shown = presentation_tree(answer.full);
  answer.support = node_support(answer.full, analysis.tree_draws());
  answer.captions = caption_nodes(analysis.run(), answer.full, answer.support);
  return answer;
}

std::string hierarchy_text(const RunHierarchy& hierarchy, const SavedRun& run, const HierarchyView& view,
                           const Context& context) {
  AsciiHierarchyOptions options;
  options.width = view.width;
  options.max_lines = view.lines;
  options.heading = [&](std::string_view text) { return context.bold(text); };
  options.quiet = [&](std::string_view text) { return context.dim(text); };
  std::string text = selection_sentence(hierarchy.selected);
  if (hierarchy.shown.nodes.size() == 1)
    text += "It has no branches: the draws agree on none, or have none.\n";
  text += "\n" + ascii_hierarchy(view.full ? hierarchy.full : hierarchy.shown, hierarchy.captions,
                                 run.table().row_ids, options);
  return text + "\n" +
         context.dim(
             "A name says what distinguishes a node from its siblings. support: posterior support, the share of draws in "
             "which exactly\nthese rows are a cluster of that level; overlap: mean Jaccard overlap with the most similar "
             "cluster there.\n");
}

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
                              {"name", hierarchy.captions[node.id].name},
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

QualityReport quality_report(const Analysis& analysis, const SelectedHierarchy& selected) {
  const Features features = features_of(analysis.run().table());
  return {run_quality(analysis.run(), features), tree_quality(selected.labels, features)};
}

std::string quality_text(const QualityReport& report, const Context& context) {
  TextTable table({16, 8, 8, 8, 15, 16, 8});
  table.add({"distances", "nodes", "leaves", "AID", "AID, 2+ rows", "AID, collapsed", "AOD"});
  const auto line = [&](const char* name, const auto& d, double leaves) {
    table.add({name, short_number(static_cast<double>(d.nodes)), short_number(leaves), short_number(d.aid),
               short_number(d.aid_ge2), short_number(d.collapsed), short_number(d.aod)});
  };
  line("this hierarchy", report.selected.all, static_cast<double>(report.selected.collapsed_leaves));
  line("mean of draws", report.draws.all, report.draws.collapsed_leaves);
  std::string text = table.text(context);
  text += context.dim(fmt::format(
      "Squared distances between rows as modeled (missing cells: the mean of their column), AID within "
      "nodes,\nAOD between siblings. {} draws, {:.0f} % of them without a branch.\n",
      report.draws.draws, 100.0 * report.draws.single_path_share));
  return text;
}

ordered_json quality_json(const QualityReport& report) {
  ordered_json draws = all_levels_json(report.draws);
  draws["single_path_share"] = report.draws.single_path_share;
  draws["draws"] = report.draws.draws;
  return {{"selected", all_levels_json(report.selected)}, {"draws", draws}};
}

}  // namespace coppice::app
