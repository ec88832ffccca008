// Bayesian hierarchical clustering, exact greedy: among all pairs of trees the one of largest log odds
//   log h(a and b) - log phi(a) - log phi(b)
// is merged repeatedly until one tree is left (ties: the pair with the smallest first rows).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/cluster/agglomeration.hpp"
#include "coppice/cluster/merge_tree.hpp"
#include "coppice/family/family.hpp"
#include "coppice/prior/product_partition.hpp"

namespace coppice {

class GreedyMerging final : private MergedItems {
 public:
  using Node = MergeTree::Node;

  /// All three must outlive it. `roots` are trees of the forest, by their first rows; they must not change
  /// elsewhere until the merging is finished. Scores are computed on at most this many threads (0: all); they
  /// do not depend on the number of threads.
  GreedyMerging(const Family& family, const ProductPartition& prior, MergeTree& forest,
                std::span<const Node> roots, bool keeps_scores, std::size_t threads = 1);

  bool finished() const { return loop_.finished(); }
  /// Trees whose pairs with later ones are scored.
  std::size_t started() const { return loop_.started(); }
  /// One unit. The node of the merge, or kNone if pairs were scored.
  Node step() { return loop_.step(*this); }
  /// To the end; calls on_merge with every node that is made.
  template <typename OnMerge>
  void run(OnMerge&& on_merge) {
    start_together();
    while (!finished())
      if (const Node made = step(); made != MergeTree::kNone) on_merge(made);
  }

  /// Scores all pairs that are not yet, if there are threads to do it on and scores are kept.
  void start_together();

  static std::size_t bytes(const Family& family, std::size_t roots, bool keeps_scores);

 private:
  void scores(std::size_t position, std::size_t begin, std::size_t end, double* out) override;
  Node merge(std::size_t first, std::size_t second) override;
  void compact(std::span<const std::size_t> kept) override;
  void place(std::size_t position, Node node);
  double* values_of(std::size_t position) {
    return values_.data() + position / kLanes * stride_ + position % kLanes;
  }
  struct Buffers;
  /// Log marginals of the item at `position` with those of half a group of 64, as if all were single rows;
  /// or, without that, as they are.
  void score_half(std::size_t position, std::size_t half, bool as_singles, Buffers& buffers);
  void score_larger(std::size_t position, std::size_t begin, std::size_t end, Buffers& buffers);
  /// Gives the item at the position a place among the larger clusters, or takes it away.
  void set_larger(std::size_t position);
  void forget_larger(std::size_t position);
  double* larger_values(std::size_t place) {
    return larger_values_.data() + place / kLanes * stride_ + place % kLanes;
  }

  const Family* family_;
  const ProductPartition* prior_;
  MergeTree* forest_;
  Agglomeration loop_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> counts_;
  std::vector<double> log_phi_;
  std::size_t stride_, words_, threads_;
  AlignedVector values_;                 // for unions, [chunk of 8 positions][value][lane]
  std::vector<std::uint64_t> singles_;   // singletons as bits, [group of 64 positions][word]
  std::vector<std::uint32_t> larger_;    // the positions of clusters of several rows, and
  AlignedVector larger_values_;          // their values once more, side by side
  std::vector<std::uint32_t> place_of_;  // among them, by position
};

}  // namespace coppice
