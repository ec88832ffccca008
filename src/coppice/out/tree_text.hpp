// What the drawings of a merge tree share: the name of a leaf, and the words for a group of leaves that is
// drawn as one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coppice/post/linkage.hpp"

namespace coppice {

/// Throws Error{bug} unless names is empty or has one entry for each leaf.
void check_names(const Linkage& tree, std::span<const std::string> names);

std::string leaf_name(std::span<const std::string> names, std::size_t leaf);

/// Up to `count` leaves below a node, in drawing order.
std::vector<std::size_t> first_leaves(const Linkage& tree, std::size_t node, std::size_t count);

/// "[12 rows: a, b, c, ...]" with up to max_names names; "[2 rows: a, b]" if all fit.
std::string group_text(const Linkage& tree, std::span<const std::string> names, std::size_t node,
                       std::size_t max_names);

}  // namespace coppice
