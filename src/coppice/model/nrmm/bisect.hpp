// Halving a set of rows again and again: a balanced binary tree in which similar rows stand together.
#pragma once

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
  Bisection(const Family& family, const Rows& rows);

  /// Joins the rows (at least one) below one node of the tree and returns it; changes their order.
  RowTree::Node build(RowTree& tree, std::span<std::uint32_t> rows, Stream& stream);
  /// Puts the rows of the first half before those of the second; returns the size of the first. Neither is
  /// empty, nor smaller than a sixteenth.
  std::size_t divide(std::span<std::uint32_t> rows, Stream& stream);

 private:
  /// How much better the row fits the first of the two groups.
  double preference(std::uint32_t row);
  void set_groups(std::span<const std::uint32_t> rows, std::span<const std::uint8_t> sides);

  const Family* family_;
  const Rows* rows_;
  AlignedVector stats_, bank_, scores_;
  std::vector<std::uint32_t> sample_;
  std::vector<std::uint8_t> sides_;
  std::vector<std::pair<double, std::uint32_t>> ranked_;
};

}  // namespace coppice::nrmm
