// Randomized Bayesian hierarchical clustering of the rows, from the top down. A row x goes to the half a of
// the small tree if S_a(x) > S_b(x), with
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
#include "coppice/cluster/division.hpp"
#include "coppice/cluster/merge_tree.hpp"
#include "coppice/family/family.hpp"
#include "coppice/prior/product_partition.hpp"

namespace coppice {

class RandomizedMerging final : private DividedItems {
 public:
  using Node = MergeTree::Node;

  /// All must outlive it. Trees are made in `forest`, which may hold others.
  RandomizedMerging(const Family& family, const Rows& rows, const ProductPartition& prior, MergeTree& forest,
                    RandomizedOptions options);

  /// Begins with these rows (ascending).
  void start(std::span<const std::uint32_t> rows) { division_.start(rows); }
  bool finished() const { return division_.finished(); }
  /// One unit; calls on_made with every node that is made, children first.
  void step(const StreamName& name, const std::function<void(Node)>& on_made) {
    division_.step(name, *this, on_made);
  }
  /// Rows that are in no tree yet.
  std::vector<std::uint32_t> waiting() const { return division_.waiting(); }

  void save(ByteWriter& writer, const std::function<std::uint32_t(Node)>& number_of) const {
    division_.save(writer, number_of);
  }
  /// Throws Error{bad_data} if the bytes are no work that can be left.
  void load(ByteReader& reader, const std::function<Node(std::uint32_t)>& node_of) {
    division_.load(reader, rows_->size(), node_of);
  }

 private:
  Node merge_all(std::span<const std::uint32_t> rows, const OnMade& on_made) override;
  Node block(std::span<const std::uint32_t> rows, const OnMade& on_made) override;
  Node join(Node left, Node right, const OnMade& on_made) override;
  void divide(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> chosen,
              std::vector<char>& on_left) override;

  const Family* family_;
  const Rows* rows_;
  const ProductPartition* prior_;
  MergeTree* forest_;
  Division division_;
};

}  // namespace coppice
