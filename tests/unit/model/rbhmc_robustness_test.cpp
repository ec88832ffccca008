// The model rbhmc under absurd settings: after every sweep the state is audited from scratch and every number
// it reports is finite.
#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "coppice/model/rbhmc/replica.hpp"
#include "support/rbhmc_chain.hpp"

namespace coppice::test {
namespace {

void expect_sound_sweeps(const RbhmcCase& small, const std::vector<std::string>& settings, std::size_t sweeps,
                         std::uint64_t seed = 1) {
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings, settings);
  rbhmc::Replica replica(problem, rbhmc::Options(problem.parameters));
  Stream stream({seed, 0, 0}, Purpose::test);
  replica.init({seed, 0, 0});
  for (std::size_t sweep = 1; sweep <= sweeps; ++sweep) {
    replica.step({seed, 0, sweep});
    ASSERT_NO_THROW(replica.state().audit()) << "sweep " << sweep;
    ASSERT_TRUE(std::isfinite(replica.state().log_collapsed())) << "sweep " << sweep;
    ASSERT_TRUE(std::isfinite(replica.state().hinge())) << "sweep " << sweep;
    const double difference = replica.state().log_collapsed() - replica.state().log_collapsed_from_scratch();
    ASSERT_NEAR(difference, 0.0, 1e-7 * (1.0 + std::abs(replica.state().log_collapsed())));
  }
  const std::string saved = replica.save();
  rbhmc::Replica copy(problem, rbhmc::Options(problem.parameters));
  copy.load(saved);
  EXPECT_EQ(copy.save(), saved);
  EXPECT_NO_THROW(copy.state().audit());
}

std::vector<std::vector<std::string>> kernels() {
  return {{},
          {"informed=false", "path-update=\"prior\""},
          {"path-update=\"gibbs\"", "theta=\"drawn\""},
          {"discriminant-update=\"gauss\"", "leaf-weights=\"drawn\""},
          {"moves=\"paths,components,structure,weights,discriminants,shift\"", "split-merge-moves=3",
           "regraft-moves=3"},
          {"learn=\"alpha,gamma,gamma0\"", "theta=\"drawn\"", "leaf-weights=\"drawn\""}};
}

const char* const kRegularizers[] = {"hinge", "centered", "own", "paper", "infomax", "evidence"};

TEST(RbhmcRobustness, RandomSettings) {
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream({seed, 0, 0}, Purpose::test, 5);
    const auto anything = [&] { return std::pow(10.0, 6.0 * draw_uniform(stream) - 3.0); };
    for (std::size_t round = 0; round < 60; ++round) {
      RbhmcCase small{"fuzz", {}, "gaussian-known", {}, {}};
      small.settings = {
          1 + draw_index(stream, 4), anything(), anything(), anything(), anything(), anything(), anything()};
      small.settings.intercept = draw_index(stream, 2) == 1;
      small.family_settings = {fmt::format("noise_variance={}", anything()), "prior_mean=0",
                               fmt::format("prior_variance={}", anything())};
      const std::size_t rows = 1 + draw_index(stream, 20);
      const std::size_t width = 1 + draw_index(stream, 3);
      const double scale = anything();
      for (std::size_t row = 0; row < rows; ++row) {
        small.data.emplace_back();
        for (std::size_t j = 0; j < width; ++j)
          small.data.back().push_back(draw_index(stream, 10) == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                                  : scale * draw_normal(stream));
      }
      std::vector<std::string> settings = kernels()[draw_index(stream, kernels().size())];
      settings.push_back(fmt::format("regularizer=\"{}\"", kRegularizers[draw_index(stream, 6)]));
      SCOPED_TRACE(
          fmt::format("seed {}, round {}: {} rows, levels {}, alpha {}, gamma {}, gamma0 {}, "
                      "penalty {}, margin {}, sd {}: {}",
                      seed, round, rows, small.settings.levels, small.settings.alpha, small.settings.gamma,
                      small.settings.gamma0, small.settings.penalty, small.settings.margin, small.settings.sd,
                      fmt::join(settings, " ")));
      expect_sound_sweeps(small, settings, 200, seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RbhmcRobustness, Edges) {
  const std::vector<std::string> family{"noise_variance=1", "prior_mean=0", "prior_variance=1"};
  const auto gaussian = [&](std::vector<std::vector<double>> data, const RbhmcSettings& settings) {
    return RbhmcCase{"edge", std::move(data), "gaussian-known", family, settings};
  };
  const std::vector<std::vector<double>> spread{
      {-3.0, 1.0}, {-2.5, 0.5}, {2.0, -1.0}, {2.5, 0.1}, {0.0, 4.0}};
  const std::vector<std::pair<const char*, RbhmcCase>> edges{
      {"one row", gaussian({{1.0, 2.0}}, {3, 1.0, 1.0, 1.0, 0.5, 1.0, 1.0})},
      {"one level", gaussian(spread, {1, 1.0, 1.0, 1.0, 0.5, 1.0, 1.0})},
      {"many levels", gaussian(spread, {32, 1.0, 1.0, 1.0, 0.5, 1.0, 1.0})},
      {"identical points",
       gaussian(std::vector<std::vector<double>>(8, {1.5, -2.0}), {3, 1.0, 1.0, 1.0, 0.3})},
      {"all zero", gaussian(std::vector<std::vector<double>>(8, {0.0, 0.0}), {3, 1.0, 1.0, 1.0, 0.3})},
      {"huge penalty", gaussian(spread, {2, 1.0, 1.0, 1.0, 1e6, 1.0, 1.0})},
      {"huge penalty and margin", gaussian(spread, {2, 1.0, 1.0, 1.0, 1e6, 1e6, 1.0})},
      {"no margin", gaussian(spread, {2, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0})},
      {"tiny concentrations", gaussian(spread, {3, 1e-12, 1e-12, 1e-12, 0.3})},
      {"tiny alpha", gaussian(spread, {3, 1e-300, 1.0, 1.0, 0.3})},
      {"tiny gamma", gaussian(spread, {3, 1.0, 1e-300, 1.0, 0.3})},
      {"tiny gamma0", gaussian(spread, {3, 1.0, 1.0, 1e-300, 0.3})},
      {"huge concentrations", gaussian(spread, {3, 1e12, 1e12, 1e12, 0.3})},
      {"huge alpha", gaussian(spread, {3, 1e100, 1.0, 1.0, 0.3})},
      {"huge gamma", gaussian(spread, {3, 1.0, 1e100, 1.0, 0.3})},
      {"huge gamma0", gaussian(spread, {3, 1.0, 1.0, 1e100, 0.3})},
      {"huge data", gaussian({{1e8, -1e8}, {1e8, 1e8}, {-1e8, 0.0}, {-1e8, 1.0}}, {2, 1.0, 1.0, 1.0, 0.1})},
      {"wide discriminants", gaussian(spread, {2, 1.0, 1.0, 1.0, 1.0, 1.0, 1e6})},
      {"narrow discriminants", gaussian(spread, {2, 1.0, 1.0, 1.0, 1.0, 1.0, 1e-6})}};
  for (const auto& [name, small] : edges)
    for (const std::vector<std::string>& kernel : kernels())
      for (const char* regularizer : kRegularizers) {
        std::vector<std::string> settings = kernel;
        settings.push_back(fmt::format("regularizer=\"{}\"", regularizer));
        SCOPED_TRACE(fmt::format("{}: {}", name, fmt::join(settings, " ")));
        expect_sound_sweeps(small, settings, 40);
        if (HasFatalFailure()) return;
      }
}

// A tree that pays nothing or no branching at all: with a huge penalty nothing else is left.
TEST(RbhmcRobustness, AHugePenaltyLeavesOnlyWhatMarginsAllow) {
  const RbhmcCase small{"spread",
                        {{-3.0, 1.0}, {-2.5, 0.5}, {2.0, -1.0}, {2.5, 0.1}},
                        "gaussian-known",
                        {"noise_variance=1", "prior_mean=0", "prior_variance=1"},
                        {2, 1.0, 1.0, 1.0, 1e6, 1.0, 1.0}};
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  rbhmc::Replica replica(problem, rbhmc::Options(problem.parameters));
  replica.init({1, 0, 0});
  for (std::size_t sweep = 1; sweep <= 300; ++sweep) {
    replica.step({1, 0, sweep});
    if (sweep > 100) {
      ASSERT_LT(replica.state().hinge(), 1e-3);
    }
  }
}

// Without a penalty the paths, components and weights do not depend on discriminants at all.
TEST(RbhmcRobustness, WithoutPenaltyTheRegularizerMakesNoDifference) {
  const RbhmcCase small{"spread",
                        {{-3.0, 1.0}, {-2.5, 0.5}, {2.0, -1.0}, {2.5, 0.1}, {0.2, 0.3}},
                        "gaussian-known",
                        {"noise_variance=1", "prior_mean=0", "prior_variance=1"},
                        {3, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0}};
  const RbhmcData data(small);
  std::vector<std::string> shown;
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"regularizer=\"hinge\""},
           {"regularizer=\"centered\""},
           {"regularizer=\"hinge\"", "intercept=true", "discriminant-sd=3", "margin=7", "informed=false"},
           {"regularizer=\"centered\"", "discriminant-update=\"gauss\"", "replicas=2"}}) {
    const Problem problem = rbhmc_problem(data, small.settings, settings);
    rbhmc::Replica replica(problem, rbhmc::Options(problem.parameters));
    replica.init({1, 0, 0});
    std::string text;
    Labels labels(15);
    for (std::size_t sweep = 1; sweep <= 50; ++sweep) {
      replica.step({1, 0, sweep});
      replica.state().tree().labels(labels);
      text += fmt::format("{} {} {};", fmt::join(labels, ""),
                          fmt::join(replica.state().components().labels(), ""),
                          replica.state().rest(LevelTree::kRoot));
    }
    shown.push_back(text);
  }
  for (const std::string& text : shown) EXPECT_EQ(text, shown.front());
}

}  // namespace
}  // namespace coppice::test
