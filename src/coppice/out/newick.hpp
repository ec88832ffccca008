// A merge tree as Newick text: (a:1,'b c':1)0.97:2; Names are quoted unless they consist of letters, digits
// and . - + / and nothing else; a quote inside is doubled. Branch lengths are differences of heights. Support
// goes where node names go.
#pragma once

#include <span>
#include <string>

#include "coppice/post/hierarchy.hpp"
#include "coppice/post/linkage.hpp"

namespace coppice {

/// `names` has one entry for each leaf, or is empty (then leaves are numbered from 0). `support`, one value
/// for each merge, is written behind the closing bracket if given. Ends in ";\n".
std::string to_newick(const Linkage& tree, std::span<const std::string> names,
                      std::span<const double> support = {});

/// A tree of nested clusters with its rows as leaves. Levels are one unit of length apart and all rows
/// equally far from the root; `support`, if given, has a value for each node id.
std::string hierarchy_to_newick(const Hierarchy& tree, std::span<const std::string> row_names,
                                std::span<const double> support = {});

}  // namespace coppice
