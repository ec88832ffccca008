#include "coppice/out/dot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/out/tree_text.hpp"
#include "coppice/post/trait_words.hpp"

namespace coppice {

namespace {

std::string dot_text(std::string_view text) {
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

constexpr const char* kHead =
    "digraph tree {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n  edge "
    "[arrowhead=none];\n";

}  // namespace

std::string to_dot(const Linkage& tree, std::span<const std::string> names, std::span<const double> support,
                   const DotOptions& options) {
  check_names(tree, names);
  if (!support.empty() && support.size() != tree.merges.size()) {
    fail(ErrorCode::bug, "dot: {} support values for {} merges", support.size(), tree.merges.size());
  }
  std::string out = kHead;
  auto sink = std::back_inserter(out);
  std::vector<std::size_t> stack;
  if (tree.leaves > 0) stack.push_back(tree.nodes() - 1);
  while (!stack.empty()) {
    const std::size_t node = stack.back();
    stack.pop_back();
    if (tree.is_leaf(node)) {
      fmt::format_to(sink, "  n{} [label={}];\n", node, dot_text(leaf_name(names, node)));
      continue;
    }
    const Merge& merge = tree.merge(node);
    if (merge.height <= options.collapse_at) {
      fmt::format_to(sink, "  n{} [label={}, style=rounded];\n", node,
                     dot_text(group_text(tree, names, node, options.max_names)));
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

std::string hierarchy_to_dot(const Hierarchy& tree, std::span<const NodeCaption> captions,
                             std::span<const std::string> row_names, const DotOptions& options) {
  std::string out = kHead;
  auto sink = std::back_inserter(out);
  for (std::size_t place = 0; place < tree.nodes.size(); ++place) {
    const HierarchyNode& node = tree.nodes[place];
    const NodeCaption& caption = captions[node.id];
    const bool is_root = node.parent == HierarchyNode::kNoParent;
    std::string label =
        fmt::format("{} ({} row{}{})", caption.title(), node.size(), node.size() == 1 ? "" : "s",
                    is_root ? "" : ", " + percent(caption.exact));
    if (node.is_leaf()) {
      const std::size_t named = std::min(options.max_names, node.size());
      const char* separator = ": ";
      for (std::size_t k = 0; k < named; ++k) {
        label += separator + row_names[node.rows[k]];
        separator = ", ";
      }
      if (named < node.size()) label += ", ...";
    }
    fmt::format_to(sink, "  n{} [label={}{}];\n", node.id, dot_text(label),
                   node.is_leaf() ? ", style=rounded" : "");
    if (!is_root) fmt::format_to(sink, "  n{} -> n{};\n", tree.nodes[node.parent].id, node.id);
  }
  return out + "}\n";
}

}  // namespace coppice
