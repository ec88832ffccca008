#include "coppice/out/dot.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string_view>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/out/tree_text.hpp"

namespace coppice {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n' || c == '\r') {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

std::string to_dot(const Linkage& tree, std::span<const std::string> names, std::span<const double> support,
                   const DotOptions& options) {
  check_names(tree, names);
  if (!support.empty() && support.size() != tree.merges.size()) {
    fail(ErrorCode::bug, "dot: {} support values for {} merges", support.size(), tree.merges.size());
  }
  std::string out =
      "digraph tree {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n  edge "
      "[arrowhead=none];\n";
  auto sink = std::back_inserter(out);
  std::vector<std::size_t> stack;
  if (tree.leaves > 0) stack.push_back(tree.nodes() - 1);
  while (!stack.empty()) {
    const std::size_t node = stack.back();
    stack.pop_back();
    if (tree.is_leaf(node)) {
      fmt::format_to(sink, "  n{} [label={}];\n", node, quoted(leaf_name(names, node)));
      continue;
    }
    const Merge& merge = tree.merge(node);
    if (merge.height <= options.collapse_at) {
      fmt::format_to(sink, "  n{} [label={}, style=rounded];\n", node,
                     quoted(group_text(tree, names, node, options.max_names)));
      continue;
    }
    const double node_support = support.empty() ? std::nan("") : support[node - tree.leaves];
    const std::string note =
        std::isnan(node_support) ? std::string() : fmt::format(" ({:.3g})", node_support);
    fmt::format_to(sink, "  n{} [shape=plaintext, label=\"{:.4g}{}\"];\n", node, merge.height, note);
    fmt::format_to(sink, "  n{0} -> n{1};\n  n{0} -> n{2};\n", node, merge.left, merge.right);
    stack.push_back(merge.right);
    stack.push_back(merge.left);
  }
  return out + "}\n";
}

}  // namespace coppice
