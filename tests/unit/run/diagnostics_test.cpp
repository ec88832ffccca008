// Diagnostics against the numbers of ArviZ (diagnostics_reference.json, made by
// tools/make_diagnostics_reference.py), and their conventions where ArviZ and R posterior disagree or have no
// answer.
#include "coppice/run/diagnostics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "coppice/base/error.hpp"
#include "support/source_folder.hpp"

namespace coppice {
namespace {

using Trace = std::vector<std::vector<double>>;

void expect_same(double actual, const nlohmann::json& expected, const std::string& what) {
  if (expected.is_null()) {
    EXPECT_TRUE(std::isnan(actual)) << what << " is " << actual;
    return;
  }
  const double value = expected.get<double>();
  EXPECT_NEAR(actual, value, 1e-8 * std::max(1.0, std::abs(value))) << what;
}

TEST(Diagnostics, EqualArviz) {
  std::ifstream file(test::source_folder() / "tests/unit/run/diagnostics_reference.json");
  ASSERT_TRUE(file);
  const auto reference = nlohmann::json::parse(file);
  ASSERT_GE(reference["cases"].size(), 15U);
  for (const auto& one : reference["cases"]) {
    const auto chains = one["chains"].get<Trace>();
    const auto& expected = one["expected"];
    SCOPED_TRACE(one["name"].get<std::string>());
    expect_same(pooled_mean(chains), expected["mean"], "mean");
    expect_same(pooled_sd(chains), expected["sd"], "sd");
    expect_same(rhat(chains), expected["rhat"], "rhat");
    expect_same(ess_bulk(chains), expected["ess_bulk"], "ess_bulk");
    expect_same(ess_tail(chains), expected["ess_tail"], "ess_tail");
    expect_same(ess_mean(chains), expected["ess_mean"], "ess_mean");
    expect_same(ess_sd(chains), expected["ess_sd"], "ess_sd");
    expect_same(ess_quantile(chains, 0.5), expected["ess_median"], "ess_median");
    expect_same(ess_quantile(chains, 0.1), expected["ess_q10"], "ess_q10");
    expect_same(mcse_mean(chains), expected["mcse_mean"], "mcse_mean");
    expect_same(mcse_sd(chains), expected["mcse_sd"], "mcse_sd");
    expect_same(mcse_quantile(chains, 0.5), expected["mcse_median"], "mcse_median");
    expect_same(mcse_quantile(chains, 0.1), expected["mcse_q10"], "mcse_q10");
    const TraceSummary summary = summarize_trace("trace", chains);
    EXPECT_EQ(summary.name, "trace");
    EXPECT_FALSE(summary.constant);
    expect_same(summary.mean, expected["mean"], "summary mean");
    expect_same(summary.sd, expected["sd"], "summary sd");
    expect_same(summary.median, expected["median"], "summary median");
    expect_same(summary.q05, expected["q05"], "summary q05");
    expect_same(summary.q95, expected["q95"], "summary q95");
    expect_same(summary.rhat, expected["rhat"], "summary rhat");
    expect_same(summary.ess_bulk, expected["ess_bulk"], "summary ess_bulk");
    expect_same(summary.ess_tail, expected["ess_tail"], "summary ess_tail");
    expect_same(summary.mcse_mean, expected["mcse_mean"], "summary mcse_mean");
  }
}

TEST(Diagnostics, QuantilesInterpolateTheOrderStatistics) {
  const Trace chains{{4.0, 1.0}, {3.0, 2.0}};
  EXPECT_DOUBLE_EQ(pooled_quantile(chains, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(pooled_quantile(chains, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(pooled_quantile(chains, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(pooled_quantile(chains, 1.0), 4.0);
  EXPECT_THROW(pooled_quantile(chains, 1.5), Error);
}

TEST(Diagnostics, QuantileOnAnOrderStatisticIsExact) {
  std::vector<double> chain(41);  // 0.95 * 40 = 38 on paper
  for (std::size_t i = 0; i < chain.size(); ++i) chain[i] = static_cast<double>(i) * 0.1;
  EXPECT_EQ(pooled_quantile(Trace{chain}, 0.95), chain[38]);
}

TEST(Diagnostics, ConstantTraceIsNotInformative) {
  const Trace chains(4, std::vector<double>(50, 3.0));
  const TraceSummary summary = summarize_trace("clusters", chains);
  EXPECT_TRUE(is_constant(chains));
  EXPECT_TRUE(summary.constant);
  EXPECT_EQ(summary.mean, 3.0);
  EXPECT_EQ(summary.sd, 0.0);
  EXPECT_EQ(summary.median, 3.0);
  for (const double value : {summary.rhat, summary.ess_bulk, summary.ess_tail, summary.mcse_mean,
                             ess_sd(chains), mcse_sd(chains), mcse_quantile(chains, 0.5)}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(Diagnostics, ChainsStuckApartHaveInfiniteRhat) {
  Trace chains;
  for (int c = 0; c < 4; ++c) chains.emplace_back(100, 0.1 * c);
  EXPECT_FALSE(is_constant(chains));
  EXPECT_TRUE(std::isinf(rhat(chains)));
  EXPECT_LT(ess_bulk(chains), 10.0);
}

TEST(Diagnostics, NotFiniteOrTooShortIsNaN) {
  Trace chains(2, {1.0, 2.0, 3.0, 1.5, 2.5, 0.5});
  chains[1][2] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(rhat(chains)));
  chains[1][2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(ess_bulk(chains)));
  EXPECT_TRUE(std::isnan(pooled_mean(chains)));
  EXPECT_TRUE(std::isnan(summarize_trace("x", chains).median));
  const Trace brief(4, {1.0, 2.0, 3.0});
  EXPECT_TRUE(std::isnan(ess_tail(brief)));
  EXPECT_TRUE(std::isnan(rhat(brief)));
  EXPECT_TRUE(summarize_trace("none", Trace{}).constant);
  EXPECT_TRUE(std::isnan(summarize_trace("none", Trace{{}, {}}).mean));
}

TEST(Diagnostics, ChainsMustHaveOneLength) {
  const Trace chains{{1.0, 2.0, 3.0, 4.0}, {1.0, 2.0, 3.0}};
  EXPECT_THROW(rhat(chains), Error);
  EXPECT_THROW(summarize_trace("x", chains), Error);
}

}  // namespace
}  // namespace coppice
