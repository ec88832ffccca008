// Split and merge of components, at the moment of a weights pass when all tables are known and all weights
// integrated out. Then the state is (tree, components, tables) with the law of a Chinese restaurant
// franchise,
//   prod over z != root [ Gamma(gamma) / Gamma(gamma + n_z.) prod_k gamma^m_zk S(n_zk, m_zk) ]
//   * Gamma(gamma0) / Gamma(gamma0 + n_0.) gamma0^K prod_k Gamma(n_0k),
// S being Stirling numbers of the first kind. Rows are divided by restricted Gibbs scans;
// the tables of a new component are drawn from the leaves up with guessed masses, and since Antoniak's law
// has the same Stirling numbers, they cancel. The guess for a dish at a node is the dish's share of the rows
// below the node's parent.
#pragma once

#include <cstdint>
#include <vector>

#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/rbhmc/state.hpp"

namespace coppice::rbhmc {

/// Rows are divided in the way the tree would: the groups' weights at a leaf are their rows there and, with
/// the mass gamma, their weights one level up, to the root, where they are their sizes.
class TreePairPrior final : public PairPrior {
 public:
  void use(const State& state);
  void clear() override;
  void add(std::uint32_t item, std::size_t group) override { change(item, group, 1.0); }
  void remove(std::uint32_t item, std::size_t group) override { change(item, group, -1.0); }
  double log_odds(std::uint32_t item) const override;

 private:
  void change(std::uint32_t item, std::size_t group, double by);

  const LevelTree* tree_ = nullptr;
  double gamma_ = 1.0;
  std::vector<double> rows_;  // of both groups below every node
};

class ComponentMoves {
 public:
  ComponentMoves(const Problem& problem);

  /// One move; the state is inside a pass, between tables and weights.
  void step(State& state, Stream& stream);

  const MoveCount& splits() const { return splits_; }
  const MoveCount& merges() const { return merges_; }
  void set_counts(const MoveCount& splits, const MoveCount& merges) {
    splits_ = splits;
    merges_ = merges;
  }

 private:
  /// Customers and tables of one dish at every node.
  struct Dish {
    std::vector<double> customers, tables, rows;  // by node
    double log_ratio = 0.0;                       // of target to proposal, up to the nodes' totals
  };
  /// Customers of leaves, and rows below every node, from the members.
  void seat(const State& state, std::span<const std::uint32_t> members, Dish& dish) const;
  /// Tables from the leaves up: drawn, or taken from `slot` if it is not negative.
  void set_tables(const State& state, Dish& dish, Label slot, Stream* stream) const;
  /// Divides the items between the two rows, without regard to where they are now.
  void launch(std::uint32_t a, std::uint32_t b, Stream& stream);
  /// log of the split state against the merged one, without the marginals and the division of the rows.
  double log_tables(const State& state, bool merged_is_present) const;
  void write(State& state, Label slot, const Dish& dish) const;

  const Family* family_;  // of the state that is moved
  std::vector<double> log_join_;
  TreePairPrior pair_prior_;
  RestrictedPair pair_;
  std::vector<std::uint32_t> items_, members_[2], all_;
  std::vector<std::uint8_t> target_;
  std::vector<double> merged_;
  Dish joint_, parts_[2];
  MoveCount splits_, merges_;
};

}  // namespace coppice::rbhmc
