// One copy of the state with all its moves: the chain itself, or one of its tempered companions.
#pragma once

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
  void load(std::string_view bytes);

 private:
  struct Counts {
    MoveCount paths, branches, component_splits, component_merges, splits, merges, regrafts, slices, gausses;
    std::uint64_t stuck = 0;
  };
  void pass(const StreamName& name, std::uint64_t site, bool structure);
  void sweep_as_published(const StreamName& name);

  State state_;
  PathMoves paths_;
  StructureMoves structure_;
  ComponentMoves components_;
  DiscriminantMoves discriminants_;
};

}  // namespace coppice::rbhmc
