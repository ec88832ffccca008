// A merge tree as a Graphviz digraph drawn from left to right: boxes for leaves or collapsed groups, points
// with their height (and support) for merges.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "coppice/out/ascii_hierarchy.hpp"
#include "coppice/post/hierarchy.hpp"
#include "coppice/post/linkage.hpp"

namespace coppice {

struct DotOptions {
  double collapse_at = -1.0;  // merges at this height or lower become one box
  std::size_t max_names = 5;  // named in a collapsed box
};

/// As to_newick for names and support.
std::string to_dot(const Linkage& tree, std::span<const std::string> names,
                   std::span<const double> support = {}, const DotOptions& options = {});

/// A tree of nested clusters: a box for each node with its name, rows and support. `captions` by node id.
std::string hierarchy_to_dot(const Hierarchy& tree, std::span<const NodeCaption> captions,
                             std::span<const std::string> row_names, const DotOptions& options = {});

}  // namespace coppice
