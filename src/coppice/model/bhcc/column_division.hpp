// Randomized cross-clustering, from the top down. A column y goes to the half a of the small tree if
// S_a(y) > S_b(y), with Q_c(y) the probability of the column given the tree over the rows of view c,
//   S(c) = r_c N_c Q_c(y) + (1 - r_c) (S(left) + S(right)).
// The published rule leaves out the sizes and compares pi_a S_a with pi_b S_b, pi the prior probability that
// the half is one view.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "coppice/cluster/division.hpp"
#include "coppice/model/bhcc/column_forest.hpp"

namespace coppice::bhcc {

class ColumnDivision final : private DividedItems {
 public:
  using Node = ColumnForest::Node;

  /// Both must outlive it.
  ColumnDivision(const ViewTrees& trees, ColumnForest& forest, RandomizedOptions options)
      : trees_(&trees), forest_(&forest), division_(std::move(options)) {}

  /// Begins with all columns of the forest.
  void start();
  bool finished() const { return division_.finished(); }
  void step() {
    division_.step(trees_->name(), *this, [](Node) {});
  }

  void save(ByteWriter& writer) const {
    division_.save(writer, [](Node node) { return node; });
  }
  /// Throws Error{bad_data} if the bytes are no work that this forest leaves.
  void load(ByteReader& reader);

 private:
  Node merge_all(std::span<const std::uint32_t> columns, const OnMade& on_made) override;
  Node block(std::span<const std::uint32_t> columns, const OnMade& on_made) override;
  Node join(Node left, Node right, const OnMade& on_made) override;
  void divide(std::span<const std::uint32_t> columns, std::span<const std::uint32_t> chosen,
              std::vector<char>& on_left) override;

  const ViewTrees* trees_;
  ColumnForest* forest_;
  Division division_;
};

}  // namespace coppice::bhcc
