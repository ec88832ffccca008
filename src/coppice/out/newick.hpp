// A merge tree as Newick text: (a:1,'b c':1)0.97:2; Names are quoted unless they consist of letters, digits
// and . - + / and nothing else; a quote inside is doubled. Branch lengths are differences of heights. Support
// goes where node names go.
#pragma once

#include <span>
#include <string>

#include "coppice/post/linkage.hpp"

namespace coppice {

/// `names` has one entry for each leaf, or is empty (then leaves are numbered from 0). `support`, one value
/// for each merge, is written behind the closing bracket if given. Ends in ";\n".
std::string to_newick(const Linkage& tree, std::span<const std::string> names,
                      std::span<const double> support = {});

}  // namespace coppice
