// Geweke's test of the nested mixture, and simulation-based calibration: the rank of a value of the state
// among draws from the posterior of its own data is uniform (Talts and others 2018).
#include "support/rbhmc_joint.hpp"

#include <gtest/gtest.h>

namespace coppice::test {
namespace {

std::vector<RbhmcVariant> rbhmc_variants() {
  const auto gaussian = [](const RbhmcSettings& settings, std::size_t rows) {
    return RbhmcCase{"gaussian",
                     std::vector<std::vector<double>>(rows, {1.0, 2.0}),
                     "gaussian-known",
                     {"noise_variance=0.5", "prior_mean=0", "prior_variance=2"},
                     settings};
  };
  const RbhmcCase bernoulli{"bernoulli",
                            std::vector<std::vector<double>>(5, {1.0, 0.0}),
                            "bernoulli",
                            {},
                            {2, 0.8, 1.2, 1.0, 0.3, 0.5, 1.0},
                            Kind::binary};
  RbhmcCase centered_bernoulli = bernoulli;
  centered_bernoulli.settings.centered = true;
  RbhmcCase varied_bernoulli = bernoulli;  // by its first data evidence is standardized
  varied_bernoulli.data = {{1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}, {0.0, 0.0}, {1.0, 0.0}};
  const auto with_learned_prior = [](RbhmcCase small, const char* family) {
    small.family = family;
    small.family_settings.clear();
    small.learn = true;
    for (std::size_t i = 0; i < small.data.size() && small.kind == Kind::real; ++i)
      for (double& cell : small.data[i]) cell += 0.5 * static_cast<double>(i * i % 5);  // for its scale
    return small;
  };
  const std::string learn = "learn=\"alpha,gamma,gamma0\"";
  const std::string gibbs = "path-update=\"gibbs\"";
  const std::string drawn_theta = "theta=\"drawn\"";
  const std::string drawn_leaves = "leaf-weights=\"drawn\"";
  return {
      {"plain_learned", gaussian({3, 0.8, 1.2, 1.0, 0.0, 0.5, 1.0}, 6), {learn}},
      {"plain_drawn_theta", gaussian({2, 0.8, 1.2, 1.0, 0.0, 0.5, 1.0}, 5), {drawn_theta, drawn_leaves}},
      {"hinge_learned", gaussian({2, 0.8, 1.2, 1.0, 0.2, 0.5, 1.0}, 5), {learn}},
      {"hinge_gibbs", gaussian({2, 0.8, 1.2, 1.0, 0.2, 0.5, 1.0}, 5), {gibbs, drawn_theta}},
      {"hinge_bernoulli", bernoulli, {"path-update=\"prior\"", "discriminant-update=\"gauss\""}},
      {"centered", gaussian({2, 0.8, 1.2, 1.0, 0.2, 0.4, 1.0, true}, 5), {drawn_leaves}},
      {"centered_learned", gaussian({2, 0.8, 1.2, 1.0, 0.2, 0.4, 1.0, true, true}, 4), {learn, drawn_theta}},
      {"infomax", infomax(rbhmc_case_a(0.3)), {}},
      {"infomax_powers", with_powers(infomax(rbhmc_case_a(0.4)), {1.0, 0.4}), {}},
      {"infomax_gibbs", infomax(rbhmc_case_c(0.6)), {gibbs, drawn_leaves, drawn_theta}},
      {"evidence", by_evidence(rbhmc_case_a(0.6)), {}},
      {"evidence_equal_powers",
       with_powers(by_evidence(rbhmc_case_a(0.5)), {1.0}),
       {drawn_leaves, drawn_theta}},
      {"evidence_gibbs_learned", by_evidence(rbhmc_case_b(0.5)), {gibbs, learn}},
      {"evidence_bernoulli", by_evidence(varied_bernoulli), {"path-update=\"prior\"", drawn_leaves}},
      {"centered_bernoulli", centered_bernoulli, {gibbs, "discriminant-update=\"gauss\""}},
      {"prior_bernoulli", with_learned_prior(bernoulli, "bernoulli"), {learn}},
      {"prior_bernoulli_drawn_theta",
       with_learned_prior(centered_bernoulli, "bernoulli"),
       {gibbs, drawn_theta}},
      {"prior_categorical", with_learned_prior(bernoulli, "categorical"), {learn}},
      {"prior_gaussian_diagonal",
       with_learned_prior(gaussian({2, 0.8, 1.2, 1.0, 0.0, 0.5, 1.0}, 5), "gaussian-diagonal"),
       {learn}},
      {"prior_gaussian",
       with_learned_prior(gaussian({2, 0.8, 1.2, 1.0, 0.0, 0.5, 1.0}, 5), "gaussian"),
       {learn}}};
}

class RbhmcGeweke : public ::testing::TestWithParam<RbhmcVariant> {};

TEST_P(RbhmcGeweke, BothWaysHaveTheSameLaw) {
  const RbhmcVariant& variant = GetParam();
  for (const std::uint64_t seed : test_seeds()) {
    const Agreement agreement = rbhmc_joint_agreement(variant, seed, scaled(20'000));
    EXPECT_LT(agreement.worst, bonferroni_limit(4.0, 200.0)) << "seed " << seed << ": " << agreement;
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, RbhmcGeweke, ::testing::ValuesIn(rbhmc_variants()),
                         [](const ::testing::TestParamInfo<RbhmcVariant>& info) { return info.param.name; });

class RbhmcCalibration : public ::testing::TestWithParam<bool> {};

TEST_P(RbhmcCalibration, RanksAreUniform) {
  constexpr std::size_t kReplicates = 1000;
  constexpr std::size_t kDraws = 19;
  constexpr std::size_t kThin = 8;
  constexpr std::size_t kWarmup = 60;
  const RbhmcVariant variant{"calibration",
                             {"gaussian",
                              std::vector<std::vector<double>>(6, {1.0}),
                              "gaussian-known",
                              {"noise_variance=0.5", "prior_mean=0", "prior_variance=2"},
                              {2, 0.8, 1.2, 1.0, 0.2, 0.4, 1.0, GetParam()}},
                             {"theta=\"drawn\""}};
  constexpr std::size_t kValues = 5;
  const char* const names[kValues] = {"components", "leaves", "hinge", "root remainder", "theta of row 1"};
  for (const std::uint64_t seed : test_seeds()) {
    RbhmcData data(variant.small);
    RbhmcJoint truth(data, variant);
    const Problem problem = rbhmc_problem(data, variant.small.settings, variant.settings);
    const auto values = [&](const rbhmc::State& state) {
      return std::array<double, kValues>{
          static_cast<double>(state.components().clusters()),
          static_cast<double>(state.tree().at_level(state.tree().depth()).size()), state.hinge(),
          state.rest(LevelTree::kRoot), state.theta(state.components().label(0))[0]};
    };
    std::vector<std::vector<double>> ranks(kValues, std::vector<double>(kDraws + 1, 0.0));
    std::uint64_t sweep = 0;
    Stream ties({seed, 3, 0}, Purpose::test);
    const rbhmc::Options options(problem.parameters);
    for (std::size_t replicate = 0; replicate < kReplicates; ++replicate) {
      truth.draw_afresh(data, seed, 3, sweep);
      rbhmc::Replica replica(problem, options);
      // A checkpoint of a sampler is a header and that of its only replica.
      replica.load(truth.sampler().save().substr(sizeof(std::uint64_t)));
      const std::array<double, kValues> true_values = values(replica.state());
      replica.init({seed, 4, replicate});
      std::array<std::size_t, kValues> below{}, equal{};
      for (std::size_t draw = 0; draw < kDraws; ++draw) {
        const std::size_t sweeps = draw == 0 ? kWarmup : kThin;
        for (std::size_t i = 0; i < sweeps; ++i) replica.step({seed, 4 + replicate, draw * kWarmup + i + 1});
        const std::array<double, kValues> seen = values(replica.state());
        for (std::size_t j = 0; j < kValues; ++j) {
          below[j] += seen[j] < true_values[j] ? 1 : 0;
          equal[j] += seen[j] == true_values[j] ? 1 : 0;
        }
      }
      for (std::size_t j = 0; j < kValues; ++j)
        ranks[j][below[j] + static_cast<std::size_t>(draw_index(ties, equal[j] + 1))] += 1.0;
    }
    const std::vector<double> uniform(kDraws + 1, 1.0 / static_cast<double>(kDraws + 1));
    for (std::size_t j = 0; j < kValues; ++j) {
      SCOPED_TRACE(names[j]);
      expect_frequencies(ranks[j], uniform);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RbhmcCalibration, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return info.param ? "centered" : "hinge";
                         });

}  // namespace
}  // namespace coppice::test
