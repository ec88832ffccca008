// The normalized generalized gamma process: its law of partitions sums to one, obeys its recursion, agrees
// with an integral written down elsewhere and tends to the Dirichlet process; the simulator draws from it,
// and the updates of u, alpha and sigma keep their conditionals.
#include "coppice/prior/ngg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "coppice/base/math.hpp"
#include "coppice/prior/crp.hpp"
#include "support/monte_carlo.hpp"
#include "support/nrmm_law.hpp"
#include "support/sampling_error.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

std::vector<std::uint32_t> sorted_sizes(std::span<const Label> labels) {
  const auto sizes = cluster_sizes(labels);
  return {sizes.begin(), sizes.end()};
}

TEST(Ngg, SumsToOne) {
  for (const double alpha : {0.01, 1.5, 50.0})
    for (const double sigma : {0.01, 0.4, 0.9})
      for (std::size_t rows = 1; rows <= 7; ++rows) {
        const Ngg ngg(alpha, sigma, rows);
        double total = 0.0;
        for_each_partition(rows, [&](std::span<const Label> labels, std::size_t) {
          total += std::exp(ngg.log_partition(sorted_sizes(labels)));
        });
        EXPECT_NEAR(total, 1.0, 1e-8) << alpha << ", " << sigma << ", " << rows << " rows";
      }
}

TEST(Ngg, VObeysItsRecursion) {
  for (const double alpha : {0.3, 4.0})
    for (const double sigma : {0.05, 0.5, 0.8})
      for (const auto& [n, k] : {std::pair{1u, 1u}, {5u, 2u}, {40u, 7u}, {3000u, 100u}}) {
        const Ngg ngg(alpha, sigma, 1);
        const double stay = std::log(n - k * sigma) + ngg.log_v(n + 1, k);
        EXPECT_NEAR(ngg.log_v(n, k), log_add_exp(stay, ngg.log_v(n + 1, k + 1)), 1e-8)
            << alpha << ", " << sigma << ", " << n << " rows in " << k;
      }
}

TEST(Ngg, AgreesWithTheIntegralOfTheTests) {
  MixtureLaw law;
  law.fixed = 1.7;
  law.ngg = true;
  law.sigma = 0.35;
  const PartitionLaw written_again(law, 6);
  const Ngg ngg(1.7, 0.35, 6);
  for_each_partition(6, [&](std::span<const Label> labels, std::size_t) {
    EXPECT_NEAR(ngg.log_partition(sorted_sizes(labels)), written_again.log_probability(cluster_sizes(labels)),
                1e-9);
  });
}

TEST(Ngg, TendsToTheDirichletProcess) {
  const double theta = 1.3;
  const double sigma = 1e-5;
  const Ngg ngg(theta / sigma, sigma, 7);
  const Crp crp(theta, 7);
  for_each_partition(7, [&](std::span<const Label> labels, std::size_t) {
    EXPECT_NEAR(ngg.log_partition(sorted_sizes(labels)), crp.log_partition(sorted_sizes(labels)), 2e-4);
  });
}

TEST(Ngg, JointWithUIntegratesToThePartition) {
  Ngg ngg(1.5, 0.4, 6);
  const std::vector<std::uint32_t> sizes{3, 0, 2, 1};
  std::vector<double> terms;
  constexpr double kStep = 0.01;
  for (double log_u = -60.0; log_u <= 60.0; log_u += kStep) {
    const double log_t = std::log(std::expm1(0.4 * log1p_exp(log_u)));
    ngg.set(1.5, 0.4, log_t);
    EXPECT_NEAR(ngg.log_u(), log_u, 1e-9);
    terms.push_back(ngg.log_partition_and_u(sizes) + log_u);
  }
  EXPECT_NEAR(log_sum_exp(terms) + std::log(kStep), ngg.log_partition(sizes), 1e-9);
}

TEST(Ngg, WeightsAreRatiosOfKappa) {
  Ngg ngg(2.0, 0.3, 100'000);
  ngg.set(2.0, 0.3, -1.2);
  Ngg small(2.0, 0.5, 10);  // whose tables end before these sizes
  small.set(2.0, 0.3, -1.2);
  EXPECT_NEAR(ngg.log_open(), std::log(2.0 * 0.3 * (1.0 + std::exp(-1.2))), 1e-14);
  for (const std::size_t n : {1u, 2u, 17u, 99'999u}) {
    EXPECT_NEAR(ngg.log_join(n), std::log(static_cast<double>(n) - 0.3), 1e-14);
    const double rising = log_gamma(static_cast<double>(n) - 0.3) - log_gamma(0.7);
    EXPECT_NEAR(ngg.log_kappa(n), ngg.log_open() + rising, 1e-12 * std::max(1.0, std::abs(rising)));
    EXPECT_NEAR(small.log_kappa(n), ngg.log_kappa(n), 1e-12 * std::max(1.0, std::abs(rising)));
  }
}

TEST(Ngg, CountsOfClustersHaveTheirLaw) {
  constexpr std::size_t kRows = 9;
  for (const auto& [alpha, sigma] : {std::pair{1.5, 0.4}, {0.2, 0.8}, {20.0, 0.05}, {0.7, 1e-6}})
    for (const std::uint64_t seed : test_seeds()) {
      const Ngg ngg(alpha, sigma, kRows);
      std::vector<double> probabilities(kRows, 0.0);
      for_each_partition(kRows, [&](std::span<const Label> labels, std::size_t clusters) {
        probabilities[clusters - 1] += std::exp(ngg.log_partition(sorted_sizes(labels)));
      });
      std::vector<double> counts(kRows, 0.0);
      Stream stream({seed, 0, 0}, Purpose::test, 1);
      for (std::size_t i = 0; i < scaled(100'000); ++i)
        counts[draw_ngg_cluster_count(stream, alpha, sigma, kRows) - 1] += 1.0;
      expect_frequencies(counts, probabilities);
    }
}

/// With many rows, where the partition is drawn row by row.
TEST(Ngg, CountsOfClustersAreThoseOfDrawnPartitions) {
  constexpr std::size_t kRows = 1000;
  Ngg ngg(3.0, 0.35, kRows);
  RunningMean partitions, counts;
  Stream stream({1, 0, 0}, Purpose::test, 2);
  Labels labels(kRows);
  for (std::size_t i = 0; i < 60; ++i) {
    ngg.draw_partition(stream, labels);
    partitions.add(static_cast<double>(cluster_sizes(labels).size()));
  }
  for (std::size_t i = 0; i < scaled(20'000); ++i)
    counts.add(static_cast<double>(draw_ngg_cluster_count(stream, 3.0, 0.35, kRows)));
  EXPECT_NEAR(counts.mean(), partitions.mean(),
              4.5 * std::hypot(counts.standard_error(), partitions.standard_error()));
}

TEST(Ngg, SimulatorDrawsFromTheLaw) {
  constexpr std::size_t kRows = 5;
  for (const auto& [alpha, sigma] : {std::pair{1.5, 0.4}, {0.2, 0.8}, {20.0, 0.05}})
    for (const std::uint64_t seed : test_seeds()) {
      Ngg ngg(alpha, sigma, kRows);
      std::map<Labels, std::size_t> index;
      std::vector<double> probabilities;
      for_each_partition(kRows, [&](std::span<const Label> labels, std::size_t) {
        index.emplace(Labels(labels.begin(), labels.end()), probabilities.size());
        probabilities.push_back(std::exp(ngg.log_partition(sorted_sizes(labels))));
      });
      std::vector<double> counts(probabilities.size(), 0.0);
      Stream stream({seed, 0, 0}, Purpose::test);
      Labels labels(kRows);
      for (std::size_t i = 0; i < scaled(5'000); ++i) {
        ngg.draw_partition(stream, labels);
        counts[index.at(labels)] += 1.0;
      }
      expect_frequencies(counts, probabilities);
    }
}

/// The cdf of a density on a grid that covers it.
std::function<double(double)> cdf_of(const std::function<double(double)>& log_density, double low,
                                     double high) {
  constexpr std::size_t kCells = 40'000;
  const double step = (high - low) / kCells;
  std::vector<double> logs;
  for (std::size_t i = 0; i < kCells; ++i)
    logs.push_back(log_density(low + step * (static_cast<double>(i) + 0.5)));
  const double total = log_sum_exp(logs);
  std::vector<double> sums{0.0};
  for (const double value : logs) sums.push_back(sums.back() + std::exp(value - total));
  return [=](double x) {
    const double place = std::clamp((x - low) / step, 0.0, static_cast<double>(kCells) - 1e-9);
    const auto cell = static_cast<std::size_t>(place);
    return std::min(1.0, sums[cell] + (sums[cell + 1] - sums[cell]) * (place - static_cast<double>(cell)));
  };
}

/// Draws from a cdf by bisection.
double invert(const std::function<double(double)>& cdf, double uniform, double low, double high) {
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (cdf(middle) < uniform ? low : high) = middle;
  }
  return low;
}

// Every update begins in its conditional and must end in it. The densities are those of p(partition, u) as
// the class states it, in the variable that is updated.
TEST(Ngg, UpdatesKeepTheirConditionals) {
  const std::vector<std::uint32_t> sizes{5, 1, 0, 2, 1, 70};
  constexpr std::size_t kRows = 79;
  constexpr std::size_t kClusters = 5;
  const double alpha = 1.4;
  const double sigma = 0.3;
  const double log_t = 0.6;
  const BetaPrior beta{1.5, 2.0};
  const GammaPrior gamma{2.0, 1.5};
  // A density in u becomes one in log t with du / dlog t = (1 + u) t / (sigma (1 + t)).
  const auto log_joint = [&](double a, double s, double lt) {
    Ngg ngg(a, s, kRows);
    ngg.set(a, s, lt);
    return ngg.log_partition_and_u(sizes) + ngg_log1p_u(lt, s) + lt - std::log(s) - log1p_exp(lt);
  };
  struct Update {
    const char* name;
    std::function<double(double)> log_density;
    double low, high;
    std::function<double(Ngg&, double, Stream&)> step;
  };
  const std::vector<Update> updates{
      {"u", [&](double x) { return log_joint(alpha, sigma, x); }, -8.0, 6.0,
       [&](Ngg& ngg, double x, Stream& stream) {
         ngg.set(alpha, sigma, x);
         ngg.update_auxiliary(stream, kRows, kClusters);
         return ngg.log_t();
       }},
      {"alpha", [&](double x) { return log_joint(x, sigma, log_t) + gamma.log_density(x); }, 1e-4, 30.0,
       [&](Ngg& ngg, double x, Stream& stream) {
         ngg.set(x, sigma, log_t);
         ngg.update_alpha(stream, gamma, kClusters);
         return ngg.alpha();
       }},
      {"sigma",
       [&](double x) {
         // t is held, so its own scale does not enter: p(partition, t) = p(partition, u) du / dt.
         return log_joint(alpha, x, log_t) + beta.log_density(x);
       },
       1e-6, 1.0 - 1e-6,
       [&](Ngg& ngg, double x, Stream& stream) {
         ngg.set(alpha, x, log_t);
         ngg.update_sigma(stream, beta, sizes);
         return ngg.sigma();
       }}};
  for (const Update& update : updates)
    for (const std::uint64_t seed : test_seeds()) {
      SCOPED_TRACE(update.name);
      const auto cdf = cdf_of(update.log_density, update.low, update.high);
      Ngg ngg(alpha, sigma, kRows);
      Stream stream({seed, 0, 0}, Purpose::test);
      std::vector<double> values;
      for (std::size_t i = 0; i < scaled(20'000); ++i)
        values.push_back(
            update.step(ngg, invert(cdf, draw_uniform(stream), update.low, update.high), stream));
      expect_distribution(values, cdf);
    }
}

}  // namespace
}  // namespace coppice::test
