// The model rbhmc where more is known than the enumeration says: the procedures without a target, the
// prior, limits in which it becomes a simpler model, invariances, and what its draws keep and predict.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>

#include "coppice/base/math.hpp"
#include "coppice/model/rbhmc/draw_payload.hpp"
#include "coppice/model/rbhmc/replica.hpp"
#include "support/nrmm_enumeration.hpp"
#include "support/rbhmc_chain.hpp"
#include "support/trace_values.hpp"

namespace coppice::test {
namespace {

// The procedures without a target: what they settle at was measured elsewhere, in long runs.
struct Procedure {
  std::string name;
  std::vector<std::string> settings;
  double leaves, components, hinge, leaves_error, components_error, hinge_error;
};

TEST(RbhmcProcedures, SettleWhereTheyDidElsewhere) {
  const RbhmcCase small = rbhmc_case_a(0.3);
  const RbhmcData data(small);
  const RbhmcPosterior exact(data.family(), data.rows, small.settings);
  const std::vector<Procedure> procedures{
      {"own, gibbs", {"regularizer=\"own\"", "path-update=\"gibbs\""}, 2.975, 2.322, 2.34, .008, .005, .015},
      {"own, metropolis", {"regularizer=\"own\""}, 2.994, 2.335, 2.42, .008, .005, .015},
      {"paper", {"regularizer=\"paper\""}, 3.03, 2.38, 2.73, .02, .02, .02}};
  for (const Procedure& procedure : procedures)
    for (const std::uint64_t seed : test_seeds()) {
      const RbhmcRecord record = run_rbhmc(exact, data, seed, scaled(2 * kRbhmcSweeps), procedure.settings);
      Agreement agreement;
      const auto compare = [&](const char* what, double value, double error) {
        const Estimate seen = record.estimate(what);
        agreement.check(what, {seen.mean, std::hypot(seen.error, error)}, value);
      };
      compare("leaves", procedure.leaves, procedure.leaves_error);
      compare("K", procedure.components, procedure.components_error);
      compare("hinge", procedure.hinge, procedure.hinge_error);
      EXPECT_TRUE(agreement.holds()) << procedure.name << ", seed " << seed << ": " << agreement;
      EXPECT_FALSE(record.agreement().holds()) << procedure.name << " is not exact, and this must show";
    }
}

// Its components are stale while paths move, so it is off even without a penalty: that the comparison sees
// this shows what it can see.
TEST(RbhmcProcedures, ThePublishedOneIsBiasedWithoutPenalty) {
  const RbhmcCase small = rbhmc_case_a(0.0);
  const RbhmcData data(small);
  const RbhmcPosterior exact(data.family(), data.rows, small.settings);
  for (const std::uint64_t seed : test_seeds()) {
    const RbhmcRecord record = run_rbhmc(exact, data, seed, 2 * kRbhmcSweeps, {"regularizer=\"paper\""});
    const Estimate components = record.estimate("K");
    EXPECT_NEAR(components.mean, 2.406, 4.5 * std::hypot(components.error, 0.005));
    EXPECT_GT(components.mean - exact.expectation("K").mean, 4.5 * components.error);
    EXPECT_FALSE(record.agreement().holds());
    // `own` without a penalty is exact.
    const Agreement own =
        run_rbhmc(exact, data, seed, scaled(kRbhmcSweeps), {"regularizer=\"own\""}).agreement();
    EXPECT_TRUE(own.holds()) << own;
  }
}

RbhmcCase all_missing(const RbhmcSettings& settings, std::size_t rows) {
  return {"missing",
          std::vector<std::vector<double>>(rows, {std::numeric_limits<double>::quiet_NaN()}),
          "gaussian-known",
          {"noise_variance=1", "prior_mean=0", "prior_variance=1"},
          settings};
}

// Rows without a cell leave the prior, whose co-clustering is known in closed form.
TEST(RbhmcPrior, IsReproducedWithoutData) {
  for (const std::size_t levels : {1u, 3u}) {
    const double alpha = 0.7, gamma = 1.6, gamma0 = 0.9;
    const RbhmcCase small = all_missing({levels, alpha, gamma, gamma0}, 4);
    const RbhmcData data(small);
    const RbhmcPosterior exact(data.family(), data.rows, small.settings);
    double sharing = 1.0 / (1.0 + gamma0);  // P(same component | paths part below level d)
    double together = 0.0;
    for (std::size_t level = 1; level <= levels; ++level) {
      const double depth = static_cast<double>(level);
      EXPECT_NEAR(exact.expectation(fmt::format("P{}(4,2)", level)).mean, std::pow(1.0 + alpha, -depth),
                  1e-12);
      together += std::pow(1.0 + alpha, 1.0 - depth) * alpha / (1.0 + alpha) * sharing;
      sharing = (1.0 + gamma * sharing) / (1.0 + gamma);
    }
    together += std::pow(1.0 + alpha, -static_cast<double>(levels)) * sharing;
    EXPECT_NEAR(exact.expectation("Pc(3,1)").mean, together, 1e-12);
    if (levels == 1) {
      EXPECT_NEAR(exact.expectation("leaves").mean,
                  1.0 + alpha / (alpha + 1) + alpha / (alpha + 2) + alpha / (alpha + 3), 1e-12);
    }
    for (const std::uint64_t seed : test_seeds()) {
      const Agreement agreement = run_rbhmc(exact, data, seed, scaled(kRbhmcSweeps)).agreement();
      EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
      // Draws from the prior itself.
      const Problem problem = rbhmc_problem(data, small.settings);
      const std::unique_ptr<Inference> sampler = model_by_name("rbhmc").make_inference(problem);
      RbhmcRecord record(exact, scaled(kRbhmcSweeps));
      for (std::size_t draw = 1; draw <= scaled(kRbhmcSweeps); ++draw) {
        sampler->draw_prior({seed, 0, draw});
        record.add(*sampler);
      }
      EXPECT_TRUE(record.agreement().holds()) << "seed " << seed << ": " << record.agreement();
    }
  }
}

TEST(RbhmcPrior, ConcentrationsKeepTheirPriors) {
  const RbhmcCase small = all_missing({2, 1.0, 1.0, 1.0}, 4);
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings,
                                        {"learn=\"alpha,gamma,gamma0\"", "alpha-prior=[2, 1.5]",
                                         "gamma-prior=[3, 2]", "gamma0-prior=[2.5, 4]"});
  const ModelEntry& model = model_by_name("rbhmc");
  const std::vector<std::string> names = model.trace_names(problem.parameters);
  const struct {
    const char* name;
    double shape, rate;
  } laws[] = {{"alpha", 2, 1.5}, {"gamma", 3, 2}, {"gamma0", 2.5, 4}};
  for (const std::uint64_t seed : test_seeds()) {
    const std::unique_ptr<Inference> sampler = model.make_inference(problem);
    sampler->init({seed, 0, 0});
    std::vector<double> values(names.size());
    std::vector<std::vector<double>> seen(6);
    for (std::size_t sweep = 1; sweep <= scaled(2 * kRbhmcSweeps); ++sweep) {
      sampler->step({seed, 0, sweep});
      sampler->traces(values);
      for (std::size_t i = 0; i < 3; ++i) {
        const double value = values[static_cast<std::size_t>(
            std::find(names.begin(), names.end(), laws[i].name) - names.begin())];
        seen[2 * i].push_back(value);
        seen[2 * i + 1].push_back(value * value);
      }
    }
    Agreement agreement;
    for (std::size_t i = 0; i < 3; ++i) {
      const double mean = laws[i].shape / laws[i].rate;
      agreement.check(laws[i].name, batch_estimate(seen[2 * i]), mean);
      agreement.check(laws[i].name + std::string(" squared"), batch_estimate(seen[2 * i + 1]),
                      mean * (mean + 1.0 / laws[i].rate));
    }
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

TEST(RbhmcLimits, VeryCloseWeightsLeaveThePathsToThePrior) {
  RbhmcCase small = rbhmc_case_a(0.0);
  small.settings.gamma = 1e7;
  small.settings.alpha = 0.6;
  const RbhmcData data(small);
  const RbhmcPosterior exact(data.family(), data.rows, small.settings);
  for (std::size_t level = 1; level <= 2; ++level)
    EXPECT_NEAR(exact.expectation(fmt::format("P{}(4,1)", level)).mean,
                std::pow(1.6, -static_cast<double>(level)), 1e-5);
  for (const std::uint64_t seed : test_seeds()) {
    const Agreement agreement = run_rbhmc(exact, data, seed, scaled(kRbhmcSweeps)).agreement();
    EXPECT_TRUE(agreement.holds()) << agreement;
  }
}

TEST(RbhmcLimits, HardlyAnyBranchingLeavesAMixture) {
  RbhmcCase small = rbhmc_case_a(0.3);
  small.settings.alpha = 1e-9;
  small.settings.gamma = 1e7;
  small.settings.gamma0 = 0.8;
  const RbhmcData data(small);
  const ExactPosterior mixture(data.family(), data.rows, {0.8});
  for (const std::uint64_t seed : test_seeds()) {
    const RbhmcPosterior exact(data.family(), data.rows, small.settings, 1e4);
    const RbhmcRecord record = run_rbhmc(exact, data, seed, scaled(kRbhmcSweeps));
    EXPECT_NEAR(record.estimate("single path").mean, 1.0, 1e-12);
    Agreement agreement;
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < a; ++b) {
        double truth = 0.0;
        for (std::size_t i = 0; i < mixture.size(); ++i)
          if (mixture.partition(i)[a] == mixture.partition(i)[b]) truth += mixture.probability(i);
        const std::string name = fmt::format("Pc({},{})", a + 1, b + 1);
        agreement.check(name, record.estimate(name), truth);
      }
    EXPECT_TRUE(agreement.holds()) << agreement;
  }
}

TEST(RbhmcLimits, ATinyPenaltyIsNone) {
  const RbhmcCase small = rbhmc_case_a(0.0);
  const RbhmcData data(small);
  const RbhmcPosterior exact(data.family(), data.rows, small.settings);
  for (const std::uint64_t seed : test_seeds())
    for (const char* paths : {"metropolis", "gibbs"}) {
      const Agreement agreement = run_rbhmc(exact, data, seed, scaled(kRbhmcSweeps),
                                            {"penalty=1e-9", fmt::format("path-update=\"{}\"", paths)})
                                      .agreement();
      EXPECT_TRUE(agreement.holds()) << agreement;
    }
}

// Gates without power, or with discriminants that distinguish nothing, and evidence without power leave the
// plain mixture.
TEST(RbhmcLimits, RewardsThatTellNothingAreNone) {
  const RbhmcCase plain = rbhmc_case_a(0.0);
  const RbhmcData data(plain);
  const RbhmcPosterior exact(data.family(), data.rows, plain.settings);
  const std::vector<std::vector<std::string>> limits{
      {"regularizer=\"infomax\"", "penalty=0"},
      {"regularizer=\"infomax\"", "penalty=1e-9"},
      {"regularizer=\"infomax\"", "penalty=1", "discriminant-sd=1e-9"},
      {"regularizer=\"infomax\"", "penalty=1", "level-powers=[0]"},
      {"regularizer=\"evidence\"", "penalty=0"},
      {"regularizer=\"evidence\"", "penalty=1e-9"},
      {"regularizer=\"evidence\"", "penalty=1", "level-powers=[0]"}};
  for (const std::vector<std::string>& settings : limits) {
    const bool has_evidence = settings.front() == "regularizer=\"evidence\"";
    for (const std::uint64_t seed : test_seeds()) {
      const RbhmcCase rewarded = has_evidence ? by_evidence(plain) : infomax(plain);
      const Problem problem = rbhmc_problem(data, rewarded.settings, settings);
      const std::unique_ptr<Inference> sampler = model_by_name("rbhmc").make_inference(problem);
      // The hinge is one of other features and no part of this target: it is left out.
      RbhmcRecord record(exact, scaled(kRbhmcSweeps));
      sampler->init({seed, 0, 0});
      for (std::size_t sweep = 1; sweep <= scaled(kRbhmcSweeps); ++sweep) {
        sampler->step({seed, 0, sweep});
        record.add(*sampler);
      }
      Agreement agreement;
      for (const char* what :
           {"P1(2,1)", "P1(4,1)", "P2(3,2)", "Pc(2,1)", "leaves", "nodes", "K", "remainder"})
        agreement.check(what, record.estimate(what), exact.expectation(what).mean);
      EXPECT_TRUE(agreement.holds()) << fmt::format("{}, seed {}: ", fmt::join(settings, " "), seed)
                                     << agreement;
    }
  }
}

// With the tree held fixed this is a mixture of groups that share components.
TEST(RbhmcLimits, AFixedTreeIsAHierarchicalMixture) {
  const RbhmcCase small = rbhmc_case_c(0.0);
  const RbhmcData data(small);
  const RbhmcPosterior exact(data.family(), data.rows, small.settings);
  for (const std::uint64_t seed : test_seeds())
    for (std::size_t tree = 0; tree < exact.size(); ++tree)
      for (const bool drawn : {false, true}) {
        const Problem problem =
            rbhmc_problem(data, small.settings,
                          {"moves=\"components,weights\"",
                           fmt::format("leaf-weights=\"{}\"", drawn ? "drawn" : "collapsed")});
        rbhmc::Replica replica(problem, rbhmc::Options(problem.parameters));
        Stream stream({seed, tree, 0}, Purpose::test);
        RbhmcState start = exact.draw(stream);
        while (start.tree != tree) start = exact.draw(stream);
        replica.state().load(exact.checkpoint(start, drawn, false, stream));
        std::vector<std::vector<double>> together(3);
        for (std::size_t sweep = 1; sweep <= scaled(kRbhmcSweeps / 2); ++sweep) {
          replica.step({seed, tree, sweep});
          const std::span<const Label> c = replica.state().components().labels();
          together[0].push_back(c[0] == c[1]);
          together[1].push_back(c[0] == c[2]);
          together[2].push_back(c[1] == c[2]);
        }
        Agreement agreement;
        for (std::size_t pair = 0; pair < 3; ++pair) {
          double truth = 0.0;
          for (std::size_t i = 0; i < 5; ++i) {
            const Labels& c = exact.partition(i);
            const bool same = pair == 0 ? c[0] == c[1] : c[pair - 1] == c[2];
            if (same) truth += exact.partition_given_tree(tree, i);
          }
          agreement.check(fmt::format("pair {}", pair), batch_estimate(together[pair]), truth);
        }
        EXPECT_TRUE(agreement.holds()) << "tree " << tree << ", seed " << seed << ": " << agreement;
      }
}

// Order, sign and rotation of the data make no difference.
TEST(RbhmcInvariance, OfOrderSignAndRotation) {
  for (const bool is_centered : {false, true}) {
    RbhmcCase small = rbhmc_case_b(0.2);
    small.settings.levels = 2;
    small.settings.centered = is_centered;
    const RbhmcData data(small);
    const RbhmcPosterior exact(data.family(), data.rows, small.settings);
    RbhmcCase turned = small;
    std::vector<std::size_t> place{2, 0, 3, 1};  // row i goes to place[i]
    for (std::size_t i = 0; i < 4; ++i) {
      const double x = -small.data[i][0];
      const double y = small.data[i][1];
      turned.data[place[i]] = {0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y};
    }
    const RbhmcData turned_data(turned);
    const RbhmcPosterior turned_exact(turned_data.family(), turned_data.rows, turned.settings, 1e6, 2);
    Agreement agreement;
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < a; ++b)
        for (const char* what : {"P1", "P2", "Pc"}) {
          const Estimate& here = exact.expectation(fmt::format("{}({},{})", what, a + 1, b + 1));
          const std::size_t first = std::max(place[a], place[b]);
          const std::size_t second = std::min(place[a], place[b]);
          const Estimate& there =
              turned_exact.expectation(fmt::format("{}({},{})", what, first + 1, second + 1));
          agreement.check(what, {there.mean, std::hypot(there.error, here.error)}, here.mean);
        }
    EXPECT_TRUE(agreement.holds()) << agreement;
    for (const std::uint64_t seed : test_seeds()) {
      const Agreement sampled = run_rbhmc(turned_exact, turned_data, seed, scaled(kRbhmcSweeps)).agreement();
      EXPECT_TRUE(sampled.holds()) << sampled;
    }
  }
}

// What a draw keeps is what it shows.
TEST(RbhmcDraws, DetailsAndTracesAgree) {
  for (const std::string regularizer : {"hinge", "centered", "own", "paper", "infomax", "evidence"}) {
    RbhmcCase small = rbhmc_case_b(0.2);
    small.settings.centered = regularizer == "centered";
    small.settings.infomax = regularizer == "infomax";
    small.settings.evidence = regularizer == "evidence";
    const RbhmcData data(small);
    const RbhmcPosterior exact(data.family(), data.rows, small.settings, 1e4);
    const Problem problem =
        rbhmc_problem(data, small.settings, {fmt::format("regularizer=\"{}\"", regularizer)});
    const ModelEntry& model = model_by_name("rbhmc");
    const std::unique_ptr<Inference> sampler = model.make_inference(problem);
    RbhmcRecord record(exact, 1000);
    TraceValues traces(model, problem.parameters);
    Labels labels(12);
    sampler->init({1, 0, 0});
    for (std::size_t sweep = 1; sweep <= 300; ++sweep) {
      sampler->step({1, 0, sweep});
      record.add(*sampler);
      traces.read(*sampler);
      sampler->labels(labels);
      LevelTree tree(4, 3);
      tree.assign(labels);
      const rbhmc::DrawPayload payload = rbhmc::read_payload(sampler->payload(), tree);
      const double shown = small.settings.infomax    ? -0.5 * traces["log_gates"]
                           : small.settings.evidence ? -0.5 * traces["log_bayes_factors"]
                                                     : traces["hinge"];
      EXPECT_NEAR(record.last_hinge(), shown, 1e-5);
      EXPECT_EQ(static_cast<double>(payload.components), traces["components"]);
      EXPECT_NEAR(payload.weights_of(LevelTree::kRoot).back(), traces["root_remainder"], 1e-6);
      EXPECT_NEAR(sampler->log_joint(), sampler->log_joint_from_scratch(), 1e-9);
    }
  }
}

// Over the draws for four rows, what the predictor says of a fifth averages to the ratio of evidences, and
// its joining a row's node to that ratio times their co-clustering among five.
TEST(RbhmcPrediction, AveragesToTheEnumeration) {
  const RbhmcCase four = rbhmc_case_a(0.0);
  RbhmcCase five = four;
  five.data.push_back({1.0});
  const RbhmcData data(four);
  const RbhmcData longer(five);
  const RbhmcPosterior exact(data.family(), data.rows, four.settings, 1e4);
  const RbhmcPosterior exact_of_five(longer.family(), longer.rows, five.settings, 1e4);
  const double density = std::exp(exact_of_five.log_evidence() - exact.log_evidence());
  const ModelEntry& model = model_by_name("rbhmc");
  const Problem problem = rbhmc_problem(data, four.settings);
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  std::vector<double> traces(model.traces(problem.parameters).size());
  for (const std::uint64_t seed : test_seeds()) {
    const std::unique_ptr<Inference> sampler = model.make_inference(problem);
    Labels labels(8);
    std::map<std::string, std::vector<double>> seen;
    std::map<std::string, double> truths;
    sampler->init({seed, 0, 0});
    for (std::size_t sweep = 1; sweep <= scaled(kRbhmcSweeps); ++sweep) {
      sampler->step({seed, 0, sweep});
      sampler->labels(labels);
      sampler->traces(traces);
      predictor->set_draw(labels, traces, sampler->payload());
      for (std::size_t level = 1; level <= 2; ++level) {
        std::vector<double> weights(predictor->clusters(level) + 1);
        predictor->log_weights(longer.rows[4], level, weights);
        const std::string all = fmt::format("density at level {}", level);
        seen[all].push_back(std::exp(log_sum_exp(weights)));
        truths[all] = density;
        for (std::size_t row = 0; row < 4; ++row) {
          const std::string pair = fmt::format("P{}(5,{})", level, row + 1);
          seen[pair].push_back(std::exp(weights[static_cast<std::size_t>(labels[(level - 1) * 4 + row])]));
          truths[pair] = density * exact_of_five.expectation(pair).mean;
        }
      }
    }
    Agreement agreement;
    for (const auto& [name, values] : seen) agreement.check(name, batch_estimate(values), truths[name]);
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

}  // namespace
}  // namespace coppice::test
