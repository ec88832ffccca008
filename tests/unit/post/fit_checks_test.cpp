// Posterior predictive checks: tail probabilities are uniform for data from the prior predictive, and small
// for data that the model cannot make.
#include "coppice/post/fit_checks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "unit/post/small_run.hpp"

namespace coppice {
namespace {

constexpr double kAlpha = 1.0;

class FitChecks : public RunTest {
 protected:
  static constexpr const char* kCodebook = R"(
[[column]]
name = "x"
kind = "real"
family = "gaussian-diagonal"
prior_mean = 0.0
mean_strength = 0.1
shape = 3.0
rate = 2.0
[[column]]
name = "n"
kind = "count"
family = "poisson"
shape = 2.0
rate = 0.2
[[column]]
name = "c"
kind = "category"
family = "categorical"
levels = ["a", "b", "c"]
concentration = 1.0
)";

  /// Seats rows by a Chinese restaurant process, draws parameters of each cluster from the prior above.
  static std::string prior_predictive(std::uint64_t seed, std::size_t rows) {
    Stream stream({seed, 0, 0}, Purpose::test);
    struct Cluster {
      double count, mean, sd, rate;
      std::vector<double> levels;
    };
    std::vector<Cluster> clusters;
    std::string csv = "x,n,c\n";
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<double> weights;
      for (const Cluster& cluster : clusters) weights.push_back(cluster.count);
      weights.push_back(kAlpha);
      const std::size_t k = draw_categorical(stream, weights);
      if (k == clusters.size()) {
        const double precision = draw_gamma(stream, 3.0) / 2.0;
        Cluster cluster{0.0, draw_normal(stream) / std::sqrt(0.1 * precision), 1.0 / std::sqrt(precision),
                        draw_gamma(stream, 2.0) / 0.2, std::vector<double>(3)};
        draw_dirichlet(stream, std::vector<double>(3, 1.0), cluster.levels);
        clusters.push_back(cluster);
      }
      Cluster& cluster = clusters[k];
      cluster.count += 1.0;
      csv += fmt::format("{},{},{}\n", cluster.mean + cluster.sd * draw_normal(stream),
                         draw_poisson(stream, cluster.rate), "abc"[draw_categorical(stream, cluster.levels)]);
    }
    return csv;
  }

  FitReport report_of(const std::string& csv, std::size_t warmup = 60) {
    return check_fit(*make_run({.csv = csv,
                                .codebook = kCodebook,
                                .parameters = {{"alpha", Setting::number(kAlpha)}},
                                .chains = 1,
                                .warmup = warmup,
                                .draws = 5}));
  }
};

TEST_F(FitChecks, TailProbabilitiesAreUniformUnderThePriorPredictive) {
  constexpr std::size_t kTables = 200;
  std::map<std::string, std::vector<double>> probabilities;
  for (std::size_t table = 0; table < kTables; ++table)
    for (const FitCheck& check : report_of(prior_predictive(table + 1, 60)).checks)
      probabilities[check.name].push_back(check.tail_probability);
  ASSERT_EQ(probabilities.size(), 4U);  // three columns and the number of clusters
  for (auto& [name, values] : probabilities) {
    ASSERT_EQ(values.size(), kTables) << name;
    std::sort(values.begin(), values.end());
    double distance = 0.0;  // Kolmogorov and Smirnov
    for (std::size_t i = 0; i < kTables; ++i)
      distance = std::max({distance, std::abs(values[i] - static_cast<double>(i) / kTables),
                           std::abs(values[i] - static_cast<double>(i + 1) / kTables)});
    // Exceeded once in a thousand by uniform numbers; counts in bins add steps of about 1 / 60.
    EXPECT_LT(distance, 1.95 / std::sqrt(static_cast<double>(kTables)) + 1.0 / 60.0) << name;
  }
}

TEST_F(FitChecks, HeavyTailsAreSeen) {
  // Groups with symmetric tails heavier than any few Gaussians make, far fewer clusters than would be needed.
  Stream stream({5, 0, 0}, Purpose::test);
  std::string csv = "x,n,c\n";
  for (int row = 0; row < 600; ++row) {
    const double u = draw_uniform(stream);
    csv += fmt::format("{},{},{}\n", u < 0.5 ? -1.0 + 1e-3 * u : 1.0 + 1e-3 * u, 3 + row % 2, "abc"[row % 3]);
  }
  // One cluster holds both spikes if it may not split: alpha is tiny and the counts are the same in both.
  const auto run = make_run({.csv = csv,
                             .codebook = kCodebook,
                             .parameters = {{"alpha", Setting::number(1e-300)}},
                             .chains = 1,
                             .warmup = 0,
                             .draws = 1});
  const FitReport report = check_fit(*run);
  EXPECT_FALSE(report.fits) << report.sentence;
  EXPECT_TRUE(report.sentence.starts_with("It does not fit: ")) << report.sentence;
  const auto count = std::find_if(report.checks.begin(), report.checks.end(),
                                  [](const FitCheck& check) { return check.name == "n"; });
  EXPECT_LT(count->tail_probability, 1e-6);  // counts of 3 and 4 alone are no Poisson
  EXPECT_EQ(count->pattern, "values are nearer the middle of their clusters than the model's");
}

TEST(Uniformity, JoinsBinsUntilEachExpectsFive) {
  EXPECT_EQ(uniformity(std::vector<std::size_t>(20, 0)), 1.0);
  EXPECT_NEAR(uniformity(std::vector<std::size_t>(20, 10)), 1.0, 1e-12);
  std::vector<std::size_t> counts(20, 0);
  counts[0] = 10;  // two bins of 10 and 0: chi-square 10 with one degree of freedom
  EXPECT_NEAR(uniformity(counts), 0.0015654022580025, 1e-12);
}

}  // namespace
}  // namespace coppice
