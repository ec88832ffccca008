// The hierarchy of a run with all that is shown of it: which tree, how sure each node is, and what each node
// is called.
#pragma once

#include <string>
#include <vector>

#include "coppice/post/analysis.hpp"
#include "coppice/post/hierarchy.hpp"
#include "coppice/post/select_hierarchy.hpp"
#include "coppice/post/tree_quality.hpp"

namespace coppice {

struct RunHierarchy {
  SelectedHierarchy selected;
  Hierarchy full;
  Hierarchy shown;                    // the presentation tree
  std::vector<NodeSupport> support;   // by node id, as are the captions
  std::vector<NodeCaption> captions;  // with the names of cluster_names.hpp
};

/// Which tree it is, and how far the draws are from it.
std::string selection_sentence(const SelectedHierarchy& selected);

RunHierarchy run_hierarchy(const Analysis& analysis, Selection selection);

/// Inner and outer distances of the draws and of one tree.
struct QualityReport {
  RunQuality draws;
  TreeQuality selected;
};
QualityReport quality_report(const Analysis& analysis, const SelectedHierarchy& selected);

}  // namespace coppice
