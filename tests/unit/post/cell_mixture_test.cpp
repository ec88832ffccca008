// What is predicted for a cell of numbers that cannot be below an end: against sums over a fine grid.
#include "coppice/post/cell_mixture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace coppice {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

NumberComponent component(double mean, double scale, double dof) {
  CellPredictive predictive;
  predictive.mean = mean;
  predictive.dof = dof;
  predictive.scale = scale;
  predictive.variance = std::isinf(dof) ? scale * scale
                        : dof > 2.0     ? scale * scale * dof / (dof - 2.0)
                                        : kInfinity;
  return NumberComponent(predictive);
}

/// Mean, standard deviation and the probability of at most x, given that the number is not below `least`.
struct Sums {
  double mean = 0.0, sd = 0.0, up_to = 0.0;

  Sums(const std::vector<NumberComponent>& components, const std::vector<MixturePart>& parts, double least,
       double x) {
    double total = 0.0;
    double first = 0.0;
    double second = 0.0;
    // The tails are heavy: the grid is even in asinh.
    constexpr double kStep = 1e-4;
    for (double t = std::asinh(least); t < std::asinh(least) + 16.0; t += kStep) {
      const double value = std::sinh(t + 0.5 * kStep);
      double density = 0.0;
      for (const MixturePart& part : parts)
        density += part.weight * components[part.component].density(value);
      const double mass = density * kStep * std::cosh(t + 0.5 * kStep);
      total += mass;
      first += mass * value;
      second += mass * value * value;
      if (value <= x) up_to += mass;
    }
    mean = first / total;
    sd = std::sqrt(second / total - mean * mean);
    up_to /= total;
  }
};

TEST(CellMixture, WithALeastNumberIsThePredictiveGivenThat) {
  const std::vector<NumberComponent> components{component(1.0, 2.0, 6.5), component(3.0, 1.5, kInfinity),
                                                component(-0.5, 0.7, 30.0)};
  const std::vector<MixturePart> parts{{0, 0.5}, {1, 0.3}, {2, 0.2}};
  for (const double least : {-1.0, 0.0, 2.0}) {
    const CellMixture mixture(components, parts, {}, least);
    for (const double p : {0.001, 0.05, 0.5, 0.95}) {
      const double quantile = mixture.quantile(p);
      EXPECT_GE(quantile, least);
      EXPECT_NEAR(Sums(components, parts, least, quantile).up_to, p, 3e-4) << least;
    }
    const Sums sums(components, parts, least, 0.0);
    EXPECT_NEAR(mixture.mean(), sums.mean, 2e-3) << least;
    EXPECT_NEAR(mixture.sd(), sums.sd, 5e-3) << least;
  }
}

TEST(CellMixture, AnEndFarAwayChangesNothing) {
  const std::vector<NumberComponent> components{component(50.0, 2.0, 40.0)};
  const std::vector<MixturePart> parts{{0, 1.0}};
  const CellMixture free(components, parts, {});
  const CellMixture ended(components, parts, {}, 0.0);
  EXPECT_EQ(free.mean(), ended.mean());
  EXPECT_EQ(free.sd(), ended.sd());
  EXPECT_EQ(free.quantile(0.05), ended.quantile(0.05));
}

TEST(CellMixture, WithoutAVarianceTheMiddleStandsForTheMean) {
  const std::vector<NumberComponent> components{component(1.0, 2.0, 1.5)};
  const std::vector<MixturePart> parts{{0, 1.0}};
  const CellMixture mixture(components, parts, {}, 0.0);
  EXPECT_EQ(mixture.mean(), mixture.quantile(0.5));
  EXPECT_GT(mixture.quantile(0.05), 0.0);
}

TEST(CellMixture, NothingIsLeftButTheEnd) {
  const std::vector<NumberComponent> components{component(-90.0, 1.0, kInfinity)};
  const std::vector<MixturePart> parts{{0, 1.0}};
  const CellMixture mixture(components, parts, {}, 0.0);
  EXPECT_EQ(mixture.quantile(0.05), 0.0);
  EXPECT_EQ(mixture.quantile(0.95), 0.0);
  EXPECT_EQ(mixture.mean(), 0.0);
}

}  // namespace
}  // namespace coppice
