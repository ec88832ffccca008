// Greedy agglomeration of items of any kind: the pair with the highest score is merged repeatedly until one
// item is left. What the items are (trees of rows, views of columns) and how a pair is scored is theirs to
// say. A unit of work is the scores of one item with the later ones, or one merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "coppice/cluster/best_pairs.hpp"

namespace coppice {

/// Items at positions 0, 1, ... that are merged in pairs; each is a node of some forest.
class MergedItems : public PairScorer {
 public:
  using Node = std::uint32_t;

  /// Merges the items at the two positions (first < second); the new node is at `first`.
  virtual Node merge(std::size_t first, std::size_t second) = 0;
  /// The items at `kept` are now at the positions 0, 1, ...
  virtual void compact(std::span<const std::size_t> kept) = 0;
};

class Agglomeration {
 public:
  using Node = MergedItems::Node;
  static constexpr Node kNone = std::numeric_limits<Node>::max();

  Agglomeration(std::size_t items, bool keeps_scores) : pairs_(items, keeps_scores) {}

  bool finished() const { return pairs_.live() <= 1; }
  bool is_alive(std::size_t position) const { return pairs_.is_alive(position); }
  std::size_t positions() const { return pairs_.positions(); }
  /// Whether all pairs are scored and merging has begun, or can.
  bool is_started() const { return pairs_.is_started(); }
  /// Items whose pairs with later ones are scored.
  std::size_t started() const { return pairs_.is_started() ? pairs_.live() : pairs_.started(); }

  /// All units of scoring that are left, on several threads, if scores are kept.
  void start_together(MergedItems& items, std::size_t threads) { pairs_.start_together(items, threads); }
  /// One unit. The node of the merge, or kNone if pairs were scored.
  Node step(MergedItems& items) {
    // Dead positions cost as much as live ones; fewer than this many are not worth a compaction.
    constexpr std::size_t kFewPositions = 32;
    if (!pairs_.is_started()) {
      pairs_.start_next(items);
      return kNone;
    }
    const BestPairs::Pair best = pairs_.best();
    const Node made = items.merge(best.first, best.second);
    pairs_.merge(best.first, best.second, items);
    if (2 * pairs_.live() <= pairs_.positions() && pairs_.positions() > kFewPositions)
      items.compact(pairs_.compact());
    return made;
  }

 private:
  BestPairs pairs_;
};

}  // namespace coppice
