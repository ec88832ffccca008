// Concentrations, fixed and learned: a fixed one never moves, and the tempered update has the law of the
// exact one where both exist.
#include "coppice/prior/concentration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

TEST(Concentration, AFixedOneStays) {
  const Concentration fixed(0.7);
  Stream stream({1, 0, 0}, Purpose::concentration);
  EXPECT_FALSE(fixed.is_learned());
  EXPECT_EQ(fixed.draw_prior(stream), 0.7);
  EXPECT_EQ(fixed.log_prior(0.7), 0.0);
  EXPECT_EQ(fixed.update_tempered(stream, 0.7, 1.0, {1.0, 3.0, 10.0}), 0.7);
}

TEST(Concentration, TheTemperedUpdateAtPowerOneHasTheLawOfTheExactOne) {
  const GammaPrior prior{2.0, 1.5};
  const Concentration alpha(1.0, prior);
  constexpr int kDraws = 40'000;
  Stream stream({2, 0, 0}, Purpose::concentration);
  // Means of the logarithm by batches, whose spread is the error of the mean.
  const auto mean_and_error = [&](auto&& update) {
    constexpr int kBatches = 40, kDrawsOfBatch = kDraws / kBatches;
    double value = 1.0, sum = 0.0, squares = 0.0;
    for (int batch = 0; batch < kBatches; ++batch) {
      double mean = 0.0;
      for (int i = 0; i < kDrawsOfBatch; ++i) mean += std::log(value = update(value));
      mean /= kDrawsOfBatch;
      sum += mean;
      squares += mean * mean;
    }
    const double mean = sum / kBatches;
    return std::pair(mean, std::sqrt((squares / kBatches - mean * mean) / (kBatches - 1)));
  };
  const auto [exact, exact_error] =
      mean_and_error([&](double value) { return update_concentration(stream, prior, value, 4, 30); });
  const auto [sliced, sliced_error] = mean_and_error(
      [&](double value) { return alpha.update_tempered(stream, value, 1.0, {1.0, 4.0, 30.0}); });
  EXPECT_NEAR(sliced, exact, 4.0 * std::hypot(exact_error, sliced_error));
}

TEST(Concentration, ImpossibleValuesOfAStateAreRefused) {
  EXPECT_NO_THROW(check_concentration(1e-300));
  for (const double value :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(check_concentration(value), Error) << value;
}

}  // namespace
}  // namespace coppice
