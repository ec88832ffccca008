// Several answers: found with their weights if there are several, and not if there is one wide cloud.
#include "coppice/post/modes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "coppice/base/error.hpp"
#include "unit/post/random_draws.hpp"

namespace coppice {
namespace {

constexpr std::size_t kRowsOfModes = 40;

/// Rows 0 to 29 are one cluster or two (0 to 11 and 12 to 29), the others are a third; one row in twenty is
/// moved.
LabelMatrix two_modes(unsigned seed, std::size_t draws, double joined) {
  std::mt19937 engine(seed);
  const auto uniform = [&] { return static_cast<double>(engine()) / 4294967296.0; };
  LabelMatrix matrix{kRowsOfModes, {}};
  Labels labels(kRowsOfModes);
  for (std::size_t d = 0; d < draws; ++d) {
    const bool is_joined = uniform() < joined;
    for (std::size_t i = 0; i < kRowsOfModes; ++i) {
      labels[i] = i >= 30 ? 2 : i >= 12 && !is_joined ? 1 : 0;
      if (uniform() < 0.02) labels[i] = 3;
    }
    matrix.push_back(labels);
  }
  return matrix;
}

TEST(Modes, FindsTwoAndWhatDistinguishesThem) {
  const std::vector<LabelMatrix> chains{two_modes(1, 400, 0.62), two_modes(2, 400, 0.62)};
  const Modes found = find_modes(chains);
  ASSERT_EQ(found.modes.size(), 2U);
  // Of 240 draws: four standard errors.
  EXPECT_NEAR(found.modes[0].weight, 0.62, 4.0 * std::sqrt(0.62 * 0.38 / 240.0));
  EXPECT_NEAR(found.modes[0].weight + found.modes[1].weight, 1.0, 1e-12);
  EXPECT_GE(found.silhouette, 0.5);
  const Modes::Difference& difference = found.differences.front();
  EXPECT_TRUE(difference.first_joins);
  EXPECT_GE(difference.one.size() * difference.other.size(), 11U * 17U);
  for (const Mode& mode : found.modes) {
    EXPECT_EQ(mode.chain_weights.size(), 2U);
    Labels draw(chains[mode.chain][mode.draw].begin(), chains[mode.chain][mode.draw].end());
    canonicalize(draw);
    EXPECT_EQ(mode.labels, draw);
  }
}

TEST(Modes, AWideCloudHasOneCenter) {
  for (const double noise : {0.0, 0.1, 0.5, 1.0}) {
    const std::vector<LabelMatrix> chains{random_draws(3, kRowsOfModes, 300, 4, noise)};
    EXPECT_EQ(find_modes(chains).modes.size(), 1U) << noise;
  }
  EXPECT_THROW(find_modes({}), Error);
}

TEST(Modes, OneAnswerAndAFringeIsOneAnswer) {
  // Nine draws in ten are equal, the others split off some rows, each time other ones.
  std::mt19937 engine(7);
  LabelMatrix draws{kRowsOfModes, {}};
  Labels labels(kRowsOfModes);
  for (std::size_t d = 0; d < 400; ++d) {
    for (std::size_t i = 0; i < kRowsOfModes; ++i)
      labels[i] = i < 20 ? 0 : d % 10 == 0 && engine() % 3 == 0 ? 2 : 1;
    draws.push_back(labels);
  }
  EXPECT_EQ(find_modes(std::vector<LabelMatrix>{draws}).modes.size(), 1U);
}

TEST(BallBounds, AreTheExtremesWithinTheRadius) {
  // Distances are given; the draw with four clusters is outside.
  const LabelMatrix draws{4, {0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 2, 0, 1, 2, 3}};
  const std::vector<double> distances{0.5, 0.1, 0.4, 0.3, 0.9};
  const BallBounds bounds = ball_bounds(draws, distances, 0.5);
  EXPECT_EQ(bounds.upper.draw, 0U);
  EXPECT_EQ(bounds.lower.draw, 3U);
  EXPECT_EQ(bounds.horizontal.draw, 0U);
  EXPECT_EQ(ball_bounds(draws, distances, 0.45).upper.draw, 2U);  // of two with two clusters the farther one
  EXPECT_THROW(ball_bounds(draws, distances, 0.05), Error);
}

}  // namespace
}  // namespace coppice
