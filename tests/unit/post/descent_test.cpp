// The descent alone, from random starts: it must end where, by the definition of the loss, nothing helps any
// more.
#include "coppice/post/descent.hpp"

#include <gtest/gtest.h>

#include <set>

#include "coppice/post/consensus.hpp"
#include "random_draws.hpp"

namespace coppice {
namespace {

constexpr std::size_t kRoom = 1'000'000;

class DescentOf : public testing::TestWithParam<Loss> {};
INSTANTIATE_TEST_SUITE_P(Losses, DescentOf, testing::Values(Loss::vi, Loss::binder),
                         [](const auto& info) { return info.param == Loss::vi ? "vi" : "binder"; });

TEST_P(DescentOf, EndsWhereNoMoveAndNoMergeHelps) {
  std::set<std::size_t> seen;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const LabelMatrix draws = random_draws(seed, 48, 40, 4, 0.1 + 0.02 * seed);
    const DrawSet set(draws, draws.draws());
    const ExpectedLoss loss(set, GetParam());
    Descent descent(loss, 0, kRoom);
    const LabelMatrix starts = random_draws(seed + 1000, 48, 2, 6, 1.0);
    for (std::size_t s = 0; s < starts.draws(); ++s) {
      Labels labels(starts[s].begin(), starts[s].end());
      canonicalize(labels);
      const double before = expected_loss(draws, labels, GetParam());
      double work = 1e9;
      const std::size_t clusters = descent.improve(labels, 100, work);
      const double after = expected_loss(draws, labels, GetParam());
      EXPECT_LT(after, before);
      EXPECT_LT(work, 1e9);
      seen.insert(clusters);
      for (std::size_t i = 0; i < labels.size(); ++i) {
        for (Label k = 0; k <= static_cast<Label>(clusters); ++k) {
          Labels moved = labels;
          moved[i] = k;
          ASSERT_GE(expected_loss(draws, moved, GetParam()), after - 1e-11)
              << "seed " << seed << " row " << i;
        }
      }
      for (Label a = 0; a < static_cast<Label>(clusters); ++a) {
        for (Label b = a + 1; b < static_cast<Label>(clusters); ++b) {
          Labels merged = labels;
          std::replace(merged.begin(), merged.end(), b, a);
          ASSERT_GE(expected_loss(draws, merged, GetParam()), after - 1e-11) << "seed " << seed;
        }
      }
    }
  }
  EXPECT_GE(seen.size(), 3U) << "the cases are too much alike to prove anything";
}

TEST_P(DescentOf, ExpectedLossWeighsRepeatedDraws) {
  LabelMatrix draws;
  for (int copy = 0; copy < 3; ++copy) draws.push_back(Labels{0, 0, 1, 1, 2});
  draws.push_back(Labels{1, 1, 0, 0, 7});  // the same partition under other names
  draws.push_back(Labels{0, 1, 1, 1, 1});
  const DrawSet set(draws, draws.draws());
  ASSERT_EQ(set.size(), 2U);
  EXPECT_DOUBLE_EQ(set.weight(0), 0.8);
  ExpectedLoss loss(set, GetParam());
  const Labels other{0, 0, 0, 1, 1};
  EXPECT_NEAR(loss(other, 2), expected_loss(draws, other, GetParam()), 1e-14);
}

TEST(Descent, OpensAndClosesClusters) {
  const LabelMatrix draws = random_draws(3, 90, 50, 30, 0.02);  // thirty clusters of three
  const DrawSet set(draws, draws.draws());
  const ExpectedLoss loss(set, Loss::vi);
  Descent descent(loss, 0, kRoom);
  Labels apart(90);
  for (std::size_t i = 0; i < 90; ++i) apart[i] = static_cast<Label>(i);
  double work = 1e9;
  EXPECT_EQ(descent.improve(apart, 100, work), 30U);

  LabelMatrix split;
  for (int copy = 0; copy < 5; ++copy) split.push_back(Labels{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  const DrawSet split_set(split, 5);
  const ExpectedLoss split_loss(split_set, Loss::binder);
  Labels together(12, 0);
  EXPECT_EQ(Descent(split_loss, 0, kRoom).improve(together, 100, work),
            9U);  // more than the spare clusters at once
  EXPECT_EQ(together, Labels(split[0].begin(), split[0].end()));
  Labels limited(12, 0);
  EXPECT_LE(Descent(split_loss, 4, kRoom).improve(limited, 100, work), 4U);
}

TEST(Descent, LeavesWhatDoesNotFitAndStopsWithoutWork) {
  const LabelMatrix draws = random_draws(3, 60, 20, 5, 0.3);
  const DrawSet set(draws, draws.draws());
  const ExpectedLoss loss(set, Loss::vi);
  Labels labels(60);
  for (std::size_t i = 0; i < 60; ++i) labels[i] = static_cast<Label>(i % 7);
  const Labels start = labels;
  double work = 1e9;
  Descent(loss, 0, 10).improve(labels, 100, work);
  EXPECT_EQ(labels, start);
  work = 0.0;
  Descent(loss, 0, kRoom).improve(labels, 100, work);
  EXPECT_EQ(labels, start);
}

}  // namespace
}  // namespace coppice
