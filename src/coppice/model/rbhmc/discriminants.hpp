// Updates of the discriminants given the tree.
#pragma once

#include <cstdint>
#include <vector>

#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/rbhmc/state.hpp"

namespace coppice::rbhmc {

class DiscriminantMoves {
 public:
  /// Every node with a sibling by elliptical slice sampling (Murray, Adams and MacKay 2010), every other from
  /// the prior.
  void slice(State& state, Stream& stream);
  /// Every node with a sibling by a Gaussian proposal given one auxiliary variable for each row (and level),
  /// corrected by Metropolis-Hastings; without `corrected`, as published: not exact, since the rows' worst
  /// siblings change with the discriminant.
  void gauss(State& state, Stream& stream, bool corrected);
  /// Their standard deviation given those of nodes with siblings; the others, of which nothing is known, are
  /// to be drawn from the prior next, as slice does.
  void update_sd(State& state, Stream& stream);
  /// The mean of each set of siblings from its conditional: hinges see differences only.
  void shift(State& state, Stream& stream);

  const MoveCount& slices() const { return slices_; }  // proposed: points tried
  const MoveCount& gausses() const { return gausses_; }
  std::uint64_t stuck() const { return stuck_; }
  void set_counts(const MoveCount& slices, const MoveCount& gausses, std::uint64_t stuck) {
    slices_ = slices;
    gausses_ = gausses;
    stuck_ = stuck;
  }

 private:
  void load_parent(const State& state, NodeId parent);
  void slice_child(State& state, std::size_t child, Stream& stream);
  void slice_gate(State& state, NodeId parent, std::size_t child, Stream& stream);
  /// The discriminant of a child by elliptical slice sampling: eta and nu_ span the ellipse,
  /// log_target(cosine, sine) is the log of the target on it. Returns whether a point was found; it is then
  /// in cosine, sine.
  template <typename LogTarget>
  bool slice_ellipse(Stream& stream, const LogTarget& log_target, double& cosine, double& sine);
  void gauss_child(State& state, std::size_t child, Stream& stream, bool corrected);
  void store_parent(State& state) const;
  void shift_gates(State& state, NodeId parent);

  // The rows below one parent and their scores under all its children, column by column.
  NodeId parent_ = LevelTree::kNone;
  std::size_t level_ = 0, count_ = 0;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> own_;  // the child of each row
  std::vector<NodeId> children_;
  AlignedVector scores_;
  std::size_t stride_ = 0;
  AlignedVector floor_;  // what a row pays at other levels, or nothing
  AlignedVector lowest_, offset_, along_, across_;
  std::vector<double> lambda_;
  AlignedVector eta_, nu_;
  MoveCount slices_, gausses_;
  std::uint64_t stuck_ = 0;
};

}  // namespace coppice::rbhmc
