// The consensus against all partitions of small n, its loss against the definition, and its promises on
// larger draws.
#include "coppice/post/consensus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/error.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/linkage.hpp"
#include "coppice/post/scores.hpp"
#include "random_draws.hpp"

namespace coppice {
namespace {

// The definition, from functions that share no code with the search.
double loss_by_definition(const LabelMatrix& draws, std::span<const Label> labels, Loss loss) {
  double sum = 0.0;
  for (std::size_t d = 0; d < draws.draws(); ++d) {
    sum += loss == Loss::vi ? variation_of_information(labels, draws[d]) : binder_distance(labels, draws[d]);
  }
  return sum / static_cast<double>(draws.draws());
}

double best_of_all_partitions(const LabelMatrix& draws, Loss loss) {
  double best = std::numeric_limits<double>::infinity();
  for_each_partition(draws.rows, [&](std::span<const Label> labels, std::size_t) {
    best = std::min(best, loss_by_definition(draws, labels, loss));
  });
  return best;
}

class ConsensusOf : public testing::TestWithParam<Loss> {};
INSTANTIATE_TEST_SUITE_P(Losses, ConsensusOf, testing::Values(Loss::vi, Loss::binder),
                         [](const auto& info) { return info.param == Loss::vi ? "vi" : "binder"; });

TEST_P(ConsensusOf, LossIsTheAverageOverTheDraws) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const LabelMatrix draws = random_draws(seed, 30, 25, 4, 0.5);
    const LabelMatrix others = random_draws(seed + 100, 30, 3, 7, 0.5);
    for (std::size_t d = 0; d < others.draws(); ++d) {
      EXPECT_NEAR(expected_loss(draws, others[d], GetParam()),
                  loss_by_definition(draws, others[d], GetParam()), 1e-12);
    }
    const Consensus found = consensus(draws, {.loss = GetParam()});
    EXPECT_NEAR(found.expected_loss, loss_by_definition(draws, found.labels, GetParam()), 1e-12);
  }
}

TEST_P(ConsensusOf, IsTheOptimumForSmallN) {
  std::size_t optimal = 0;
  std::size_t total = 0;
  double worst = 0.0;
  for (std::size_t rows = 1; rows <= 7; ++rows) {
    for (unsigned seed = 0; seed < 30; ++seed) {
      // From nearly certain to pure noise, with and without repeated draws.
      const double noise = 0.1 + 0.9 * (seed % 10) / 9.0;
      const LabelMatrix draws =
          random_draws(seed, rows, 2 + 5 * (seed % 7), 1 + static_cast<Label>(seed % 4), noise);
      const Consensus found = consensus(draws, {.loss = GetParam()});
      const double best = best_of_all_partitions(draws, GetParam());
      ASSERT_GE(found.expected_loss, best - 1e-12);
      const double excess = found.expected_loss - best;
      worst = std::max(worst, excess);
      optimal += excess < 1e-10 ? 1 : 0;
      ++total;
    }
  }
  RecordProperty("optimal", static_cast<int>(optimal));
  EXPECT_EQ(optimal, total) << "worst excess " << worst;
}

TEST_P(ConsensusOf, IsNeverWorseThanAnyDrawOrLinkageCut) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const double noise = 0.05 + 0.9 * seed / 11.0;
    const LabelMatrix draws = random_draws(seed, 120, 150, 6, noise);
    const Consensus found = consensus(draws, {.loss = GetParam()});
    double best_draw = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < draws.draws(); ++d) {
      best_draw = std::min(best_draw, expected_loss(draws, draws[d], GetParam()));
    }
    double best_cut = std::numeric_limits<double>::infinity();
    const Linkage tree = coclustering_tree(coclustering(draws), draws.rows);
    for (std::size_t k = 1; k <= draws.rows; ++k) {
      best_cut = std::min(best_cut, expected_loss(draws, cut_into(tree, k), GetParam()));
    }
    EXPECT_LE(found.expected_loss, best_draw + 1e-12) << "noise " << noise;
    EXPECT_LE(found.expected_loss, best_cut + 1e-12) << "noise " << noise;
    EXPECT_GE(found.best_draw_loss, best_draw - 1e-12);
    // Single precision may order tied merges otherwise, so the best cut may differ a little.
    EXPECT_NEAR(found.best_linkage_loss, best_cut, 0.02 * best_cut) << "noise " << noise;
  }
}

TEST_P(ConsensusOf, NoSingleMoveImprovesIt) {
  const LabelMatrix draws = random_draws(3, 60, 80, 5, 0.45);
  const Consensus found = consensus(draws, {.loss = GetParam()});
  for (std::size_t i = 0; i < draws.rows; ++i) {
    for (Label k = 0; k <= static_cast<Label>(found.clusters); ++k) {
      Labels moved = found.labels;
      moved[i] = k;
      EXPECT_GE(expected_loss(draws, moved, GetParam()), found.expected_loss - 1e-11);
    }
  }
}

TEST_P(ConsensusOf, WithoutAMatrixIsNearlyAsGood) {
  const LabelMatrix draws = random_draws(11, 400, 60, 8, 0.3);
  const Consensus with = consensus(draws, {.loss = GetParam()});
  const Consensus without = consensus(draws, {.loss = GetParam(), .matrix_rows = 10});
  EXPECT_TRUE(std::isnan(without.best_linkage_loss));
  EXPECT_LE(without.expected_loss, without.best_draw_loss);
  EXPECT_LT(without.expected_loss, 1.05 * with.expected_loss);
}

TEST(Consensus, FindsTheTruthBehindNoise) {
  const LabelMatrix draws = random_draws(1, 200, 100, 5, 0.15);
  const Consensus found = consensus(draws);
  Labels truth(200);
  for (std::size_t i = 0; i < 200; ++i) truth[i] = static_cast<Label>(i) % 5;
  EXPECT_EQ(found.labels, truth);
  EXPECT_EQ(found.clusters, 5U);
  EXPECT_EQ(found.draws_used, 100U);
}

TEST(Consensus, RowConfidenceIsMeanCoclusteringWithTheOthers) {
  LabelMatrix draws = random_draws(9, 40, 30, 3, 0.3);
  for (std::size_t d = 0; d < draws.draws(); ++d) draws[d][39] = d % 10 == 0 ? 0 : 77;  // nearly always alone
  const Consensus found = consensus(draws);
  const auto similarity = coclustering(draws);
  ASSERT_EQ(std::count(found.labels.begin(), found.labels.end(), found.labels[39]), 1);
  EXPECT_NEAR(found.row_confidence[39], 0.9, 1e-12);
  for (std::size_t i = 0; i < 39; ++i) {
    double sum = 0.0;
    double others = 0.0;
    for (std::size_t j = 0; j < 40; ++j) {
      if (j == i || found.labels[j] != found.labels[i]) continue;
      sum += similarity[i * 40 + j];
      others += 1.0;
    }
    EXPECT_NEAR(found.row_confidence[i], sum / others, 1e-12);
  }
}

TEST(Consensus, BallHoldsTheGivenShareOfDraws) {
  const LabelMatrix draws = random_draws(5, 50, 200, 4, 0.4);
  for (const double credibility : {0.5, 0.95, 1.0}) {
    const Consensus found = consensus(draws, {.credibility = credibility});
    const auto distances = losses(draws, found.labels, Loss::vi);
    const auto within = std::count_if(distances.begin(), distances.end(),
                                      [&](double distance) { return distance <= found.ball_radius + 1e-12; });
    const auto inside = std::count_if(distances.begin(), distances.end(),
                                      [&](double distance) { return distance < found.ball_radius - 1e-12; });
    EXPECT_GE(static_cast<double>(within), credibility * 200.0 - 1e-9);
    EXPECT_LT(static_cast<double>(inside), credibility * 200.0);
  }
}

TEST(Consensus, HonoursTheLimitOfClusters) {
  const LabelMatrix draws = random_draws(7, 60, 40, 6, 0.1);
  const Consensus found = consensus(draws, {.max_clusters = 3});
  EXPECT_LE(found.clusters, 3U);
  EXPECT_GT(found.clusters, 1U);
}

TEST(Consensus, IsTheSameAgainAndWithMoreThreads) {
  const LabelMatrix draws = random_draws(8, 150, 60, 6, 0.5);
  const Consensus once = consensus(draws);
  const Consensus again = consensus(draws, {.threads = 2});
  EXPECT_EQ(once.labels, again.labels);
  EXPECT_EQ(once.expected_loss, again.expected_loss);
}

TEST(Consensus, ThinsDrawsThatExceedTheBudget) {
  const LabelMatrix draws = random_draws(8, 100, 60, 4, 0.05);
  const Consensus found = consensus(draws, {.label_budget = 1000});
  EXPECT_EQ(found.draws_used, 10U);
  EXPECT_EQ(found.clusters, 4U);
}

TEST(Consensus, LabelNamesDoNotMatter) {
  const LabelMatrix draws = random_draws(12, 80, 40, 5, 0.4);
  LabelMatrix renamed = draws;
  for (std::size_t d = 0; d < renamed.draws(); ++d) {
    for (Label& label : renamed[d]) label = 1000000 + 37 * static_cast<Label>(d) - 7 * label;
  }
  EXPECT_EQ(consensus(draws).labels, consensus(renamed).labels);
}

TEST(Consensus, ManyTinyClustersInManyRows) {
  // More clusters than any table holds: the best draw is the answer, and nothing is quadratic.
  LabelMatrix draws;
  Labels labels(20000);
  for (int d = 0; d < 4; ++d) {
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<Label>(i / (d == 3 ? 3 : 2));
    draws.push_back(labels);
  }
  const Consensus found = consensus(draws);
  EXPECT_EQ(found.clusters, 10000U);
  EXPECT_NEAR(found.expected_loss, loss_by_definition(draws, found.labels, Loss::vi), 1e-12);
}

TEST(Consensus, RefusesNoDraws) {
  EXPECT_THROW(consensus(LabelMatrix{}), Error);
  EXPECT_THROW(expected_loss(LabelMatrix{}, Labels{}, Loss::vi), Error);
  EXPECT_THROW(expected_loss(random_draws(1, 5, 2, 2, 0.1), Labels{0, 1}, Loss::vi), Error);
  EXPECT_THROW(consensus(random_draws(1, 5, 2, 2, 0.1), {.credibility = 0.0}), Error);
}

}  // namespace
}  // namespace coppice
