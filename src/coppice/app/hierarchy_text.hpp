// The hierarchy of a run as text.
#pragma once

#include <string>

#include "coppice/app/context.hpp"
#include "coppice/post/run_hierarchy.hpp"

namespace coppice::app {

struct HierarchyView {
  std::size_t width = 100;
  std::size_t lines = 60;  // at most; 0: no limit
  bool full = false;       // all levels, also where nothing branches
};

/// What was selected, how to read the columns, and the tree.
std::string hierarchy_text(const RunHierarchy& hierarchy, const SavedRun& run, const HierarchyView& view,
                           const Context& context);
std::string quality_text(const QualityReport& report, const Context& context);

}  // namespace coppice::app
