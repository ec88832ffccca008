// The partition that carries statistics: after any sequence of moves, splits and merges it equals one built
// afresh from its labels, its Gibbs weights are ratios of joint probabilities, and an outlier whose removal
// spoils the statistics is followed by a recomputation.
#include "coppice/cluster/clusters.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/cluster/draw_weights.hpp"
#include "coppice/prior/crp.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {
namespace {

void expect_same_as_fresh(const Clusters& clusters, const Crp& crp) {
  Clusters fresh(clusters.family(), clusters.data(), crp.log_join_table());
  fresh.assign(clusters.labels());
  std::size_t used = 0;
  for (std::size_t slot = 0; slot < fresh.sizes().size(); ++slot) {
    ASSERT_EQ(clusters.sizes()[slot], fresh.sizes()[slot]);
    if (fresh.sizes()[slot] == 0) continue;
    ++used;
    const auto label = static_cast<Label>(slot);
    ASSERT_EQ(count_of(clusters.stats(label)), fresh.sizes()[slot]);
    const double expected = clusters.family().log_marginal(fresh.stats(label));
    ASSERT_NEAR(clusters.family().log_marginal(clusters.stats(label)), expected, relative(1e-8, expected));
  }
  for (std::size_t slot = fresh.sizes().size(); slot < clusters.sizes().size(); ++slot)
    ASSERT_EQ(clusters.sizes()[slot], 0u);
  ASSERT_EQ(clusters.clusters(), used);
  ASSERT_NEAR(clusters.log_marginal(), fresh.log_marginal(), relative(1e-8, fresh.log_marginal()));
}

TEST(Clusters, AnyHistoryEqualsAFreshStart) {
  for (const LawCase& law_case : law_cases()) {
    SCOPED_TRACE(law_case.name);
    const Fixture fixture(law_case, 1, 40);
    const Crp crp(1.0, 40);
    Clusters clusters(fixture.family(), fixture.rows, crp.log_join_table());
    clusters.assign(Labels(40, 0));
    Stream stream({1, 0, 0}, Purpose::test);
    std::vector<std::uint32_t> members;
    for (int i = 0; i < 400; ++i) {
      const auto row = static_cast<std::size_t>(draw_index(stream, 40));
      const Label target = clusters.label(draw_index(stream, 40));
      switch (draw_index(stream, 6)) {
        case 0:
          clusters.move_to_new(row);
          break;
        case 1:
          if (target != clusters.label(row)) clusters.merge(target, clusters.label(row));
          break;
        case 2: {
          clusters.members(target, target, members);
          if (members.size() < 2) break;
          members.resize(1 + draw_index(stream, members.size() - 1));
          clusters.split(target, members);
          break;
        }
        case 3:
          clusters.rebuild();
          break;
        default:
          clusters.move(row, target);
          break;
      }
      if (i % 10 == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_same_as_fresh(clusters, crp)) << "after " << i << " changes";
      }
    }
  }
}

/// log p(partition, data) up to the constant of the CRP.
double log_joint(const Clusters& clusters, const Crp& crp) {
  return crp.log_partition(clusters.sizes()) + clusters.log_marginal();
}

TEST(Clusters, GibbsWeightsAreRatiosOfJoints) {
  for (const LawCase& law_case : law_cases()) {
    SCOPED_TRACE(law_case.name);
    const std::size_t rows = 21;
    const Fixture fixture(law_case, 2, rows);
    const Crp crp(0.7, rows);
    Clusters clusters(fixture.family(), fixture.rows, crp.log_join_table());
    Labels labels(rows);
    for (std::size_t row = 0; row < rows; ++row) labels[row] = static_cast<Label>(row * row % 11);
    clusters.assign(labels);
    std::vector<double> empty(fixture.family().stats_size());
    fixture.family().clear(empty.data());
    for (std::size_t row = 0; row < rows; ++row) {
      AlignedVector weights(clusters.weights_size());
      clusters.log_conditional(row, weights.data());
      const Label own = labels[row];
      Clusters moved(fixture.family(), fixture.rows, crp.log_join_table());
      moved.assign(labels);
      moved.move_to_new(row);
      const double alone = log_joint(moved, crp);
      const double open = crp.log_open() + fixture.family().log_predictive(empty.data(), fixture.rows[row]);
      for (std::size_t slot = 0; slot < weights.size(); ++slot) {
        const std::uint32_t size = slot < clusters.sizes().size() ? clusters.sizes()[slot] : 0;
        if (size == 0 || (static_cast<Label>(slot) == own && size == 1)) {
          EXPECT_EQ(weights[slot], kMinusInfinity);
          continue;
        }
        moved.assign(labels);
        moved.move(row, static_cast<Label>(slot));
        const double expected = log_joint(moved, crp) - alone + open;
        EXPECT_NEAR(weights[slot], expected, relative(1e-8, expected)) << "row " << row << ", slot " << slot;
      }
    }
  }
}

TEST(Clusters, MoreClustersThanLanesAndBack) {
  const Fixture fixture(law_cases().front(), 3, 30);
  const Crp crp(1.0, 30);
  Clusters clusters(fixture.family(), fixture.rows, crp.log_join_table());
  clusters.assign(Labels(30, 0));
  for (std::size_t row = 0; row < 30; ++row) clusters.move_to_new(row);
  EXPECT_EQ(clusters.clusters(), 30u);
  ASSERT_NO_FATAL_FAILURE(expect_same_as_fresh(clusters, crp));
  for (std::size_t row = 1; row < 30; ++row) clusters.move(row, clusters.label(0));
  EXPECT_EQ(clusters.clusters(), 1u);
  ASSERT_NO_FATAL_FAILURE(expect_same_as_fresh(clusters, crp));
  const Label next = clusters.next_slot();
  EXPECT_EQ(clusters.move_to_new(5), next);
  clusters.rebuild();
  EXPECT_EQ(clusters.sizes().size(), 2u);
  ASSERT_NO_FATAL_FAILURE(expect_same_as_fresh(clusters, crp));
}

TEST(Clusters, MembersAscend) {
  const Fixture fixture(law_cases().front(), 3, 6);
  const Crp crp(1.0, 6);
  Clusters clusters(fixture.family(), fixture.rows, crp.log_join_table());
  clusters.assign(Labels{1, 0, 2, 1, 0, 1});
  std::vector<std::uint32_t> members;
  clusters.members(1, 2, members);
  EXPECT_EQ(members, (std::vector<std::uint32_t>{0, 2, 3, 5}));
  clusters.members(0, 0, members);
  EXPECT_EQ(members, (std::vector<std::uint32_t>{1, 4}));
}

TEST(Clusters, OutlierThatLeavesIsForgotten) {
  for (const char* family : {"gaussian", "gaussian-diagonal"}) {
    SCOPED_TRACE(family);
    for (const double far : {1e4, 1e7, 1e10}) {
      Table table;
      table.columns.push_back({"x", Kind::real, {0.1, -0.2, 0.3, 0.05, -0.1, far}, {}});
      table.row_ids = {"1", "2", "3", "4", "5", "6"};
      Settings settings;
      parse_assignment("prior_mean=0", settings);
      if (std::string(family) == "gaussian")
        parse_assignment("scale=0.1", settings);
      else
        parse_assignment("rate=0.1", settings);
      const FamilyPlan plan = plan_family(table, {}, family, settings);
      const Rows rows = encode(plan, table);
      const Crp crp(1.0, 6);
      std::vector<double> stats(plan.family->stats_size());
      plan.family->clear(stats.data());
      for (std::size_t row = 0; row < 6; ++row) plan.family->add(stats.data(), rows[row]);
      EXPECT_FALSE(plan.family->remove(stats.data(), rows[5]))
          << "at " << far << " the loss of digits goes unreported";
      Clusters clusters(*plan.family, rows, crp.log_join_table());
      clusters.assign(Labels(6, 0));
      clusters.move_to_new(5);
      const double kept = clusters.log_marginal();
      Clusters fresh(*plan.family, rows, crp.log_join_table());
      fresh.assign(clusters.labels());
      EXPECT_EQ(kept, fresh.log_marginal()) << "the statistics were not recomputed";
    }
  }
}

TEST(DrawWeights, EveryIndexHasItsShareOfTheUnitInterval) {
  AlignedVector logs(24, kMinusInfinity);
  logs[0] = 0.0;
  logs[2] = -1.0;
  logs[3] = 2.0;
  logs[4] = -800.0;  // too small to count
  logs[15] = 1.0;
  logs[17] = 2.5;
  double total = 0.0;
  for (const double value : logs) total += std::exp(value - 2.5);
  double before = 0.0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double share = logs[i] < -700.0 ? 0.0 : std::exp(logs[i] - 2.5) / total;
    if (share == 0.0) continue;
    for (const double inside : {before + 1e-12, before + 0.5 * share, before + share - 1e-12}) {
      AlignedVector weights = logs;
      EXPECT_EQ(draw_from_log_weights(weights.data(), weights.size(), inside), i) << inside;
    }
    before += share;
  }
  // The ends of the open interval, and a single possibility however unlikely.
  for (const double uniform : {0x1p-53, 0.5, 1.0 - 0x1p-53}) {
    AlignedVector weights = logs;
    EXPECT_GT(logs[draw_from_log_weights(weights.data(), weights.size(), uniform)], -700.0);
    AlignedVector lone(16, kMinusInfinity);
    lone[9] = -1e5;
    EXPECT_EQ(draw_from_log_weights(lone.data(), lone.size(), uniform), 9u);
  }
}

}  // namespace
}  // namespace coppice::test
