// Recursive bisection of a set of rows: a binary tree in which similar rows are close together. A
// division may be as uneven as one to fifteen where the tree is still shallow for its number of rows, else
// one to three: below a node of n rows no row is deeper than 2.5 log2(n) + 9 or so.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/shape/row_tree.hpp"

namespace coppice::nrmm {

class Bisection {
 public:
  /// `stop` may be null; build gives up with Error{stopped} when it is set.
  Bisection(const Family& family, const Rows& rows, const std::atomic<bool>* stop = nullptr);

  /// Joins the rows (at least one) below one node of the tree and returns it; changes their order.
  RowTree::Node build(RowTree& tree, std::span<std::uint32_t> rows, Stream& stream) {
    return build(tree, rows, rows.size(), 0, stream);
  }
  /// Puts the rows of the first part before those of the second; returns the size of the first. Neither is
  /// empty, nor smaller than a sixteenth, or a quarter if they must be even.
  std::size_t divide(std::span<std::uint32_t> rows, bool even, Stream& stream);
  /// Whether a node of `size` rows, `depth` steps below one of `total` rows, must be divided evenly.
  static bool must_be_even(std::size_t size, std::size_t total, std::size_t depth);

 private:
  RowTree::Node build(RowTree& tree, std::span<std::uint32_t> rows, std::size_t total, std::size_t depth,
                      Stream& stream);
  /// How much better the row fits the first of the two groups.
  double preference(std::uint32_t row);
  void set_groups(std::span<const std::uint32_t> rows, std::span<const std::uint8_t> sides);

  const Family* family_;
  const Rows* rows_;
  const std::atomic<bool>* stop_;
  AlignedVector stats_, cache_, scores_;
  std::vector<std::uint8_t> sides_;
  std::vector<std::pair<double, std::uint32_t>> ranked_;
};

}  // namespace coppice::nrmm
