// Scores of given labels: the same as of the consensus, and pairwise uncertainty by its definition.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/consensus.hpp"
#include "random_draws.hpp"

namespace coppice {
namespace {

TEST(Assess, SaysOfTheConsensusWhatItSaysOfItself) {
  for (const Loss loss : {Loss::vi, Loss::binder})
    for (unsigned seed = 0; seed < 10; ++seed) {
      const LabelMatrix draws = random_draws(seed, 25, 30, 4, 0.4);
      const Consensus found = consensus(draws, {.loss = loss});
      const Consensus assessed = assess(draws, found.labels, {.loss = loss});
      EXPECT_EQ(assessed.labels, found.labels);
      EXPECT_EQ(assessed.clusters, found.clusters);
      EXPECT_EQ(assessed.row_confidence, found.row_confidence);
      EXPECT_NEAR(assessed.expected_loss, found.expected_loss, 1e-12);
      EXPECT_NEAR(assessed.ball_radius, found.ball_radius, 1e-12);
      EXPECT_TRUE(std::isnan(assessed.best_linkage_loss));
    }
}

TEST(Assess, RejectsLabelsThatDoNotFit) {
  EXPECT_THROW(assess(random_draws(1, 5, 3, 2, 0.1), Labels{0, 1}), Error);
  EXPECT_THROW(assess({}, {}), Error);
}

TEST(PairDoubt, IsTheMeanOverPairs) {
  const LabelMatrix draws = random_draws(2, 12, 40, 3, 0.5);
  double sum = 0.0;
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t j = i + 1; j < 12; ++j) {
      double together = 0.0;
      for (std::size_t d = 0; d < 40; ++d) together += draws[d][i] == draws[d][j] ? 1.0 / 40.0 : 0.0;
      sum += 4.0 * together * (1.0 - together);
    }
  EXPECT_NEAR(pairwise_uncertainty(draws), sum / 66.0, 1e-6);
  EXPECT_EQ(pairwise_uncertainty(random_draws(2, 12, 10, 3, 0.0)), 0.0);
  EXPECT_EQ(pairwise_uncertainty(random_draws(2, 1, 10, 1, 0.0)), 0.0);
}

}  // namespace
}  // namespace coppice
