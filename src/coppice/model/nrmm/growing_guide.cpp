#include "coppice/model/nrmm/growing_guide.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/error.hpp"

namespace coppice::nrmm {

GrowingGuide::GrowingGuide(const Family& family, const Rows& rows, std::size_t count, Stream& stream)
    : family_(&family), rows_(&rows), bisection_(family, rows) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  root_ = build(order, kNone, count, 0, stream);
}

GrowingGuide::Node GrowingGuide::allocate() {
  if (!free_.empty()) {
    const Node node = free_.back();
    free_.pop_back();
    nodes_[node] = {};
    return node;
  }
  nodes_.emplace_back();
  stats_.resize(nodes_.size() * family_->stats_size());
  return static_cast<Node>(nodes_.size() - 1);
}

void GrowingGuide::fill_bucket(Node node, std::span<const std::uint32_t> rows) {
  nodes_[node].members.assign(rows.begin(), rows.end());
  nodes_[node].count = static_cast<std::uint32_t>(rows.size());
  family_->clear(stats(node));
  for (const std::uint32_t row : rows) family_->add(stats(node), (*rows_)[row]);
}

GrowingGuide::Node GrowingGuide::build(std::span<std::uint32_t> rows, Node parent, std::size_t total,
                                       std::size_t depth, Stream& stream) {
  const Node node = allocate();
  nodes_[node].parent = parent;
  if (rows.size() <= kMostInBucket / 2) {
    fill_bucket(node, rows);
    return node;
  }
  const bool even = Bisection::must_be_even(rows.size(), total, depth);
  const std::size_t cut = bisection_.divide(rows, even, stream);
  const Node left = build(rows.first(cut), node, total, depth + 1, stream);
  const Node right = build(rows.subspan(cut), node, total, depth + 1, stream);
  Links& links = nodes_[node];
  links.left = left;
  links.right = right;
  links.count = static_cast<std::uint32_t>(rows.size());
  links.buckets = nodes_[left].buckets + nodes_[right].buckets;
  links.height = std::max(nodes_[left].height, nodes_[right].height) + 1;
  std::copy_n(stats(left), family_->stats_size(), stats(node));
  family_->merge(stats(node), stats(right));
  return node;
}

std::span<const std::uint32_t> GrowingGuide::insert(std::uint32_t row, Stream& stream) {
  const double* cells = (*rows_)[row];
  Node node = root_;
  for (;;) {
    family_->add(stats(node), cells);
    ++nodes_[node].count;
    if (is_bucket(node)) break;
    const Node left = nodes_[node].left;
    const Node right = nodes_[node].right;
    node = family_->log_predictive(stats(left), cells) >= family_->log_predictive(stats(right), cells)
               ? left
               : right;
  }
  nodes_[node].members.push_back(row);
  if (nodes_[node].members.size() <= kMostInBucket) return nodes_[node].members;
  split(node, stream);
  // A rebuild moves the row elsewhere, so it is found by asking which bucket has it.
  Node deep = kNone;
  for (Node above = node; above != kNone; above = nodes_[above].parent)
    if (too_deep(nodes_[above])) deep = above;
  Node top = node;
  if (deep != kNone) {
    rebuild(deep, stream);
    top = deep;
  }
  std::vector<Node> pending{top};
  while (!pending.empty()) {
    const Node at = pending.back();
    pending.pop_back();
    if (is_bucket(at)) {
      const std::vector<std::uint32_t>& members = nodes_[at].members;
      if (std::find(members.begin(), members.end(), row) != members.end()) return members;
      continue;
    }
    pending.push_back(nodes_[at].left);
    pending.push_back(nodes_[at].right);
  }
  fail(ErrorCode::bug, "GrowingGuide: row {} is lost", row);
}

void GrowingGuide::split(Node bucket, Stream& stream) {
  std::vector<std::uint32_t> rows = std::move(nodes_[bucket].members);
  nodes_[bucket].members = {};
  const std::size_t cut = bisection_.divide(rows, true, stream);
  const Node left = allocate();
  const Node right = allocate();
  nodes_[left].parent = nodes_[right].parent = bucket;
  nodes_[bucket].left = left;
  nodes_[bucket].right = right;
  fill_bucket(left, std::span<const std::uint32_t>(rows).first(cut));
  fill_bucket(right, std::span<const std::uint32_t>(rows).subspan(cut));
  update_upwards(bucket);
}

void GrowingGuide::update_upwards(Node node) {
  for (; node != kNone; node = nodes_[node].parent) {
    Links& links = nodes_[node];
    if (links.left == kNone) continue;
    links.buckets = nodes_[links.left].buckets + nodes_[links.right].buckets;
    links.height = std::max(nodes_[links.left].height, nodes_[links.right].height) + 1;
  }
}

bool GrowingGuide::too_deep(const Links& node) {
  return static_cast<double>(node.height) > 8.0 + 4.0 * std::log2(static_cast<double>(node.buckets));
}

void GrowingGuide::collect_and_free(Node node, std::vector<std::uint32_t>& rows) {
  std::vector<Node> pending{node};
  while (!pending.empty()) {
    const Node at = pending.back();
    pending.pop_back();
    if (is_bucket(at)) {
      rows.insert(rows.end(), nodes_[at].members.begin(), nodes_[at].members.end());
      nodes_[at].members = {};
    } else {
      pending.push_back(nodes_[at].left);
      pending.push_back(nodes_[at].right);
    }
    if (at != node) free_.push_back(at);
  }
}

void GrowingGuide::rebuild(Node node, Stream& stream) {
  std::vector<std::uint32_t> rows;
  rows.reserve(nodes_[node].count);
  collect_and_free(node, rows);
  const std::size_t cut = bisection_.divide(rows, false, stream);
  const Node left = build(std::span<std::uint32_t>(rows).first(cut), node, rows.size(), 1, stream);
  const Node right = build(std::span<std::uint32_t>(rows).subspan(cut), node, rows.size(), 1, stream);
  nodes_[node].left = left;
  nodes_[node].right = right;
  update_upwards(node);
}

void GrowingGuide::audit() const {
  std::vector<std::uint8_t> seen(rows(), 0);
  std::vector<Node> pending{root_};
  while (!pending.empty()) {
    const Node node = pending.back();
    pending.pop_back();
    const Links& links = nodes_[node];
    if (static_cast<std::size_t>(count_of(stats(node))) != links.count)
      fail(ErrorCode::bug, "GrowingGuide: statistics of {} rows for {}", count_of(stats(node)), links.count);
    if (is_bucket(node)) {
      if (links.members.size() != links.count || links.members.size() > kMostInBucket || links.height != 0)
        fail(ErrorCode::bug, "GrowingGuide: a bucket of {} rows says {}", links.members.size(), links.count);
      for (const std::uint32_t row : links.members)
        if (row >= seen.size() || seen[row]++ != 0)
          fail(ErrorCode::bug, "GrowingGuide: row {} does not belong here", row);
      continue;
    }
    const Links& left = nodes_[links.left];
    const Links& right = nodes_[links.right];
    if (links.count != left.count + right.count || links.buckets != left.buckets + right.buckets ||
        links.height != std::max(left.height, right.height) + 1 || left.parent != node ||
        right.parent != node)
      fail(ErrorCode::bug, "GrowingGuide: node {} does not fit its children", node);
    pending.push_back(links.left);
    pending.push_back(links.right);
  }
  if (std::find(seen.begin(), seen.end(), 0) != seen.end())
    fail(ErrorCode::bug, "GrowingGuide: a row is lost");
}

}  // namespace coppice::nrmm
