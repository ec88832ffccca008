// Eight-lane exp, log and log-gamma against long double over their whole ranges, edges included; loads and
// stores.
#include "coppice/base/lanes.hpp"

#include <gtest/gtest.h>

#include <boost/math/special_functions/gamma.hpp>
#include <cfloat>
#include <cmath>
#include <functional>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/rng.hpp"

namespace coppice {
namespace {

std::vector<double> log_spaced(double low, double high, std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(std::exp(std::log(low) + share * (std::log(high) - std::log(low))));
  }
  values.front() = low;
  values.back() = high;
  return values;
}

/// Calls the function on the values in all lanes, a value in every lane once.
std::vector<double> map_lanes(const std::function<Lanes(Lanes)>& function,
                              const std::vector<double>& values) {
  std::vector<double> results;
  for (std::size_t begin = 0; begin < values.size(); begin += kLanes) {
    Lanes lanes = broadcast(1.0);
    const std::size_t count = std::min(kLanes, values.size() - begin);
    for (std::size_t i = 0; i < count; ++i) lanes[i] = values[begin + i];
    const Lanes result = function(lanes);
    for (std::size_t i = 0; i < count; ++i) results.push_back(result[i]);
  }
  return results;
}

/// The distance of a result from the truth in units in the last place of the truth.
double ulps(double result, long double truth) {
  const double rounded = static_cast<double>(truth);
  const double spacing = std::nextafter(std::abs(rounded), INFINITY) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(result) - truth) / spacing);
}

TEST(Lanes, ExpIsWithinTwoUlpsOnItsWholeRange) {
  std::vector<double> values;
  for (double x = -708.0; x <= 709.0; x += 0.0173) values.push_back(x);
  for (const double x : log_spaced(1e-300, 1.0, 4001)) {
    values.push_back(x);
    values.push_back(-x);
  }
  // Around the places where the reduction changes its integer, and the two ends.
  for (int n = -1020; n <= 1020; n += 3)
    for (const double nudge : {-1e-12, 0.0, 1e-12})
      values.push_back((n + 0.5) * 0.693147180559945309 + nudge);
  for (const double x : {0.0, -0.0, 1.0, -1.0, -708.0, 709.0}) values.push_back(x);
  const std::vector<double> results = map_lanes([](Lanes x) { return exp(x); }, values);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_LE(ulps(results[i], std::exp(static_cast<long double>(values[i]))), 2.0)
        << "exp(" << values[i] << ")";
}

TEST(Lanes, ExpOfVerySmallNumbersIsAlmostZero) {
  for (const double x : {-708.5, -745.0, -1e4, -1e300, -HUGE_VAL}) {
    const double result = exp(broadcast(x))[0];
    EXPECT_GE(result, 0.0);
    EXPECT_LT(result, 1e-307) << x;
  }
}

TEST(Lanes, LogIsWithinTwoUlpsOfAllPositiveNormalNumbers) {
  std::vector<double> values = log_spaced(DBL_MIN, DBL_MAX, 40001);
  for (int i = -4000; i <= 4000; ++i) values.push_back(1.0 + i * 1e-4);  // where log is close to 0
  for (const double tiny : log_spaced(1e-16, 0.1, 2001)) {
    values.push_back(1.0 + tiny);
    values.push_back(1.0 - tiny);
  }
  for (int exponent = -1021; exponent <= 1023; ++exponent)
    for (const double factor : {1.0, 0x1.6a09e667f3bccp0, 0x1.6a09e667f3bcdp0, 0x1.fffffffffffffp0})
      values.push_back(std::ldexp(factor, exponent));
  const std::vector<double> results = map_lanes([](Lanes x) { return log(x); }, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const long double truth = std::log(static_cast<long double>(values[i]));
    if (truth == 0.0L) {
      EXPECT_EQ(results[i], 0.0);
    } else {
      ASSERT_LE(ulps(results[i], truth), 2.0) << "log(" << values[i] << ")";
    }
  }
}

TEST(Lanes, LogGammaIsWithinItsStatedError) {
  std::vector<double> values = log_spaced(1e-30, 1e15, 40001);
  for (int i = 1; i <= 20000; ++i)
    values.push_back(i * 1e-3);  // through the zeros at 1 and 2 and the seam at 8
  for (const double x : {1.0, 2.0, 8.0, std::nextafter(8.0, 0.0), 1e-30, 1e15, 0.5, 170.6, 171.7})
    values.push_back(x);
  const std::vector<double> results = map_lanes([](Lanes x) { return log_gamma(x); }, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const long double truth = boost::math::lgamma(static_cast<long double>(values[i]));
    const double error = static_cast<double>(std::abs(static_cast<long double>(results[i]) - truth));
    ASSERT_LE(error, 1e-14 * std::max(1.0, std::abs(static_cast<double>(truth))))
        << "log_gamma(" << values[i] << ")";
  }
}

TEST(Lanes, LanesDoNotTouchEachOther) {
  Stream stream({1, 0, 0}, Purpose::test, 1);
  const std::vector<double> pool{1e-30, 0.3, 1.0, 7.999, 8.0, 55.5, 1e6, 1e15};
  for (int repeat = 0; repeat < 200; ++repeat) {
    Lanes mixed{};
    for (std::size_t i = 0; i < kLanes; ++i) mixed[i] = pool[draw_index(stream, pool.size())];
    const Lanes gammas = log_gamma(mixed);
    const Lanes logs = log(mixed);
    const Lanes exps = exp(-mixed);
    for (std::size_t i = 0; i < kLanes; ++i) {
      EXPECT_EQ(gammas[i], log_gamma(broadcast(mixed[i]))[0]);
      EXPECT_EQ(logs[i], log(broadcast(mixed[i]))[0]);
      EXPECT_EQ(exps[i], exp(broadcast(-mixed[i]))[0]);
    }
  }
}

TEST(Lanes, LoadStoreBroadcastMaximum) {
  const double from[9] = {0.0, 3.0, -7.0, 1.5, 2.5, 9.0, -1.0, 4.0, 8.0};
  double to[9] = {};
  store_lanes(to + 1, load_lanes(from + 1));  // no alignment is asked for
  for (std::size_t i = 1; i < 9; ++i) EXPECT_EQ(to[i], from[i]);
  EXPECT_EQ(maximum(load_lanes(from + 1)), 9.0);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    Lanes values = broadcast(-5.0);
    values[lane] = -4.0;
    EXPECT_EQ(maximum(values), -4.0);
  }
  const Lanes same = broadcast(-0.25);
  for (std::size_t i = 0; i < kLanes; ++i) EXPECT_EQ(same[i], -0.25);
}

TEST(AlignedVector, KeepsItsAlignmentWhileItGrows) {
  AlignedVector values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(i);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % 64, 0u);
  }
  EXPECT_EQ(values[999], 999.0);
}

}  // namespace
}  // namespace coppice
