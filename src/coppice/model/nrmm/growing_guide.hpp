// A guide tree that rows are added to one at a time. Its leaves are buckets of at most 64 rows; inner nodes
// carry statistics, by which a new row finds its way down to the bucket where it fits best. A bucket that is
// full is halved, and a subtree that has become too deep for its number of buckets is rebuilt, so that a row
// costs O(log N) evaluations. Neither depends on any partition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/model/nrmm/bisect.hpp"

namespace coppice::nrmm {

class GrowingGuide {
 public:
  /// A tree of the first `count` rows, at least one.
  GrowingGuide(const Family& family, const Rows& rows, std::size_t count, Stream& stream);

  /// Adds a row; returns the rows of the bucket it came to, itself among them.
  std::span<const std::uint32_t> insert(std::uint32_t row, Stream& stream);

  std::size_t rows() const { return nodes_[root_].count; }
  std::size_t height() const { return nodes_[root_].height; }
  std::size_t buckets() const { return nodes_[root_].buckets; }
  /// Throws Error{bug} unless counts, statistics and buckets agree with each other and hold each of the first
  /// rows() rows once.
  void audit() const;

 private:
  using Node = std::uint32_t;
  static constexpr Node kNone = static_cast<Node>(-1);
  static constexpr std::size_t kMostInBucket = 64;

  struct Links {
    Node parent = kNone, left = kNone, right = kNone;  // no children: a bucket
    std::uint32_t count = 0, buckets = 1, height = 0;
    std::vector<std::uint32_t> members = {};
  };

  bool is_bucket(Node node) const { return nodes_[node].left == kNone; }
  double* stats(Node node) { return stats_.data() + node * family_->stats_size(); }
  const double* stats(Node node) const { return stats_.data() + node * family_->stats_size(); }
  Node allocate();
  /// A subtree of these rows below `parent`; changes their order.
  Node build(std::span<std::uint32_t> rows, Node parent, std::size_t total, std::size_t depth,
             Stream& stream);
  void fill_bucket(Node node, std::span<const std::uint32_t> rows);
  void split(Node bucket, Stream& stream);
  /// Counts and heights from the children, from here up to the root.
  void update_upwards(Node node);
  static bool too_deep(const Links& node);
  void rebuild(Node node, Stream& stream);
  void collect_and_free(Node node, std::vector<std::uint32_t>& rows);

  const Family* family_;
  const Rows* rows_;
  Bisection bisection_;
  Node root_ = kNone;
  std::vector<Links> nodes_;
  AlignedVector stats_;
  std::vector<Node> free_;
};

}  // namespace coppice::nrmm
