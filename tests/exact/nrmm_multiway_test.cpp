// The multiway move by brute force: for a few rows and small guide trees every way in which it can propose
// something is followed, the probabilities of all ways that lead from one partition to another are summed,
// forwards and backwards, and the move itself must go where Metropolis-Hastings with these sums goes. Rows
// are bits, trees are nested sets of rows; nothing is shared with the move.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "coppice/model/nrmm/multiway.hpp"
#include "coppice/prior/crp.hpp"
#include "coppice/prior/ngg.hpp"
#include "laws/law_case.hpp"
#include "support/kernel_row.hpp"
#include "support/nrmm_enumeration.hpp"

namespace coppice::test {
namespace {

using Rowset = unsigned;
using Blocks = std::set<Rowset>;

/// A tree by its inner nodes: the rows below the left and the right child.
using Tree = std::vector<std::pair<Rowset, Rowset>>;

/// What leads from one partition to others.
struct Proposals {
  std::map<Blocks, double> probability;
  std::map<Blocks, int> ways;
  double nowhere = 0.0;  // a single row was to be split
};

class BruteForce {
 public:
  BruteForce(const Family& family, const Rows& rows, Tree tree,
             const std::function<double(std::size_t)>& kappa)
      : tree_(std::move(tree)), weight_(std::size_t{1} << rows.size()) {
    std::vector<double> stats(family.stats_size());
    for (Rowset set = 1; set < weight_.size(); ++set) {
      family.clear(stats.data());
      for (std::size_t row = 0; row < rows.size(); ++row)
        if ((set >> row & 1U) != 0) family.add(stats.data(), rows[row]);
      weight_[set] =
          kappa(static_cast<std::size_t>(std::popcount(set))) * std::exp(family.log_marginal(stats.data()));
    }
  }

  double weight(const Blocks& partition) const {
    double product = 1.0;
    for (const Rowset block : partition) product *= weight_[block];
    return product;
  }

  Proposals from(const Blocks& partition) const {
    Proposals proposals;
    const std::vector<Rowset> list(partition.begin(), partition.end());
    for (std::size_t first = 0; first < list.size(); ++first)
      for (std::size_t others = 0; others < std::size_t{1} << list.size(); ++others) {
        if ((others >> first & 1U) != 0) continue;
        double p = 1.0 / static_cast<double>(list.size());
        Blocks target;
        Rowset joined = list[first];
        for (std::size_t i = 0; i < list.size(); ++i) {
          if (i == first) continue;
          const double join = 1.0 / (1.0 + d(list[first], list[i]));
          const bool joins = (others >> i & 1U) != 0;
          p *= joins ? join : 1.0 - join;
          if (joins)
            joined |= list[i];
          else
            target.insert(list[i]);
        }
        if (others != 0) {
          target.insert(joined);
          proposals.probability[target] += p;
          ++proposals.ways[target];
        } else if (std::popcount(joined) == 1) {
          proposals.nowhere += p;
        } else {
          split(joined, target, p, proposals);
        }
      }
    return proposals;
  }

  /// The transition probabilities from this partition.
  std::map<std::string, double> row(const Blocks& partition, std::size_t rows) const {
    std::map<std::string, double> row;
    double stays = 1.0;
    for (const auto& [target, forward] : from(partition).probability) {
      const Proposals back = from(target);
      const auto found = back.probability.find(partition);
      const double backward = found == back.probability.end() ? 0.0 : found->second;
      const double accepted = std::min(1.0, weight(target) * backward / (weight(partition) * forward));
      if (accepted == 0.0) continue;
      row[key(target, rows)] = forward * accepted;
      stays -= forward * accepted;
    }
    row[key(partition, rows)] = stays;
    return row;
  }

 private:
  double d(Rowset a, Rowset b) const { return weight_[a] * weight_[b] / weight_[a | b]; }

  static std::string key(const Blocks& partition, std::size_t rows) {
    Labels labels(rows);
    Label label = 0;
    for (const Rowset block : partition) {
      for (std::size_t row = 0; row < rows; ++row)
        if ((block >> row & 1U) != 0) labels[row] = label;
      ++label;
    }
    canonicalize(labels);
    return partition_key(labels);
  }

  void split(Rowset cluster, const Blocks& others, double p, Proposals& proposals) const {
    // Nodes of the tree with rows of the cluster on both sides are the inner nodes of the restricted tree.
    Tree inner;
    for (const auto& [left, right] : tree_)
      if ((left & cluster) != 0 && (right & cluster) != 0)
        inner.emplace_back(left & cluster, right & cluster);
    const auto share = [&](const std::pair<Rowset, Rowset>& node) {
      const double apart = d(node.first, node.second);
      return apart / (1.0 + apart) + 0.5 / static_cast<double>(inner.size());
    };
    double total = 0.0;
    for (const auto& node : inner) total += share(node);
    for (const auto& node : inner)
      insert(inner, node.first | node.second, {node.first, node.second}, others, p * share(node) / total,
             proposals);
  }

  /// The subtree beside `below` joins one of the groups or founds one, and so on up to the root.
  void insert(const Tree& inner, Rowset below, const Blocks& groups, const Blocks& others, double p,
              Proposals& proposals) const {
    Rowset beside = 0;
    for (const auto& [left, right] : inner) {
      if (left == below) beside = right;
      if (right == below) beside = left;
    }
    if (beside == 0) {
      Blocks target = others;
      target.insert(groups.begin(), groups.end());
      proposals.probability[target] += p;
      ++proposals.ways[target];
      return;
    }
    double total = 1.0;
    for (const Rowset group : groups) total += 1.0 / d(group, beside);
    for (const Rowset group : groups) {
      Blocks more = groups;
      more.erase(group);
      more.insert(group | beside);
      insert(inner, below | beside, more, others, p / d(group, beside) / total, proposals);
    }
    Blocks more = groups;
    more.insert(beside);
    insert(inner, below | beside, more, others, p / total, proposals);
  }

  Tree tree_;
  std::vector<double> weight_;
};

/// Joins of two earlier nodes, as RowTree counts them.
using Joins = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct GuideCase {
  std::string name;
  std::size_t rows;
  Joins joins;
  bool ngg;
};

void PrintTo(const GuideCase& guide, std::ostream* out) { *out << guide.name; }

class NrmmMultiwayByBruteForce : public ::testing::TestWithParam<GuideCase> {};

TEST_P(NrmmMultiwayByBruteForce, GoesWhereItsProposalsLead) {
  constexpr std::size_t kMoves = 20'000;
  constexpr double kAlpha = 1.3;
  constexpr double kSigma = 0.35;
  constexpr double kT = 0.8;
  const auto& [name, rows, joins, is_ngg] = GetParam();
  RowTree guide(rows);
  Tree tree;
  std::vector<Rowset> below;
  for (std::size_t row = 0; row < rows; ++row) below.push_back(Rowset{1} << row);
  for (const auto& [left, right] : joins) {
    guide.join(left, right);
    tree.emplace_back(below[left], below[right]);
    below.push_back(below[left] | below[right]);
  }
  guide.finish();
  std::unique_ptr<ProductPartition> prior;
  std::function<double(std::size_t)> kappa;
  if (is_ngg) {
    auto ngg = std::make_unique<Ngg>(kAlpha, kSigma, rows);
    ngg->set(kAlpha, kSigma, std::log(kT));
    prior = std::move(ngg);
    kappa = [&](std::size_t n) {
      return kAlpha * kSigma * (1.0 + kT) * std::tgamma(static_cast<double>(n) - kSigma) /
             std::tgamma(1.0 - kSigma);
    };
  } else {
    prior = std::make_unique<Crp>(kAlpha, rows);
    kappa = [&](std::size_t n) { return kAlpha * std::tgamma(static_cast<double>(n)); };
  }
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture({"multiway", "gaussian-diagonal", {{Kind::real}, {Kind::real}}}, seed, rows);
    const BruteForce exact(fixture.family(), fixture.rows, tree, kappa);
    Clusters clusters(fixture.family(), fixture.rows, prior->log_join_table());
    nrmm::Multiway multiway(fixture.family(), fixture.rows, *prior);
    std::uint64_t number = 0;
    for_each_partition(rows, [&](std::span<const Label> labels, std::size_t count) {
      std::vector<Rowset> blocks(count, 0);
      for (std::size_t row = 0; row < rows; ++row)
        blocks[static_cast<std::size_t>(labels[row])] |= Rowset{1} << row;
      const Blocks start(blocks.begin(), blocks.end());
      const Proposals proposals = exact.from(start);
      double total = proposals.nowhere;
      for (const auto& [target, probability] : proposals.probability) {
        total += probability;
        // What the move relies on: there is one way to split a cluster into given groups.
        EXPECT_TRUE(target.size() < start.size() || proposals.ways.at(target) == 1);
      }
      EXPECT_NEAR(total, 1.0, 1e-12);
      expect_kernel_row(clusters, Labels(labels.begin(), labels.end()), exact.row(start, rows),
                        scaled(kMoves), seed, ++number,
                        [&](Stream& stream) { multiway.step(clusters, guide, stream); });
    });
    EXPECT_GT(multiway.splits().accepted, 100u);
    EXPECT_GT(multiway.merges().accepted, 100u);
  }
}

INSTANTIATE_TEST_SUITE_P(Guides, NrmmMultiwayByBruteForce,
                         ::testing::Values(GuideCase{"balanced_dp", 4, {{0, 2}, {1, 3}, {4, 5}}, false},
                                           GuideCase{"chain_dp", 4, {{3, 1}, {4, 0}, {2, 5}}, false},
                                           GuideCase{"chain_ngg", 4, {{0, 1}, {2, 4}, {5, 3}}, true},
                                           GuideCase{"five_ngg", 5, {{0, 3}, {1, 4}, {5, 2}, {7, 6}}, true}),
                         [](const ::testing::TestParamInfo<GuideCase>& info) { return info.param.name; });

}  // namespace
}  // namespace coppice::test
