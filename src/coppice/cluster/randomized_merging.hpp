// Randomised Bayesian hierarchical clustering, from the top down: a few rows are clustered, their tree's two
// halves a and b say where each other row goes, and each side is treated in the same way until it is small
// enough for exact greedy merging. A row x goes to a if S_a(x) > S_b(x), with
//   S(c) = r_c N_c p(x | rows of c) + (1 - r_c) (S(left) + S(right)),
// the average over the partitions of c of the sizes that x joins times its predictives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/cluster/merge_tree.hpp"
#include "coppice/family/family.hpp"
#include "coppice/prior/product_partition.hpp"

namespace coppice {

struct RandomizedOptions {
  std::size_t threshold = 20;  // rows that are merged greedily
  std::size_t subset = 10;     // rows that divide the others; from 2 to the threshold
  std::size_t levels = 0;      // divisions above a row at most, then its side is one block; 0: no limit
  /// For tests: the rows of smallest priority divide the others; empty: they are drawn.
  std::vector<double> priority = {};
  /// For tests: hears log S_a and log S_b of every row that is sent to a side.
  std::function<void(std::uint32_t row, double log_left, double log_right)> on_filter = {};
};

class RandomizedMerging {
 public:
  using Node = MergeTree::Node;

  /// All must outlive it. Trees are made in `forest`, which may hold others.
  RandomizedMerging(const Family& family, const Rows& rows, const ProductPartition& prior, MergeTree& forest,
                    RandomizedOptions options);

  /// Begins with these rows (ascending).
  void start(std::span<const std::uint32_t> rows);
  bool finished() const { return tasks_.empty(); }
  /// One unit: a division, the tree of a side, or the merge of two sides. Drawing depends on seed and chain
  /// of the name and on the side. Calls on_made with every node that is made, children first.
  void step(const StreamName& name, const std::function<void(Node)>& on_made);
  /// Rows that are in no tree yet.
  std::vector<std::uint32_t> waiting() const;

  /// The work that is left; nodes are given as numbers by `number_of`.
  void save(ByteWriter& writer, const std::function<std::uint32_t(Node)>& number_of) const;
  /// Throws Error{bad_data} if the bytes are no such work.
  void load(ByteReader& reader, const std::function<Node(std::uint32_t)>& node_of);

 private:
  struct Task {
    std::vector<std::uint32_t> rows;  // none: merge the two trees that were finished last
    std::uint64_t depth = 0;
    std::uint64_t path = 1;  // which side of which side
  };

  void divide(const Task& task, const StreamName& name);
  std::vector<std::uint32_t> choose(const Task& task, const StreamName& name) const;

  const Family* family_;
  const Rows* rows_;
  const ProductPartition* prior_;
  MergeTree* forest_;
  RandomizedOptions options_;
  std::vector<Task> tasks_;
  std::vector<Node> done_;
};

}  // namespace coppice
