// Moves of blocks: all rows of one component in one leaf go to another place of the tree at once, or the rows
// of one component in two leaves are divided between them again. The moment is that of ComponentMoves: all
// tables are known and all weights integrated out, so nothing but the seats of one dish on two paths, the
// sizes of their nodes and the tree's prior change. No density of a row is looked at, and a move costs in
// proportion to the nodes and components, not to the rows; only a move that is accepted touches its rows.
//
// The place of a block is drawn from the nested Chinese restaurant process and the leaves' totals, and from a
// guess at the dish's weight there, given the tree without the block, in which the present place is one among
// the others; under a penalty by evidence, from that too, which makes the block's rows be added up. Tables of
// the dish on the two paths are drawn from the leaves up with guessed masses, as ComponentMoves does.
#pragma once

#include <cstdint>
#include <vector>

#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/rbhmc/state.hpp"

namespace coppice::rbhmc {

class BlockMoves {
 public:
  /// One move; the state is inside a pass, between tables and weights. With hinges nothing happens: they
  /// would have to be computed for all rows.
  void step(State& state, Stream& stream);

  const MoveCount& blocks() const { return blocks_; }
  const MoveCount& shares() const { return shares_; }
  void set_counts(const MoveCount& blocks, const MoveCount& shares) {
    blocks_ = blocks;
    shares_ = shares;
  }

 private:
  /// A node of the path from which rows go or of the one to which they come, and the dish there.
  struct Site {
    NodeId node = LevelTree::kNone;  // none: it will be made
    double size = 0.0, size_after = 0.0;
    double rows = 0.0, rows_after = 0.0;  // of the dish, below the node
    double customers = 0.0, customers_after = 0.0;
    double tables = 0.0, tables_after = 0.0;
  };

  void move_block(State& state, Stream& stream);
  void move_share(State& state, Stream& stream);

  /// A row's leaf and component become those of the move.
  void choose_source(const State& state, Stream& stream);
  /// Places for the block in the tree without it (leaves without the dish, and inner nodes for a new branch
  /// below them), with the logs of their weights; the first is the present one.
  void list_places(const State& state);
  /// The two paths: from the source, and to a leaf or to a new branch below an inner node.
  void set_paths(const State& state, NodeId to);
  bool is_shared(std::size_t level) const { return level <= shared_; }
  template <typename Visit>
  void for_each_site(Visit&& visit);
  /// Seats of the dish when `moved` rows change over, and the log ratio of target to proposal.
  double reseat(const State& state, double moved, Stream& stream);
  /// Accepts or not, the regularizer included.
  bool decide(State& state, double log_ratio, Stream& stream);
  void apply(State& state, Stream& stream);
  void list_rows(const State& state, Stream& stream);
  void write_seats(State& state, bool after);
  void list_split_parents(const State& state);

  std::size_t dish_ = 0;
  NodeId source_ = LevelTree::kNone;
  double count_ = 0.0;                // rows of the dish in the source
  double kept_ = 0.0;                 // and after the move
  std::size_t shared_ = 0;            // the last level at which the paths are one
  std::vector<Site> paths_[2];        // by level, from the root
  NodeId branch_ = LevelTree::kNone;  // the topmost node made for the block
  std::vector<NodeId> places_;
  std::vector<double> log_weights_, weights_, prefix_, serves_, rows_below_;
  SplitEvidence::Group group_;  // the features of the block, under a penalty by evidence
  std::vector<std::uint32_t> pool_, outgoing_, incoming_;
  std::vector<NodeId> parents_;
  MoveCount blocks_, shares_;
};

}  // namespace coppice::rbhmc
