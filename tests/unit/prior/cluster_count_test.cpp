// The number of clusters under the prior: moments and distribution against enumeration of all partitions, and
// the Gamma prior of the concentration that has given moments, against a value from the literature.
#include "coppice/prior/cluster_count.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "coppice/base/error.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/prior/crp.hpp"
#include "support/monte_carlo.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

std::vector<double> enumerated(double alpha, std::size_t rows) {
  const Crp crp(alpha, rows);
  std::vector<double> probability(rows, 0.0);
  for_each_partition(rows, [&](std::span<const Label> labels, std::size_t clusters) {
    const auto sizes = cluster_sizes(labels);
    const std::vector<std::uint32_t> counts(sizes.begin(), sizes.end());
    probability[clusters - 1] += std::exp(crp.log_partition(counts));
  });
  return probability;
}

TEST(ClusterCount, MomentsAreThoseOfAllPartitions) {
  for (const double alpha : {1e-6, 0.2, 1.0, 5.0, 300.0}) {
    const std::vector<double> probability = enumerated(alpha, 7);
    double mean = 0.0;
    double second = 0.0;
    for (std::size_t k = 1; k <= 7; ++k) {
      mean += static_cast<double>(k) * probability[k - 1];
      second += static_cast<double>(k * k) * probability[k - 1];
    }
    const ClusterCountMoments moments = cluster_count_moments(alpha, 7);
    EXPECT_NEAR(moments.mean, mean, 1e-10) << alpha;
    EXPECT_NEAR(moments.variance, second - mean * mean, 1e-9) << alpha;
  }
}

// A sharp prior is a known concentration.
TEST(ClusterCount, DistributionIsThatOfAllPartitions) {
  const std::vector<double> exact = enumerated(2.0, 7);
  const std::vector<double> sharp = cluster_count_distribution({4e6, 2e6}, 7, 7);
  for (std::size_t k = 0; k < 7; ++k) EXPECT_NEAR(sharp[k], exact[k], 1e-5) << k;
  const std::vector<double> cut = cluster_count_distribution({4e6, 2e6}, 7, 3);
  ASSERT_EQ(cut.size(), 3U);
  EXPECT_NEAR(cut[2], 1.0 - exact[0] - exact[1], 1e-5);
}

TEST(ClusterCount, DistributionAndMomentsAgree) {
  for (const GammaPrior prior : {GammaPrior{1.0, 1.0}, GammaPrior{0.3, 0.1}, GammaPrior{6.0, 2.0}}) {
    const std::size_t rows = 60;
    const std::vector<double> distribution = cluster_count_distribution(prior, rows, rows);
    double mean = 0.0;
    double second = 0.0;
    for (std::size_t k = 1; k <= rows; ++k) {
      mean += static_cast<double>(k) * distribution[k - 1];
      second += static_cast<double>(k * k) * distribution[k - 1];
    }
    const ClusterCountMoments moments = cluster_count_moments(prior, rows);
    EXPECT_NEAR(moments.mean, mean, 1e-6 * mean);
    EXPECT_NEAR(moments.variance, second - mean * mean, 1e-5 * moments.variance);
  }
}

/// Of many rows most are counted at once.
TEST(ClusterCount, DistributionOfManyRows) {
  for (const GammaPrior prior : {GammaPrior{1.0, 1.0}, GammaPrior{40.0, 4.0}}) {
    const std::size_t rows = 30000;
    const ClusterCountMoments moments = cluster_count_moments(prior, rows);
    const std::vector<double> distribution = cluster_count_distribution(prior, rows, 300);
    double mean = 0.0;
    double second = 0.0;
    for (std::size_t k = 1; k <= distribution.size(); ++k) {
      mean += static_cast<double>(k) * distribution[k - 1];
      second += static_cast<double>(k * k) * distribution[k - 1];
    }
    EXPECT_NEAR(mean, moments.mean, 1e-4 * moments.mean);
    EXPECT_NEAR(second - mean * mean, moments.variance, 1e-3 * moments.variance);
  }
  const std::vector<double> fixed = cluster_count_distribution(Concentration(2.0), 7, 7);
  const std::vector<double> exact = enumerated(2.0, 7);
  for (std::size_t k = 0; k < 7; ++k) EXPECT_NEAR(fixed[k], exact[k], 1e-12) << k;
}

TEST(ClusterCount, PriorOfGivenMoments) {
  const GammaPrior known = match_cluster_count(50, 5.0, std::sqrt(10.0));
  EXPECT_NEAR(known.shape, 1.408, 0.002);
  EXPECT_NEAR(known.rate, 1.077, 0.002);
  for (const auto& [rows, mean, sd] :
       {std::tuple{100, 3.0, 2.0}, {1000, 20.0, 10.0}, {30, 12.0, 5.0}, {100000, 4.0, 2.5}}) {
    const GammaPrior prior = match_cluster_count(static_cast<std::size_t>(rows), mean, sd);
    const ClusterCountMoments moments = cluster_count_moments(prior, static_cast<std::size_t>(rows));
    EXPECT_NEAR(moments.mean, mean, 1e-6 * mean) << rows;
    EXPECT_NEAR(std::sqrt(moments.variance), sd, 1e-6 * sd) << rows;
  }
}

TEST(ClusterCount, PriorOfAMeanAloneIsExponential) {
  for (const auto& [rows, mean] : {std::pair{50, 5.0}, {50, 1.01}, {50, 49.9}, {3, 2.0}, {100000, 40.0}}) {
    const GammaPrior prior = match_cluster_count(static_cast<std::size_t>(rows), mean);
    EXPECT_EQ(prior.shape, 1.0);
    EXPECT_NEAR(cluster_count_moments(prior, static_cast<std::size_t>(rows)).mean, mean, 1e-6 * mean) << rows;
  }
  EXPECT_THROW(match_cluster_count(50, 50.0), Error);
  EXPECT_THROW(match_cluster_count(1, 1.0), Error);
}

TEST(ClusterCount, ImpossibleMomentsAreRefused) {
  EXPECT_THROW(match_cluster_count(50, 1.0, 1.0), Error);
  EXPECT_THROW(match_cluster_count(50, 51.0, 1.0), Error);
  EXPECT_THROW(match_cluster_count(50, 5.0, 0.1), Error);
  EXPECT_THROW(match_cluster_count(50, 5.0, 40.0), Error);
}

}  // namespace
}  // namespace coppice::test
