// The Chinese restaurant process: sums to one over all partitions, its product form and its sequential form
// are the same law, the simulator draws from it, and the Gamma prior of its concentration is a density.
#include "coppice/prior/crp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "coppice/base/math.hpp"
#include "coppice/prior/concentration.hpp"
#include "support/monte_carlo.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

std::vector<std::uint32_t> sizes_of(std::span<const Label> labels) {
  const auto sizes = cluster_sizes(labels);
  return {sizes.begin(), sizes.end()};
}

TEST(Crp, SumsToOne) {
  for (const double alpha : {1e-3, 0.5, 1.0, 7.0, 1e4})
    for (std::size_t rows = 1; rows <= 8; ++rows) {
      const Crp crp(alpha, rows);
      double total = 0.0;
      for_each_partition(rows, [&](std::span<const Label> labels, std::size_t) {
        total += std::exp(crp.log_partition(sizes_of(labels)));
      });
      EXPECT_NEAR(total, 1.0, 1e-10) << alpha << ", " << rows << " rows";
    }
}

TEST(Crp, ClustersLargerThanItsTablesHaveTheSameTerms) {
  const Crp small(0.8, 10), large(0.8, 100'000);
  for (const std::size_t n : {1u, 10u, 11u, 12u, 1'000u, 100'000u})
    EXPECT_NEAR(small.log_kappa(n), large.log_kappa(n), 1e-9 * (1.0 + std::abs(large.log_kappa(n)))) << n;
}

TEST(Crp, SequentialFormIsTheProductForm) {
  const double alpha = 0.8;
  const std::size_t rows = 7;
  const Crp crp(alpha, rows);
  for_each_partition(rows, [&](std::span<const Label> labels, std::size_t clusters) {
    double sequential = 0.0;
    std::vector<std::size_t> sizes(clusters, 0);
    for (std::size_t row = 0; row < rows; ++row) {
      std::size_t& size = sizes[static_cast<std::size_t>(labels[row])];
      sequential +=
          (size == 0 ? crp.log_open() : crp.log_join(size)) - std::log(static_cast<double>(row) + alpha);
      ++size;
    }
    EXPECT_NEAR(sequential, crp.log_partition(sizes_of(labels)), 1e-11);
  });
}

TEST(Crp, WeightsAreRatiosOfKappa) {
  Crp crp(2.5, 50);
  crp.set_alpha(0.3);
  EXPECT_EQ(crp.alpha(), 0.3);
  EXPECT_EQ(crp.log_join(0), kMinusInfinity);
  EXPECT_NEAR(crp.log_kappa(1), crp.log_open(), 1e-15);
  for (std::size_t n = 1; n < 50; ++n) {
    EXPECT_NEAR(crp.log_join(n), crp.log_kappa(n + 1) - crp.log_kappa(n), 1e-11);
    EXPECT_EQ(crp.log_join(n), crp.log_join_table()[n]);
  }
}

TEST(Crp, EmptySlotsAreSkipped) {
  const Crp crp(1.3, 5);
  const std::vector<std::uint32_t> with{0, 3, 0, 2};
  const std::vector<std::uint32_t> without{3, 2};
  EXPECT_EQ(crp.log_partition(with), crp.log_partition(without));
}

TEST(Crp, SimulatorDrawsFromTheLaw) {
  for (const std::uint64_t seed : test_seeds())
    for (const double alpha : {0.4, 1.0, 5.0}) {
      const std::size_t rows = 5;
      const Crp crp(alpha, rows);
      std::map<std::string, std::size_t> index;
      std::vector<double> probabilities;
      for_each_partition(rows, [&](std::span<const Label> labels, std::size_t) {
        index.emplace(partition_key(labels), probabilities.size());
        probabilities.push_back(std::exp(crp.log_partition(sizes_of(labels))));
      });
      std::vector<double> counts(probabilities.size(), 0.0);
      Labels labels(rows);
      Stream stream({seed, 0, 0}, Purpose::test);
      for (int i = 0; i < 50'000; ++i) {
        crp.draw_partition(stream, labels);
        counts[index.at(partition_key(labels))] += 1.0;  // at() also says that labels are canonical
      }
      expect_frequencies(counts, probabilities);
    }
}

TEST(GammaPrior, IsADensityAndItsOwnSimulator) {
  for (const GammaPrior prior : {GammaPrior{1.0, 1.0}, GammaPrior{0.5, 3.0}, GammaPrior{4.0, 0.2}}) {
    double total = 0.0;
    double mean = 0.0;
    constexpr double kStep = 1e-3;
    for (double log_value = -60.0; log_value < 7.0; log_value += kStep) {
      const double mass = std::exp(prior.log_density(std::exp(log_value)) + log_value) * kStep;
      total += mass;
      mean += mass * std::exp(log_value);
    }
    EXPECT_NEAR(total, 1.0, 1e-6);
    EXPECT_NEAR(mean, prior.shape / prior.rate, 1e-5);
    RunningMean average;
    Stream stream({1, 0, 0}, Purpose::test);
    for (int i = 0; i < 50'000; ++i) average.add(prior.draw(stream));
    expect_mean(average, mean);
  }
}

TEST(Concentration, StaysPositiveForExtremePriors) {
  Stream stream({1, 0, 0}, Purpose::test);
  for (const GammaPrior prior : {GammaPrior{1e-6, 1e6}, GammaPrior{1e-3, 1e-3}, GammaPrior{100.0, 1e-4}}) {
    double alpha = prior.shape / prior.rate;
    for (int i = 0; i < 2000; ++i) {
      alpha = update_concentration(stream, prior, alpha, 1, 1'000'000);
      ASSERT_TRUE(alpha > 0.0 && std::isfinite(alpha)) << alpha;
      ASSERT_TRUE(std::isfinite(prior.log_density(alpha)));
    }
  }
}

}  // namespace
}  // namespace coppice::test
