#include "coppice/shape/dendrogram.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coppice/base/error.hpp"

namespace coppice {

Dendrogram::Dendrogram(std::size_t items) : items_(items), parent_(items, kNone) {}

Dendrogram::Node Dendrogram::block(std::span<const std::uint32_t> items) {
  const auto node = static_cast<Node>(nodes());
  if (items.empty()) fail(ErrorCode::bug, "Dendrogram: a block without items");
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] >= items_ || parent_[items[i]] != kNone || (i > 0 && items[i] <= items[i - 1]))
      fail(ErrorCode::bug, "Dendrogram: item {} cannot be in a block", items[i]);
    parent_[items[i]] = node;
  }
  parent_.push_back(kNone);
  made_.push_back({kNone, kNone, static_cast<std::uint32_t>(items.size()), items.front(),
                   std::numeric_limits<double>::infinity()});
  blocks_.emplace(node, std::vector<std::uint32_t>(items.begin(), items.end()));
  return node;
}

Dendrogram::Node Dendrogram::join(Node a, Node b, double log_odds) {
  const auto node = static_cast<Node>(nodes());
  if (a >= node || b >= node || a == b || parent_[a] != kNone || parent_[b] != kNone)
    fail(ErrorCode::bug, "Dendrogram: {} and {} cannot be joined", a, b);
  if (first_item(b) < first_item(a)) std::swap(a, b);
  const Made joined{a, b, static_cast<std::uint32_t>(size(a) + size(b)), first_item(a), log_odds};
  parent_[a] = parent_[b] = node;
  parent_.push_back(kNone);
  made_.push_back(joined);
  return node;
}

std::vector<Dendrogram::Node> Dendrogram::roots() const {
  std::vector<Node> found;
  for (Node node = 0; node < nodes(); ++node)
    if (parent_[node] == kNone) found.push_back(node);
  std::sort(found.begin(), found.end(), [&](Node a, Node b) { return first_item(a) < first_item(b); });
  return found;
}

void Dendrogram::save(ByteWriter& writer) const {
  writer.put(static_cast<std::uint64_t>(made_.size()));
  for (Node node = static_cast<Node>(items_); node < nodes(); ++node) {
    writer.put(made(node).left);
    if (is_block(node)) {
      writer.put(made(node).size);
      writer.put(block_items(node).data(), block_items(node).size());
    } else {
      writer.put(made(node).right);
      writer.put(made(node).log_odds);
    }
  }
}

Dendrogram Dendrogram::load(ByteReader& reader, std::size_t items) {
  const auto refuse = [] {
    fail(ErrorCode::bad_data, "the run file is damaged: a tree does not fit the data");
  };
  Dendrogram forest(items);
  const auto count = reader.get<std::uint64_t>();
  if (count > items) refuse();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto left = reader.get<Node>();
    const auto right = reader.get<Node>();
    if (left == kNone) {
      if (right == 0 || right > items) refuse();
      std::vector<std::uint32_t> members(right);
      reader.get(members.data(), members.size());
      for (std::size_t m = 0; m < members.size(); ++m)
        if (members[m] >= items || forest.parent_[members[m]] != kNone ||
            (m > 0 && members[m] <= members[m - 1]))
          refuse();
      forest.block(members);
      continue;
    }
    const auto log_odds = reader.get<double>();
    const auto is_free = [&](Node node) { return node < forest.nodes() && forest.parent_[node] == kNone; };
    if (left == right || !is_free(left) || !is_free(right) || std::isnan(log_odds)) refuse();
    if (forest.first_item(right) < forest.first_item(left)) refuse();
    forest.join(left, right, log_odds);
  }
  return forest;
}

}  // namespace coppice
