// Prior and posterior of the number of clusters: laws, the rule by which the prior dominates, and both of
// runs.
#include "coppice/post/cluster_counts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/prior/cluster_count.hpp"
#include "unit/post/small_run.hpp"

namespace coppice {
namespace {

TEST(ClusterCounts, LawOfWeights) {
  const CountLaw law = law_of_counts({1.0, 0.0, 3.0});
  EXPECT_DOUBLE_EQ(law.mean, 2.5);
  EXPECT_NEAR(law.sd, std::sqrt(0.75), 1e-12);
  EXPECT_EQ(law.low, 1u);
  EXPECT_EQ(law.high, 3u);
  EXPECT_EQ(law_of_counts({4.0, 95.0, 1.0}).low, 2u);
  EXPECT_EQ(law_of_counts({4.0, 95.0, 1.0}).high, 2u);
}

TEST(ClusterCounts, ThePriorDominatesWhereTheDataHaveChangedLittle) {
  const std::vector<double> wide{1, 2, 3, 2, 1};
  EXPECT_TRUE(compare_counts(law_of_counts(wide), law_of_counts(wide)).prior_dominates);
  EXPECT_DOUBLE_EQ(compare_counts(law_of_counts(wide), law_of_counts(wide)).total_variation, 0.0);
  // Narrower, and elsewhere.
  EXPECT_FALSE(compare_counts(law_of_counts(wide), law_of_counts({0, 0, 1})).prior_dominates);
  EXPECT_FALSE(compare_counts(law_of_counts(wide), law_of_counts({0, 0, 1, 2, 3, 2, 1})).prior_dominates);
  const ClusterCounts apart = compare_counts(law_of_counts({1.0}), law_of_counts({0.0, 1.0}));
  EXPECT_DOUBLE_EQ(apart.total_variation, 1.0);
  EXPECT_FALSE(apart.prior_dominates) << "a prior without any width says nothing";
  EXPECT_EQ(apart.warning(), "");
}

std::string two_groups(bool apart) {
  std::string csv = "id,x,y\n";
  for (int row = 0; row < 12; ++row)
    csv += fmt::format("r{},{},{}\n", row, (apart && row % 2 == 1 ? 50.0 : 0.0) + 0.1 * row,
                       0.3 * ((row * 7) % 12));
  return csv;
}

using ClusterCountsOfARun = RunTest;

/// The prior of these settings is that of the partitions the model draws.
TEST_F(ClusterCountsOfARun, ExactPriorAgreesWithDrawsFromThePrior) {
  for (const char* settings : {"alpha=1.3", "expect-clusters=[4, 2]"}) {
    SmallRun small{.csv = two_groups(true)};
    parse_assignment(settings, small.parameters);
    const Analysis analysis(make_run(small)->file().path());
    const ClusterCounts counts = cluster_counts(analysis).front();
    EXPECT_TRUE(counts.prior_is_exact);
    const CountLaw drawn = law_of_counts(prior_cluster_counts(analysis.run()).front());
    EXPECT_NEAR(counts.prior.mean, drawn.mean, 4.5 * drawn.sd / std::sqrt(1000.0)) << settings;
    EXPECT_NEAR(counts.prior.sd, drawn.sd, 0.1 * drawn.sd) << settings;
    double total = 0.0;
    for (const double share : counts.prior.shares) total += share;
    EXPECT_NEAR(total, 1.0, 1e-9);
  }
}

}  // namespace
}  // namespace coppice
