#include "coppice/out/newick.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string_view>
#include <vector>

#include "coppice/base/error.hpp"

namespace coppice {

namespace {

bool is_plain(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name) {
    const bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    // An unquoted underscore means a space in Newick, so a name with one is quoted. Bytes of UTF-8 pass.
    const bool is_other =
        c == '.' || c == '-' || c == '+' || c == '/' || static_cast<unsigned char>(c) >= 0x80;
    if (!is_alphanumeric && !is_other) return false;
  }
  return true;
}

void append_name(std::string& out, std::string_view name) {
  if (is_plain(name)) {
    out += name;
    return;
  }
  out += '\'';
  for (const char c : name) {
    if (c == '\'') out += '\'';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  out += '\'';
}

void check_sizes(const Linkage& tree, std::span<const std::string> names, std::span<const double> support) {
  if (!names.empty() && names.size() != tree.leaves) {
    fail(ErrorCode::bug, "newick: {} names for {} leaves", names.size(), tree.leaves);
  }
  if (!support.empty() && support.size() != tree.merges.size()) {
    fail(ErrorCode::bug, "newick: {} support values for {} merges", support.size(), tree.merges.size());
  }
}

void append_node(std::string& out, const Hierarchy& tree, std::size_t place,
                 std::span<const std::string> row_names, std::span<const double> support) {
  const HierarchyNode& node = tree.nodes[place];
  const char* separator = "(";
  for (const std::size_t child : node.children) {
    out += separator;
    append_node(out, tree, child, row_names, support);
    separator = ",";
  }
  if (node.is_leaf())
    for (const std::uint32_t row : node.rows) {
      out += separator;
      append_name(out, row_names[row]);
      fmt::format_to(std::back_inserter(out), ":{}", tree.levels + 1 - node.level);
      separator = ",";
    }
  out += ')';
  if (node.parent == HierarchyNode::kNoParent) return;
  if (!support.empty()) fmt::format_to(std::back_inserter(out), "{}", support[node.id]);
  fmt::format_to(std::back_inserter(out), ":{}", node.level - tree.nodes[node.parent].level);
}

}  // namespace

std::string hierarchy_to_newick(const Hierarchy& tree, std::span<const std::string> row_names,
                                std::span<const double> support) {
  if (row_names.size() != tree.rows)
    fail(ErrorCode::bug, "newick: {} names for {} rows", row_names.size(), tree.rows);
  std::string out;
  append_node(out, tree, 0, row_names, support);
  return out + ";\n";
}

std::string to_newick(const Linkage& tree, std::span<const std::string> names,
                      std::span<const double> support) {
  check_sizes(tree, names, support);
  std::string out;
  if (tree.leaves == 0) return ";\n";
  // What remains to be written, last first: a node with its parent's height, or a piece of punctuation after
  // a node.
  struct Task {
    enum Kind { open, comma, close } kind;
    std::size_t node;
    double parent_height;
  };
  const std::size_t root = tree.nodes() - 1;
  const auto append_length = [&](std::size_t node, double parent_height) {
    if (node != root)
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(":{}"), parent_height - tree.height(node));
  };
  std::vector<Task> tasks{{Task::open, root, 0.0}};
  while (!tasks.empty()) {
    const Task task = tasks.back();
    tasks.pop_back();
    if (task.kind == Task::comma) {
      out += ',';
    } else if (task.kind == Task::close) {
      out += ')';
      if (!support.empty() && !std::isnan(support[task.node - tree.leaves])) {
        fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), support[task.node - tree.leaves]);
      }
      append_length(task.node, task.parent_height);
    } else if (tree.is_leaf(task.node)) {
      append_name(out, names.empty() ? fmt::format_int(task.node).str() : names[task.node]);
      append_length(task.node, task.parent_height);
    } else {
      const Merge& merge = tree.merge(task.node);
      out += '(';
      tasks.push_back({Task::close, task.node, task.parent_height});
      tasks.push_back({Task::open, merge.right, merge.height});
      tasks.push_back({Task::comma, 0, 0.0});
      tasks.push_back({Task::open, merge.left, merge.height});
    }
  }
  return out + ";\n";
}

}  // namespace coppice
