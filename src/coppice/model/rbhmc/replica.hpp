// One copy of the state with all its moves: the chain itself, or one of its tempered companions.
#pragma once

#include "coppice/model/rbhmc/block_moves.hpp"
#include "coppice/model/rbhmc/component_moves.hpp"
#include "coppice/model/rbhmc/discriminants.hpp"
#include "coppice/model/rbhmc/paths.hpp"
#include "coppice/model/rbhmc/state.hpp"
#include "coppice/model/rbhmc/structure.hpp"

namespace coppice::rbhmc {

class Replica {
 public:
  Replica(const Problem& problem, const Options& options);

  const State& state() const { return state_; }
  State& state() { return state_; }
  void init(const StreamName& name);
  void draw_prior(const StreamName& name);
  void step(const StreamName& name);

  std::vector<MoveStatistics> moves() const;
  std::string save() const;
  /// Earlier states have no counts of moves of blocks.
  void load(std::string_view bytes, bool has_block_counts = true);

 private:
  struct Counts {
    MoveCount paths, branches, component_splits, component_merges, splits, merges, regrafts, slices, gausses;
    std::uint64_t stuck = 0;
  };
  struct BlockCounts {
    MoveCount blocks, shares;
  };
  void pass(const StreamName& name, std::uint64_t site, bool structure);
  void sweep_as_published(const StreamName& name);

  State state_;
  PathMoves paths_;
  StructureMoves structure_;
  ComponentMoves components_;
  BlockMoves blocks_;
  DiscriminantMoves discriminants_;
};

}  // namespace coppice::rbhmc
