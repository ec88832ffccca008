// Moves of whole nodes, at one level of a weights pass: split and merge of siblings, and regrafting a node
// under another parent. At that moment the weights of the level and below are integrated out and the tables
// of the level below are known, so a node is a set of units: rows at the lowest level, children above it. A
// unit brings a vector of customers and a number of rows; a node with customers n under weights beta has the
// probability DM(n; gamma beta).
#pragma once

#include <cstdint>
#include <vector>

#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/rbhmc/state.hpp"

namespace coppice::rbhmc {

class StructureMoves {
 public:
  /// All moves of one level; their numbers come from the options.
  void at_level(State& state, std::size_t level, Stream& stream, Stream& discriminants);

  const MoveCount& splits() const { return splits_; }
  const MoveCount& merges() const { return merges_; }
  const MoveCount& regrafts() const { return regrafts_; }
  void set_counts(const MoveCount& splits, const MoveCount& merges, const MoveCount& regrafts) {
    splits_ = splits;
    merges_ = merges;
    regrafts_ = regrafts;
  }

 private:
  /// One of the two sides of a split.
  struct Side {
    std::vector<double> customers;
    double total = 0.0;  // customers
    double rows = 0.0;
    SplitEvidence::Group group;  // of their features, under a penalty by evidence
  };

  void split_or_merge(State& state, std::size_t level, Stream& stream, Stream& discriminants);
  void regraft(State& state, std::size_t level, Stream& stream);

  bool choose_pair(const State& state, std::size_t level, Stream& stream);
  NodeId node_of_unit(const State& state, std::size_t level, std::uint32_t unit) const;
  void clear(const State& state, Side& side) const;
  void add(const State& state, std::size_t level, std::uint32_t unit, Side& side) const;
  /// log of DM(side + unit) / DM(side).
  double log_gain(const State& state, std::size_t level, std::uint32_t unit, const Side& side) const;
  /// By how much the log reward of a split into sides grows when the unit joins this one.
  double reward_gain(const State& state, std::size_t level, std::uint32_t unit, const Side& side) const;
  double log_probability(const State& state, const Side& side) const;
  void units_of(const State& state, std::size_t level, NodeId node, std::vector<std::uint32_t>& units) const;
  void move_unit(State& state, std::size_t level, std::uint32_t unit, NodeId to) const;
  void rows_of(const State& state, std::size_t level, std::span<const std::uint32_t> units,
               std::vector<std::uint32_t>& rows) const;
  /// Scores that a move changes are kept, so that it can be undone; change_ is what the hinges gain by it.
  void begin_changes();
  template <typename Change>
  void change_row(State& state, std::uint32_t row, Change&& change);
  void undo_changes(State& state) const;
  /// The same with rewards, which are kept by node: those of the splits of each of these nodes; leaves have
  /// none.
  double log_rewards(const State& state, std::span<const NodeId> parents) const;
  void refresh_splits(State& state, std::span<const NodeId> parents) const;
  /// Rows below a node whose path or siblings at levels first .. last are others now.
  void refresh_below(State& state, NodeId node, std::size_t first, std::size_t last);
  /// Rows below a node that has gained or lost a sibling.
  void sibling_came(State& state, NodeId node, NodeId fresh);
  void sibling_went(State& state, NodeId node, NodeId gone);

  NodeId parent_ = LevelTree::kNone;  // of the pair
  std::uint32_t units_[2] = {0, 0};
  std::vector<std::uint32_t> others_, sides_of_one_, members_, touched_;
  double change_ = 0.0;
  std::vector<std::uint8_t> side_of_;
  Side sides_[2], joint_;
  SplitEvidence::Group grafted_;
  std::vector<double> kept_own_, kept_best_;
  std::vector<NodeId> kept_rival_;
  std::vector<double> weights_;
  std::vector<NodeId> changed_;  // nodes whose splits a regraft changes
  AlignedVector eta_;
  MoveCount splits_, merges_, regrafts_;
};

}  // namespace coppice::rbhmc
