// The hierarchy of a run with all that the commands show of it: which tree, how sure each node is, and what
// tells a node from its siblings.
#pragma once

#include <string>
#include <vector>

#include "coppice/app/analysis.hpp"
#include "coppice/out/ascii_hierarchy.hpp"
#include "coppice/post/hierarchy.hpp"
#include "coppice/post/select_hierarchy.hpp"
#include "coppice/post/tree_quality.hpp"

namespace coppice::app {

struct RunHierarchy {
  SelectedHierarchy selected;
  Hierarchy full;
  Hierarchy shown;                    // the presentation tree
  std::vector<NodeSupport> support;   // by node id, as are the captions
  std::vector<NodeCaption> captions;  // named by traits against the other rows below the parent
};

/// Which tree it is, and how far the draws are from it.
std::string selection_sentence(const SelectedHierarchy& selected);

RunHierarchy run_hierarchy(const Analysis& analysis, Selection selection);

struct HierarchyView {
  std::size_t width = 100;
  std::size_t lines = 60;  // at most; 0: no limit
  bool full = false;       // all levels, also where nothing branches
};

/// What was selected, how to read the columns, and the tree.
std::string hierarchy_text(const RunHierarchy& hierarchy, const SavedRun& run, const HierarchyView& view,
                           const Context& context);
/// Nodes with id, parent, level, size, support, name, rows and centroid (means of numbers, shares of binary
/// columns, the most frequent level of categories; in the data's units).
nlohmann::ordered_json hierarchy_json(const RunHierarchy& hierarchy, const SavedRun& run, bool full);

/// Inner and outer distances of the draws and of one tree.
struct QualityReport {
  RunQuality draws;
  TreeQuality selected;
};
QualityReport quality_report(const Analysis& analysis, const SelectedHierarchy& selected);
std::string quality_text(const QualityReport& report, const Context& context);
nlohmann::ordered_json quality_json(const QualityReport& report);

}  // namespace coppice::app
