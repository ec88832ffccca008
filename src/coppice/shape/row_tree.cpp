#include "coppice/shape/row_tree.hpp"

#include "coppice/base/error.hpp"

namespace coppice {

RowTree::RowTree(std::size_t rows) : rows_(rows), parent_(rows, kNone) {
  if (rows == 0) return;
  parent_.reserve(2 * rows - 1);
  left_.reserve(rows - 1);
  right_.reserve(rows - 1);
}

RowTree::Node RowTree::join(Node left, Node right) {
  const auto node = static_cast<Node>(parent_.size());
  if (left >= node || right >= node || left == right || parent_[left] != kNone || parent_[right] != kNone)
    fail(ErrorCode::bug, "RowTree: {} and {} cannot be joined", left, right);
  parent_[left] = parent_[right] = node;
  parent_.push_back(kNone);
  left_.push_back(left);
  right_.push_back(right);
  return node;
}

void RowTree::finish() {
  if (rows_ == 0) return;
  if (parent_.size() != 2 * rows_ - 1)
    fail(ErrorCode::bug, "RowTree: {} nodes for {} rows", parent_.size(), rows_);
  root_ = static_cast<Node>(parent_.size() - 1);
  depth_.assign(parent_.size(), 0);
  first_.assign(parent_.size(), 0);
  end_.assign(parent_.size(), 0);
  order_.assign(rows_, 0);
  // Children always have smaller numbers than their parent: one pass up for sizes, one down for places.
  for (Node node = 0; node < parent_.size(); ++node)
    end_[node] = is_leaf(node) ? 1 : end_[left(node)] + end_[right(node)];
  for (Node node = root_ + 1; node-- > 0;) {
    const std::uint32_t size = end_[node];
    if (node != root_) {
      const Node above = parent_[node];
      depth_[node] = depth_[above] + 1;
      first_[node] = node == left(above) ? first_[above] : end_[above] - size;
    }
    end_[node] = first_[node] + size;
    if (is_leaf(node)) order_[first_[node]] = node;
  }
}

}  // namespace coppice
