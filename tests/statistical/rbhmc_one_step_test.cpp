// One kernel of rbhmc alone, applied to independent exact draws from its target. The change of
// every functional has mean zero if and only if the kernel keeps the target, whether it mixes or not; draws
// are independent, so the errors are plain ones. And for kernels that are reversible, the flow between any
// two discrete states goes both ways alike.
#include "support/rbhmc_one_step.hpp"

#include <gtest/gtest.h>

#include "coppice/model/rbhmc/replica.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kStates = 10'000;

struct Kernel {
  std::string name;
  std::vector<std::string> settings;
};

std::vector<Kernel> kernels() {
  const auto alone = [](const std::string& move) { return "moves=\"" + move + "\""; };
  const std::string drawn_leaves = "leaf-weights=\"drawn\"";
  const std::string drawn_theta = "theta=\"drawn\"";
  const std::string gibbs = "path-update=\"gibbs\"";
  const std::string prior = "path-update=\"prior\"";
  return {
      {"paths", {alone("paths")}},
      {"paths uninformed", {alone("paths"), "informed=false"}},
      {"paths gibbs", {alone("paths"), gibbs}},
      {"paths prior", {alone("paths"), prior}},
      {"paths all drawn", {alone("paths"), drawn_leaves, drawn_theta}},
      {"paths gibbs drawn leaves", {alone("paths"), gibbs, drawn_leaves}},
      {"components", {alone("components")}},
      {"components all drawn", {alone("components"), drawn_leaves, drawn_theta}},
      {"weights", {alone("weights")}},
      {"weights drawn leaves", {alone("weights"), drawn_leaves}},
      {"splits", {alone("structure"), "regraft-moves=0"}},
      {"splits uninformed drawn leaves",
       {alone("structure"), "regraft-moves=0", "informed=false", drawn_leaves}},
      {"regrafts", {alone("structure"), "split-merge-moves=0"}},
      {"blocks",
       {alone("structure"), "component-moves=0", "split-merge-moves=0", "regraft-moves=0", "block-moves=5"}},
      {"blocks drawn leaves",
       {alone("structure"), "component-moves=0", "split-merge-moves=0", "regraft-moves=0", "block-moves=5",
        drawn_leaves}},
      {"slice", {alone("discriminants")}},
      {"gauss", {alone("discriminants"), "discriminant-update=\"gauss\""}},
      {"shift", {alone("shift")}}};
}

std::vector<RbhmcCase> targets() {
  RbhmcCase centered = rbhmc_case_a(0.3);
  centered.settings.centered = true;
  centered.name = "A_centered";
  RbhmcCase plain = rbhmc_case_a(0.0);
  plain.name = "A_plain";
  RbhmcCase deep = rbhmc_case_b(0.2);
  deep.settings.intercept = true;
  return {plain,
          rbhmc_case_a(0.3),
          centered,
          deep,
          infomax(rbhmc_case_a(0.5)),
          with_powers(infomax(rbhmc_case_a(0.8)), {1.0, 0.4}),
          by_evidence(rbhmc_case_a(0.8))};
}

class RbhmcOneStep : public ::testing::TestWithParam<RbhmcCase> {};

TEST_P(RbhmcOneStep, KeepsTheTarget) {
  const RbhmcCase& small = GetParam();
  const RbhmcData data(small);
  const RbhmcPosterior exact(data.family(), data.rows, small.settings, 1e4);
  const double limit = bonferroni_limit(4.0, 2000.0);
  for (const std::uint64_t seed : test_seeds()) {
    double squares = 0.0;
    double checks = 0.0;
    Stream stream({seed, 0, 0}, Purpose::test);
    std::vector<RbhmcState> states;
    for (std::size_t i = 0; i < scaled(kStates); ++i) states.push_back(exact.draw(stream));
    for (const Kernel& kernel : kernels()) {
      const bool has_rewards = small.settings.infomax || small.settings.evidence;
      if (has_rewards && kernel.name == "gauss") continue;  // for hinges alone
      if (small.settings.evidence && kernel.name.find("uninformed") != std::string::npos) continue;
      const std::vector<RunningMean> change =
          rbhmc_changes(exact, data, states, kernel.settings, {seed, 0, 0}, stream);
      for (std::size_t j = 0; j < change.size(); ++j) {
        if (change[j].standard_error() < 1e-12) continue;
        const double z = change[j].mean() / change[j].standard_error();
        squares += z * z;
        checks += 1.0;
        EXPECT_LT(std::abs(z), limit)
            << kernel.name << ": "
            << (j < exact.functionals() ? exact.name(j) : fmt::format("extra {}", j - exact.functionals()))
            << " changes by " << change[j].mean() << " +- " << change[j].standard_error();
      }
    }
    EXPECT_GT(checks, 200.0);
    EXPECT_LT(std::sqrt(squares / checks), 1.4);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RbhmcOneStep, ::testing::ValuesIn(targets()),
                         [](const ::testing::TestParamInfo<RbhmcCase>& info) { return info.param.name; });

TEST(RbhmcDetailedBalance, FlowsGoBothWays) {
  for (const bool centered : {false, true}) {
    const RbhmcCase small{"two",
                          {{-0.8}, {1.1}},
                          "gaussian-known",
                          {"noise_variance=0.5", "prior_mean=0", "prior_variance=2"},
                          {1, 0.9, 1.2, 0.8, 0.4, 0.5, 1.0, centered}};
    const RbhmcData data(small);
    const RbhmcPosterior exact(data.family(), data.rows, small.settings, 1e4);
    for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
             {"moves=\"paths\""},
             {"moves=\"paths\"", "informed=false"},
             {"moves=\"paths\"", "path-update=\"gibbs\""},
             {"moves=\"paths\"", "path-update=\"prior\""},
             {"moves=\"structure\"", "component-moves=0"},
             {"moves=\"structure\"", "component-moves=0", "informed=false"},
             {"moves=\"structure\"", "component-moves=1", "split-merge-moves=0"}})
      for (const std::uint64_t seed : test_seeds()) {
        const Problem problem = rbhmc_problem(data, small.settings, settings);
        rbhmc::Replica replica(problem, rbhmc::Options(problem.parameters));
        Stream stream({seed, 0, 0}, Purpose::test);
        std::vector<std::vector<double>> flow(4, std::vector<double>(4, 0.0));
        Labels labels(2);
        for (std::size_t i = 1; i <= scaled(4 * kStates); ++i) {
          const RbhmcState start = exact.draw(stream);
          replica.state().load(exact.checkpoint(start, false, false, stream));
          replica.step({seed, 0, i});
          replica.state().tree().labels(labels);
          const std::span<const Label> components = replica.state().components().labels();
          const std::size_t apart = exact.partition(start.partition)[1] != 0 ? 1 : 0;
          const std::size_t now_apart = components[0] != components[1] ? 1 : 0;
          const std::size_t was_split = exact.tree(start.tree).siblings_exist ? 2 : 0;
          flow[was_split + apart][(labels[1] != 0 ? 2 : 0) + now_apart] += 1.0;
        }
        for (std::size_t from = 0; from < 4; ++from)
          for (std::size_t to = 0; to < from; ++to) {
            const double total = flow[from][to] + flow[to][from];
            if (total < 20.0) continue;
            EXPECT_LT(std::abs(flow[from][to] - flow[to][from]) / std::sqrt(total),
                      bonferroni_limit(4.0, 100.0))
                << fmt::format("{}: {} to {}", fmt::join(settings, " "), from, to);
          }
        const bool moves_trees = settings.back() != "split-merge-moves=0";
        EXPECT_GT(moves_trees ? flow[0][2] + flow[2][0] : flow[0][1] + flow[1][0], 100.0)
            << "nothing has changed";
      }
  }
}

}  // namespace
}  // namespace coppice::test
