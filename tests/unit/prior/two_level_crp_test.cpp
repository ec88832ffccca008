#include "coppice/prior/two_level_crp.hpp"

#include <gtest/gtest.h>

#include "support/monte_carlo.hpp"
#include "support/nhcm_enumeration.hpp"

namespace coppice::test {
namespace {

using Nesting = TwoLevelCrp::Nesting;

struct Sizes {
  std::vector<std::uint32_t> subclusters;
  std::vector<TwoLevelCrp::Cluster> clusters;
};

Sizes sizes_of(const NhcmShape& shape) {
  Sizes sizes;
  for (const std::size_t size : cluster_sizes(shape.subclusters))
    sizes.subclusters.push_back(static_cast<std::uint32_t>(size));
  sizes.clusters.resize(shape.cluster_count());
  for (std::size_t sub = 0; sub < shape.sub_count(); ++sub) {
    TwoLevelCrp::Cluster& cluster = sizes.clusters[static_cast<std::size_t>(shape.parents[sub])];
    ++cluster.subclusters;
    cluster.rows += sizes.subclusters[sub];
  }
  return sizes;
}

template <typename Visit>
void for_each_shape(std::size_t rows, Visit&& visit) {
  for_each_partition(rows, [&](std::span<const Label> subs, std::size_t count) {
    for_each_partition(count, [&](std::span<const Label> parents, std::size_t) {
      visit(NhcmShape{{subs.begin(), subs.end()}, {parents.begin(), parents.end()}});
    });
  });
}

NhcmModel law(double alpha_clusters, double alpha_subclusters, bool nested) {
  NhcmModel model;
  model.alpha_clusters = alpha_clusters;
  model.alpha_subclusters = alpha_subclusters;
  model.nested = nested;
  return model;
}

class TwoLevelPrior : public ::testing::TestWithParam<bool> {
 protected:
  Nesting nesting() const { return GetParam() ? Nesting::nested : Nesting::global; }
};

TEST_P(TwoLevelPrior, ProbabilitiesAreTheDefinitionAndSumToOne) {
  const std::size_t counts[] = {1, 3, 12, 60, 358, 2471};
  for (std::size_t rows = 1; rows <= 6; ++rows) {
    const TwoLevelCrp prior(nesting(), 0.7, 2.3, rows);
    double mass = 0.0;
    std::size_t shapes = 0;
    for_each_shape(rows, [&](const NhcmShape& shape) {
      const Sizes sizes = sizes_of(shape);
      const double log_p = prior.log_probability(sizes.subclusters, sizes.clusters);
      EXPECT_NEAR(log_p, log_prior(law(0.7, 2.3, GetParam()), shape), 1e-12);
      mass += std::exp(log_p);
      ++shapes;
    });
    EXPECT_NEAR(mass, 1.0, 1e-12);
    EXPECT_EQ(shapes, counts[rows - 1]);
  }
}

TEST_P(TwoLevelPrior, TwoRows) {
  // The two laws differ: with all concentrations 1, rows share a sub-cluster with probability 1/4 or 1/2.
  const TwoLevelCrp prior(nesting(), 1.0, 1.0, 2);
  const std::vector<std::uint32_t> together{2};
  const std::vector<std::uint32_t> apart{1, 1};
  using Clusters = std::vector<TwoLevelCrp::Cluster>;
  EXPECT_NEAR(std::exp(prior.log_probability(together, Clusters{{1, 2}})), GetParam() ? 0.25 : 0.5, 1e-14);
  EXPECT_NEAR(std::exp(prior.log_probability(apart, Clusters{{1, 1}, {1, 1}})), GetParam() ? 0.5 : 0.25,
              1e-14);
}

TEST_P(TwoLevelPrior, WeightsOfARowAreRatios) {
  constexpr std::size_t kRows = 5;
  const TwoLevelCrp prior(nesting(), 0.7, 2.3, kRows + 1);
  const NhcmModel model = law(0.7, 2.3, GetParam());
  for_each_shape(kRows, [&](const NhcmShape& shape) {
    const Sizes sizes = sizes_of(shape);
    const double shift = prior.log_open_shift(shape.sub_count());
    std::vector<double> weights;
    std::vector<double> logs;
    const auto with = [&](Label sub, Label parent) {
      NhcmShape longer = shape;
      longer.subclusters.push_back(sub);
      if (static_cast<std::size_t>(sub) == shape.sub_count()) longer.parents.push_back(parent);
      logs.push_back(log_prior(model, longer));
    };
    for (std::size_t sub = 0; sub < shape.sub_count(); ++sub) {
      const auto parent = static_cast<std::size_t>(shape.parents[sub]);
      weights.push_back(prior.log_join(sizes.subclusters[sub], sizes.clusters[parent]));
      with(static_cast<Label>(sub), 0);
    }
    for (std::size_t cluster = 0; cluster <= sizes.clusters.size(); ++cluster) {
      const bool is_new = cluster == sizes.clusters.size();
      weights.push_back(prior.log_open(is_new ? TwoLevelCrp::Cluster{} : sizes.clusters[cluster]) + shift);
      with(static_cast<Label>(shape.sub_count()), static_cast<Label>(cluster));
    }
    for (std::size_t i = 1; i < weights.size(); ++i)
      EXPECT_NEAR(weights[i] - weights[0], logs[i] - logs[0], 1e-12);
  });
}

TEST_P(TwoLevelPrior, DrawsHaveTheLaw) {
  constexpr std::size_t kRows = 4;
  const TwoLevelCrp prior(nesting(), 0.7, 2.3, kRows);
  std::map<std::string, double> seen;
  Stream stream({1, 0, 0}, Purpose::test);
  for (int i = 0; i < 60'000; ++i) {
    Labels both(2 * kRows);
    prior.draw(stream, {both.data(), kRows}, {both.data() + kRows, kRows});
    seen[nhcm_shape(both).key()] += 1.0;
  }
  std::vector<double> counts, probabilities;
  for_each_shape(kRows, [&](const NhcmShape& shape) {
    counts.push_back(seen[shape.key()]);
    probabilities.push_back(std::exp(log_prior(law(0.7, 2.3, GetParam()), shape)));
  });
  expect_frequencies(counts, probabilities);
}

/// Means of log alpha under the posterior given one shape, by a sum over a fine grid.
TEST_P(TwoLevelPrior, UpdatesOfConcentrationsLeaveTheirPosterior) {
  const NhcmShape shape{{0, 0, 1, 2, 2, 2, 3, 4}, {0, 1, 0, 2, 1}};
  const Sizes sizes = sizes_of(shape);
  const GammaPrior gamma{2.0, 1.5};
  for (const bool of_clusters : {true, false}) {
    double mass = 0.0;
    double mean = 0.0;
    for (double x = -12.0; x < 5.0; x += 0.01) {
      const double alpha = std::exp(x);
      const NhcmModel at = of_clusters ? law(alpha, 1.1, GetParam()) : law(1.1, alpha, GetParam());
      const double weight = std::exp(log_prior(at, shape) + gamma.log_density(alpha) + x);
      mass += weight;
      mean += weight * x;
    }
    TwoLevelCrp prior(nesting(), 1.1, 1.1, 8);
    RunningMean average;
    for (std::uint64_t i = 0; i < 40'000; ++i) {
      Stream stream({1, of_clusters, i}, Purpose::test);
      for (int repeat = 0; repeat < 5; ++repeat)
        of_clusters ? prior.update_alpha_clusters(stream, gamma, sizes.clusters)
                    : prior.update_alpha_subclusters(stream, gamma, sizes.clusters);
      average.add(std::log(of_clusters ? prior.alpha_clusters() : prior.alpha_subclusters()));
    }
    expect_mean(average, mean / mass);
  }
}

INSTANTIATE_TEST_SUITE_P(Nestings, TwoLevelPrior, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return info.param ? "nested" : "global";
                         });

}  // namespace
}  // namespace coppice::test
