#include "coppice/out/tree_text.hpp"

#include <fmt/format.h>

#include "coppice/base/counted.hpp"
#include "coppice/base/error.hpp"

namespace coppice {

void check_names(const Linkage& tree, std::span<const std::string> names) {
  if (!names.empty() && names.size() != tree.leaves) {
    fail(ErrorCode::bug, "tree: {} names for {} leaves", names.size(), tree.leaves);
  }
}

std::string leaf_name(std::span<const std::string> names, std::size_t leaf) {
  return names.empty() ? fmt::format_int(leaf).str() : names[leaf];
}

std::vector<std::size_t> first_leaves(const Linkage& tree, std::size_t node, std::size_t count) {
  std::vector<std::size_t> found;
  std::vector<std::size_t> stack{node};
  while (!stack.empty() && found.size() < count) {
    const std::size_t next = stack.back();
    stack.pop_back();
    if (tree.is_leaf(next)) {
      found.push_back(next);
    } else {
      stack.push_back(tree.merge(next).right);
      stack.push_back(tree.merge(next).left);
    }
  }
  return found;
}

std::string group_text(const Linkage& tree, std::span<const std::string> names, std::size_t node,
                       std::size_t max_names) {
  std::string text = "[" + counted(tree.size(node), "row");
  const char* separator = ": ";
  for (const std::size_t leaf : first_leaves(tree, node, max_names)) {
    text += separator + leaf_name(names, leaf);
    separator = ", ";
  }
  if (max_names > 0 && tree.size(node) > max_names) text += ", ...";
  return text + "]";
}

}  // namespace coppice
