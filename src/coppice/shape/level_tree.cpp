#include "coppice/shape/level_tree.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"

namespace coppice {

LevelTree::LevelTree(std::size_t rows, std::size_t depth)
    : at_level_(depth + 1), leaf_(rows, kNone), place_(rows, 0) {
  clear();
}

void LevelTree::clear() {
  parent_.assign(1, kNone);
  level_.assign(1, 0);
  size_.assign(1, 0);
  place_among_children_.assign(1, 0);
  place_at_level_.assign(1, 0);
  children_.assign(1, {});
  members_.assign(1, {});
  free_.clear();
  for (std::vector<NodeId>& nodes : at_level_) nodes.clear();
  at_level_[0].push_back(kRoot);
  std::fill(leaf_.begin(), leaf_.end(), kNone);
}

void LevelTree::detach(std::size_t row) {
  const NodeId leaf = leaf_[row];
  std::vector<std::uint32_t>& members = members_[leaf];
  const std::uint32_t place = place_[row];
  members[place] = members.back();
  place_[members[place]] = place;
  members.pop_back();
  leaf_[row] = kNone;
  for (NodeId node = leaf; node != kNone; node = parent_[node]) --size_[node];
}

void LevelTree::attach(std::size_t row, NodeId leaf) {
  leaf_[row] = leaf;
  place_[row] = static_cast<std::uint32_t>(members_[leaf].size());
  members_[leaf].push_back(static_cast<std::uint32_t>(row));
  for (NodeId node = leaf; node != kNone; node = parent_[node]) ++size_[node];
}

void LevelTree::link(NodeId node, NodeId parent) {
  parent_[node] = parent;
  place_among_children_[node] = static_cast<std::uint32_t>(children_[parent].size());
  children_[parent].push_back(node);
}

void LevelTree::unlink(NodeId node) {
  std::vector<NodeId>& siblings = children_[parent_[node]];
  const std::uint32_t place = place_among_children_[node];
  siblings[place] = siblings.back();
  place_among_children_[siblings[place]] = place;
  siblings.pop_back();
}

NodeId LevelTree::add_child(NodeId parent) {
  NodeId node;
  if (free_.empty()) {
    node = static_cast<NodeId>(parent_.size());
    parent_.push_back(kNone);
    level_.push_back(0);
    size_.push_back(0);
    place_among_children_.push_back(0);
    place_at_level_.push_back(0);
    children_.emplace_back();
    members_.emplace_back();
  } else {
    node = free_.back();
    free_.pop_back();
  }
  level_[node] = level_[parent] + 1;
  size_[node] = 0;
  link(node, parent);
  std::vector<NodeId>& level = at_level_[level_[node]];
  place_at_level_[node] = static_cast<std::uint32_t>(level.size());
  level.push_back(node);
  return node;
}

void LevelTree::remove(NodeId node) {
  while (!children_[node].empty()) remove(children_[node].back());
  if (size_[node] != 0 || node == kRoot) fail(ErrorCode::bug, "LevelTree: node {} is not empty", node);
  unlink(node);
  std::vector<NodeId>& level = at_level_[level_[node]];
  const std::uint32_t place = place_at_level_[node];
  level[place] = level.back();
  place_at_level_[level[place]] = place;
  level.pop_back();
  parent_[node] = kNone;
  free_.push_back(node);
}

void LevelTree::move_subtree(NodeId node, NodeId new_parent) {
  const std::uint32_t moved = size_[node];
  for (NodeId above = parent_[node]; above != kNone; above = parent_[above]) size_[above] -= moved;
  unlink(node);
  link(node, new_parent);
  for (NodeId above = new_parent; above != kNone; above = parent_[above]) size_[above] += moved;
}

void LevelTree::assign(std::span<const Label> labels) {
  const std::size_t rows = leaf_.size();
  if (labels.size() != rows * depth())
    fail(ErrorCode::bug, "LevelTree: {} labels for {} rows and {} levels", labels.size(), rows, depth());
  clear();
  // node_of[row] at the level so far; nodes of a level are opened in the order of their first rows.
  std::vector<NodeId> node_of(rows, kRoot);
  std::vector<NodeId> by_label;
  for (std::size_t level = 0; level < depth(); ++level) {
    by_label.assign(rows, kNone);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto label = static_cast<std::size_t>(labels[level * rows + row]);
      if (label >= rows) fail(ErrorCode::bad_data, "a label of a tree is {}, of {} rows", label, rows);
      if (by_label[label] == kNone) by_label[label] = add_child(node_of[row]);
      if (parent_[by_label[label]] != node_of[row])
        fail(ErrorCode::bad_data, "the levels of a tree are not nested");
      node_of[row] = by_label[label];
    }
  }
  for (std::size_t row = 0; row < rows; ++row) attach(row, node_of[row]);
}

void LevelTree::labels(std::span<Label> labels) const {
  const std::size_t rows = leaf_.size();
  for (std::size_t row = 0; row < rows; ++row)
    for (NodeId node = leaf_[row]; node != kRoot; node = parent_[node])
      labels[(level_[node] - 1) * rows + row] = static_cast<Label>(node);
  std::vector<Label> number(capacity());
  for (std::size_t level = 0; level < depth(); ++level) {
    const std::span<Label> part = labels.subspan(level * rows, rows);
    std::fill(number.begin(), number.end(), -1);
    Label next = 0;
    for (Label& label : part) {
      Label& known = number[static_cast<std::size_t>(label)];
      if (known < 0) known = next++;
      label = known;
    }
  }
}

}  // namespace coppice
