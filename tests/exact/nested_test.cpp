// The nested mixture: the enumeration against published figures, and every combination of kernels against the
// enumeration.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "coppice/base/math.hpp"
#include "coppice/model/rbhmc/draw_details.hpp"
#include "coppice/model/rbhmc/replica.hpp"
#include "coppice/model/rbhmc/traces.hpp"
#include "support/nested_chain.hpp"
#include "support/reference_case.hpp"

namespace coppice::test {
namespace {

struct Published {
  NestedCase nested;
  std::vector<std::pair<std::string, std::vector<double>>> pairs;  // lower triangle, row by row
  std::vector<std::pair<std::string, double>> numbers;
};

std::vector<Published> published() {
  return {{nested_case_a(0.0),
           {{"P1", {.5765, .3980, .4093, .2839, .2886, .4301}},
            {"P2", {.3146, .1810, .1891, .0989, .1022, .2098}},
            {"Pc", {.8068, .3388, .3663, .0323, .0441, .4327}}},
           {{"K", 2.3475}, {"leaves", 3.1040}, {"nodes", 5.4288}, {"remainder", .2566}, {"hinge", 5.612}}},
          {nested_case_a(0.3),
           {{"P1", {.7583, .5258, .5371, .3719, .3802, .5897}},
            {"P2", {.5934, .3420, .3511, .2089, .2156, .4191}},
            {"Pc", {.8649, .3562, .3776, .0409, .0516, .4915}}},
           {{"K", 2.2326}, {"leaves", 2.5061}, {"nodes", 4.4789}, {"remainder", .2801}, {"hinge", 1.7013}}},
          {nested_case_b(0.0),
           {{"P1", {.6478, .3688, .3694, .3672, .3681, .6298}},
            {"P2", {.4051, .1422, .1428, .1408, .1417, .3897}},
            {"P3", {.2401, .0627, .0630, .0617, .0623, .2302}},
            {"Pc", {.8960, .0171, .0190, .0123, .0151, .8521}}},
           {{"K", 2.2220}, {"leaves", 3.3675}, {"nodes", 8.4002}, {"remainder", .2298}, {"hinge", 6.725}}},
          {nested_case_b(0.2),
           {{"P1", {.7402, .4145, .4163, .4108, .4153, .7179}},
            {"P2", {.5419, .1985, .2000, .1958, .1998, .5242}},
            {"P3", {.4012, .1191, .1202, .1175, .1208, .3926}},
            {"Pc", {.9163, .0166, .0184, .0123, .0149, .8787}}},
           {{"K", 2.1773}, {"leaves", 2.9829}, {"nodes", 7.5425}, {"remainder", .2424}, {"hinge", 2.4973}}},
          {nested_case_c(0.0),
           {{"P1", {.3170, .2468, .3839}}, {"Pc", {.2686, .0883, .4406}}},
           {{"K", 2.2704}, {"remainder", .4397}}},
          {nested_case_c(0.4),
           {{"P1", {.4821, .3840, .6087}}, {"Pc", {.3035, .1169, .5191}}},
           {{"K", 2.1593}, {"remainder", .4595}, {"hinge", .4946}}},
          {nested_case_zero(0.25),
           {{"P1", {.6557, .6557, .6557}}, {"P2", {.4757, .4757, .4757}}, {"Pc", {.7550, .7550, .7550}}},
           {{"single path", .37627}}}};
}

TEST(NestedEnumeration, AgreesWithPublishedFigures) {
  for (const Published& figures : published()) {
    const NestedData data(figures.nested);
    const NestedPosterior exact(data.family(), data.rows, figures.nested.settings);
    SCOPED_TRACE(fmt::format("case {}, penalty {}", figures.nested.name, figures.nested.settings.penalty));
    // Four digits are printed, and where there is a penalty both have an error.
    const auto expect_near = [&](const std::string& name, double printed) {
      const Estimate& value = exact.expectation(name);
      const double unit = printed >= 5.0 ? 1e-3 : 1e-4;
      const double tolerance = value.error == 0.0 ? 0.51 * unit : unit + 4.5 * value.error;
      EXPECT_NEAR(value.mean, printed, tolerance) << name;
    };
    for (const auto& [what, values] : figures.pairs) {
      std::size_t next = 0;
      for (std::size_t a = 1; a < exact.rows(); ++a)
        for (std::size_t b = 0; b < a; ++b)
          expect_near(fmt::format("{}({},{})", what, a + 1, b + 1), values.at(next++));
    }
    for (const auto& [what, value] : figures.numbers) expect_near(what, value);
  }
}

TEST(NestedEnumeration, EvidenceAndSinglePathInClosedForm) {
  const NestedCase a = nested_case_a(0.0);
  const NestedData data(a);
  EXPECT_NEAR(NestedPosterior(data.family(), data.rows, a.settings).log_evidence(), -8.86470, 5e-6);
  const NestedCase zero = nested_case_zero(0.25);
  const NestedData zeros(zero);
  const double plain = NestedPosterior(zeros.family(), zeros.rows, nested_case_zero(0.0).settings)
                           .expectation("single path")
                           .mean;
  EXPECT_NEAR(plain, 0.11864, 5e-6);
  EXPECT_NEAR(NestedPosterior(zeros.family(), zeros.rows, zero.settings).expectation("single path").mean,
              plain / (plain + (1.0 - plain) * std::exp(-1.5)), 1e-12);
}

constexpr std::size_t kSweeps = 20'000;

struct Kernel {
  std::string name;
  std::vector<std::string> settings;
};

Kernel moves(const std::string& name, const std::string& list) { return {name, {"moves=\"" + list + "\""}}; }

/// Every way to run a sweep.
std::vector<Kernel> kernels() {
  const std::string drawn_leaves = "leaf-weights=\"drawn\"";
  const std::string drawn_theta = "theta=\"drawn\"";
  const std::string gibbs = "path-update=\"gibbs\"";
  const std::string prior = "path-update=\"prior\"";
  const std::string plain = "informed=false";
  const std::string gauss = "discriminant-update=\"gauss\"";
  return {{"defaults", {}},
          {"uninformed", {plain}},
          {"gibbs", {gibbs}},
          {"gibbs_one_auxiliary", {gibbs, "auxiliary-branches=1"}},
          {"prior", {prior}},
          {"prior_uninformed", {prior, plain}},
          {"drawn_leaves", {drawn_leaves}},
          {"drawn_theta", {drawn_theta}},
          {"all_drawn", {drawn_leaves, drawn_theta}},
          {"all_drawn_gibbs", {drawn_leaves, drawn_theta, gibbs}},
          {"all_drawn_prior", {drawn_leaves, drawn_theta, prior, plain}},
          {"gauss", {gauss}},
          {"gauss_gibbs", {gauss, gibbs}},
          moves("paths_alone", "paths"),
          moves("without_structure", "paths,components,weights,discriminants,shift"),
          moves("without_discriminants", "paths,structure,shift"),
          moves("without_shift", "paths,structure,discriminants"),
          moves("without_weights", "paths,components,discriminants"),
          moves("without_paths", "components,structure,discriminants,shift"),
          {"without_paths_uninformed",
           {"moves=\"components,structure,discriminants\"", plain, "split-merge-moves=2"}},
          {"without_paths_drawn_leaves",
           {"moves=\"components,structure,discriminants\"", drawn_leaves, "split-merge-moves=2"}},
          {"many_splits", {"split-merge-moves=10", "regraft-moves=0"}},
          {"many_regrafts", {"split-merge-moves=0", "regraft-moves=10"}},
          {"replicas", {"replicas=2"}},
          {"replicas_gibbs", {"replicas=2", gibbs, drawn_theta}},
          {"from_single_path", {"init=\"single-path\""}},
          {"from_each_alone", {"init=\"each-alone\""}},
          {"from_prior", {"init=\"prior\""}}};
}

NestedCase centred(NestedCase nested) {
  nested.name += "_centred";
  nested.settings.centred = true;
  return nested;
}

/// The targets on which every kernel is run.
std::vector<NestedCase> main_targets() { return {nested_case_a(0.3), centred(nested_case_a(0.3))}; }

class NestedKernels : public ::testing::TestWithParam<std::size_t> {
 protected:
  static Kernel kernel() { return kernels()[GetParam()]; }
};

TEST_P(NestedKernels, AgreeWithTheEnumeration) {
  static const std::vector<NestedCase> targets = main_targets();
  for (const NestedCase& target : targets) {
    static std::map<std::string, std::unique_ptr<NestedPosterior>> known;
    static std::map<std::string, std::unique_ptr<NestedData>> tables;
    if (!known.contains(target.name)) {
      tables[target.name] = std::make_unique<NestedData>(target);
      known[target.name] = std::make_unique<NestedPosterior>(tables[target.name]->family(),
                                                             tables[target.name]->rows, target.settings);
    }
    for (const std::uint64_t seed : test_seeds()) {
      const Agreement agreement =
          run_nested(*known[target.name], *tables[target.name], seed, scaled(kSweeps), kernel().settings)
              .agreement();
      EXPECT_TRUE(agreement.holds()) << target.name << ", seed " << seed << ": " << agreement;
    }
  }
}

std::vector<std::size_t> indices(std::size_t count) {
  std::vector<std::size_t> list(count);
  std::iota(list.begin(), list.end(), std::size_t{0});
  return list;
}

INSTANTIATE_TEST_SUITE_P(Sweeps, NestedKernels, ::testing::ValuesIn(indices(kernels().size())),
                         [](const ::testing::TestParamInfo<std::size_t>& info) {
                           return kernels()[info.param].name;
                         });

/// Other depths, widths, families and strengths, each with a few kernels that between them have everything.
std::vector<NestedCase> other_targets() {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  std::vector<NestedCase> cases{
      nested_case_a(0.0),          nested_case_a(1.0),          nested_case_b(0.0),
      nested_case_b(0.2),          nested_case_c(0.4),          nested_case_zero(0.25),
      centred(nested_case_a(1.0)), centred(nested_case_b(0.2)), centred(nested_case_c(0.4))};
  NestedCase intercept = nested_case_b(0.3);
  intercept.settings.intercept = true;
  intercept.settings.levels = 2;
  intercept.settings.sd = 2.0;
  cases.push_back(intercept);
  cases.push_back(centred(intercept));
  const NestedSettings settings{2, 0.7, 1.3, 0.9, 0.2, 0.5, 1.0};
  NestedSettings centred_settings = settings;
  centred_settings.centred = true;
  cases.push_back({"bernoulli",
                   {{1, 0, 1}, {1, 0, 0}, {0, 1, 1}, {0, 1, kMissing}},
                   "bernoulli",
                   {},
                   settings,
                   Kind::binary});
  cases.push_back(
      {"poisson", {{0}, {1}, {6}, {9}}, "poisson", {}, {2, 0.7, 1.3, 0.9, 0.02, 0.5, 1.0}, Kind::count});
  cases.push_back({"gaussian",
                   {{-1.0, 0.5}, {-0.7, kMissing}, {1.0, -0.3}, {1.4, 0.2}},
                   "gaussian-diagonal",
                   {},
                   centred_settings});
  cases.push_back(
      {"gaussian_full", {{-1.0, 0.5}, {-0.7, 0.1}, {1.0, -0.3}, {1.4, 0.2}}, "gaussian", {}, settings});
  cases.push_back({"five_rows", {{-1.0}, {-0.7}, {kMissing}, {0.9}, {1.4}}, "gaussian-known", {}, settings});
  cases.push_back({"two_rows", {{-1.0}, {1.4}}, "gaussian-known", {}, centred_settings});
  cases.push_back({"one_row", {{1.4}}, "gaussian-known", {"noise_variance=1", "prior_variance=1"}, settings});
  return cases;
}

class NestedTargets : public ::testing::TestWithParam<NestedCase> {};

TEST_P(NestedTargets, AreWhatSamplersSample) {
  const NestedCase& target = GetParam();
  const NestedData data(target);
  const NestedPosterior exact(data.family(), data.rows, target.settings);
  const std::vector<std::vector<std::string>> variants{
      {},
      {"path-update=\"gibbs\"", "theta=\"drawn\"", "discriminant-update=\"gauss\"", "regraft-moves=5"},
      {"path-update=\"prior\"", "informed=false", "leaf-weights=\"drawn\"", "split-merge-moves=5"}};
  for (const std::vector<std::string>& settings : variants)
    for (const std::uint64_t seed : test_seeds()) {
      const Agreement agreement = run_nested(exact, data, seed, scaled(kSweeps), settings).agreement();
      EXPECT_TRUE(agreement.holds()) << fmt::format("{}, seed {}: ", fmt::join(settings, " "), seed)
                                     << agreement;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, NestedTargets, ::testing::ValuesIn(other_targets()),
                         [](const ::testing::TestParamInfo<NestedCase>& info) {
                           return fmt::format("{}_{}_{}", info.index, info.param.name,
                                              static_cast<int>(100 * info.param.settings.penalty));
                         });

/// A case computed elsewhere.
NestedCase nested_case_from(const nlohmann::json& reference) {
  const nlohmann::json& inputs = reference.at("inputs");
  NestedCase nested;
  nested.data = reference.at("data").get<std::vector<std::vector<double>>>();
  const auto set = [&](const char* name, const std::string& value) {
    nested.family_settings.push_back(fmt::format("{}={}", name, value));
  };
  if (inputs.at("family") == "bernoulli") {
    nested.family = "bernoulli";
    nested.kind = Kind::binary;
    set("a", inputs.at("a0").dump());
    set("b", inputs.at("b0").dump());
  } else {
    set("noise_variance", inputs.at("sigma2").dump());
    set("prior_mean", inputs.at("mu0").get<std::string>());
    set("prior_variance", inputs.at("tau2").dump());
  }
  nested.settings = {
      inputs.at("levels"),   inputs.at("alpha"), inputs.at("gamma"), inputs.at("gamma0"),
      inputs.at("C"),        inputs.at("eps0"),  inputs.at("nu0"),   inputs.value("centred", false),
      inputs.at("intercept")};
  return nested;
}

/// Test names have no dots: the case a_C0_3 is in rbhmc_a_C0.3.json.
std::string reference_file(std::string name) {
  if (const std::size_t dot = name.find("C0_"); dot != std::string::npos) name[dot + 2] = '.';
  return fmt::format("rbhmc_{}.json", name);
}

class NestedReference : public ::testing::TestWithParam<const char*> {};

TEST_P(NestedReference, EnumerationAndSamplerAgree) {
  const std::optional<nlohmann::json> reference = read_reference(reference_file(GetParam()));
  if (!reference) GTEST_SKIP() << "the folder of reference cases is not beside the source tree";
  const NestedCase nested = nested_case_from(*reference);
  const NestedData data(nested);
  const NestedPosterior exact(data.family(), data.rows, nested.settings);
  const nlohmann::json& truth = reference->at("enum");
  EXPECT_EQ(exact.size(), truth.at("n_trees").get<std::size_t>());
  EXPECT_NEAR(exact.log_evidence(), truth.at("log_evidence").get<double>(), 1e-9);
  Agreement agreement;
  const auto compare = [&](const std::string& name, double value, double error) {
    const Estimate& here = exact.expectation(name);
    agreement.check(name, {here.mean, std::hypot(here.error, error)}, value, 1e-9);
  };
  for (std::size_t a = 0; a < exact.rows(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const auto pairs = [&](const std::string& what, const nlohmann::json& values,
                             const nlohmann::json& errors) {
        compare(fmt::format("{}({},{})", what, a + 1, b + 1), values.at(a).at(b), errors.at(a).at(b));
      };
      for (std::size_t level = 0; level < nested.settings.levels; ++level)
        pairs(fmt::format("P{}", level + 1), truth.at("co_clustering").at(level),
              truth.at("co_clustering_se").at(level));
      pairs("Pc", truth.at("component_co_clustering"), truth.at("component_co_clustering_se"));
    }
  for (const auto& [name, key] :
       {std::pair{"K", "E_num_components"}, std::pair{"leaves", "E_num_leaves"},
        std::pair{"nodes", "E_num_nonroot_nodes"}, std::pair{"remainder", "E_root_remainder_weight"},
        std::pair{"hinge", "E_total_hinge"}})
    compare(name, truth.at(key).at(0), truth.at(key).at(1));
  EXPECT_TRUE(agreement.holds()) << agreement;
  for (const std::uint64_t seed : test_seeds()) {
    const Agreement sampled = run_nested(exact, data, seed, scaled(kSweeps)).agreement();
    EXPECT_TRUE(sampled.holds()) << "seed " << seed << ": " << sampled;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, NestedReference,
                         ::testing::Values("a_C0", "a_C0_3", "a_C1", "a_centred_C0_3", "fam_bernoulli", "one",
                                           "paper_C0", "zero_C0_25"),
                         [](const ::testing::TestParamInfo<const char*>& info) {
                           return std::string(info.param);
                         });

// The procedures without a target: what they settle at was measured elsewhere, in long runs.
struct Procedure {
  std::string name;
  std::vector<std::string> settings;
  double leaves, components, hinge, leaves_error, components_error, hinge_error;
};

TEST(NestedProcedures, SettleWhereTheyDidElsewhere) {
  const NestedCase nested = nested_case_a(0.3);
  const NestedData data(nested);
  const NestedPosterior exact(data.family(), data.rows, nested.settings);
  const std::vector<Procedure> procedures{
      {"own, gibbs", {"regularizer=\"own\"", "path-update=\"gibbs\""}, 2.975, 2.322, 2.34, .008, .005, .015},
      {"own, metropolis", {"regularizer=\"own\""}, 2.994, 2.335, 2.42, .008, .005, .015},
      {"paper", {"regularizer=\"paper\""}, 3.03, 2.38, 2.73, .02, .02, .02}};
  for (const Procedure& procedure : procedures)
    for (const std::uint64_t seed : test_seeds()) {
      const NestedRecord record = run_nested(exact, data, seed, scaled(2 * kSweeps), procedure.settings);
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
TEST(NestedProcedures, ThePublishedOneIsBiasedWithoutPenalty) {
  const NestedCase nested = nested_case_a(0.0);
  const NestedData data(nested);
  const NestedPosterior exact(data.family(), data.rows, nested.settings);
  for (const std::uint64_t seed : test_seeds()) {
    const NestedRecord record = run_nested(exact, data, seed, 2 * kSweeps, {"regularizer=\"paper\""});
    const Estimate components = record.estimate("K");
    EXPECT_NEAR(components.mean, 2.406, 4.5 * std::hypot(components.error, 0.005));
    EXPECT_GT(components.mean - exact.expectation("K").mean, 4.5 * components.error);
    EXPECT_FALSE(record.agreement().holds());
    // `own` without a penalty is exact.
    const Agreement own = run_nested(exact, data, seed, scaled(kSweeps), {"regularizer=\"own\""}).agreement();
    EXPECT_TRUE(own.holds()) << own;
  }
}

NestedCase all_missing(const NestedSettings& settings, std::size_t rows) {
  return {"missing",
          std::vector<std::vector<double>>(rows, {std::numeric_limits<double>::quiet_NaN()}),
          "gaussian-known",
          {"noise_variance=1", "prior_mean=0", "prior_variance=1"},
          settings};
}

// Rows without a cell leave the prior, whose co-clustering is known in closed form.
TEST(NestedPrior, IsReproducedWithoutData) {
  for (const std::size_t levels : {1u, 3u}) {
    const double alpha = 0.7, gamma = 1.6, gamma0 = 0.9;
    const NestedCase nested = all_missing({levels, alpha, gamma, gamma0}, 4);
    const NestedData data(nested);
    const NestedPosterior exact(data.family(), data.rows, nested.settings);
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
      const Agreement agreement = run_nested(exact, data, seed, scaled(kSweeps)).agreement();
      EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
      // Draws from the prior itself.
      const Problem problem = nested_problem(data, nested.settings);
      const std::unique_ptr<Sampler> sampler = model_by_name("rbhmc").make_sampler(problem);
      NestedRecord record(exact, scaled(kSweeps));
      for (std::size_t draw = 1; draw <= scaled(kSweeps); ++draw) {
        sampler->draw_prior({seed, 0, draw});
        record.add(*sampler);
      }
      EXPECT_TRUE(record.agreement().holds()) << "seed " << seed << ": " << record.agreement();
    }
  }
}

TEST(NestedPrior, ConcentrationsKeepTheirPriors) {
  const NestedCase nested = all_missing({2, 1.0, 1.0, 1.0}, 4);
  const NestedData data(nested);
  const Problem problem = nested_problem(
      data, nested.settings,
      {"learn-concentrations=true", "alpha-prior=[2, 1.5]", "gamma-prior=[3, 2]", "gamma0-prior=[2.5, 4]"});
  const ModelEntry& model = model_by_name("rbhmc");
  const std::vector<std::string> names = model.traces(problem.parameters);
  const struct {
    const char* name;
    double shape, rate;
  } laws[] = {{"alpha", 2, 1.5}, {"gamma", 3, 2}, {"gamma0", 2.5, 4}};
  for (const std::uint64_t seed : test_seeds()) {
    const std::unique_ptr<Sampler> sampler = model.make_sampler(problem);
    sampler->init({seed, 0, 0});
    std::vector<double> values(names.size());
    std::vector<std::vector<double>> seen(6);
    for (std::size_t sweep = 1; sweep <= scaled(2 * kSweeps); ++sweep) {
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

TEST(NestedLimits, VeryCloseWeightsLeaveThePathsToThePrior) {
  NestedCase nested = nested_case_a(0.0);
  nested.settings.gamma = 1e7;
  nested.settings.alpha = 0.6;
  const NestedData data(nested);
  const NestedPosterior exact(data.family(), data.rows, nested.settings);
  for (std::size_t level = 1; level <= 2; ++level)
    EXPECT_NEAR(exact.expectation(fmt::format("P{}(4,1)", level)).mean,
                std::pow(1.6, -static_cast<double>(level)), 1e-5);
  for (const std::uint64_t seed : test_seeds()) {
    const Agreement agreement = run_nested(exact, data, seed, scaled(kSweeps)).agreement();
    EXPECT_TRUE(agreement.holds()) << agreement;
  }
}

TEST(NestedLimits, HardlyAnyBranchingLeavesAMixture) {
  NestedCase nested = nested_case_a(0.3);
  nested.settings.alpha = 1e-9;
  nested.settings.gamma = 1e7;
  nested.settings.gamma0 = 0.8;
  const NestedData data(nested);
  const ExactPosterior mixture(data.family(), data.rows, {0.8});
  for (const std::uint64_t seed : test_seeds()) {
    const NestedPosterior exact(data.family(), data.rows, nested.settings, 1e4);
    const NestedRecord record = run_nested(exact, data, seed, scaled(kSweeps));
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

TEST(NestedLimits, ATinyPenaltyIsNone) {
  const NestedCase nested = nested_case_a(0.0);
  const NestedData data(nested);
  const NestedPosterior exact(data.family(), data.rows, nested.settings);
  for (const std::uint64_t seed : test_seeds())
    for (const char* paths : {"metropolis", "gibbs"}) {
      const Agreement agreement = run_nested(exact, data, seed, scaled(kSweeps),
                                             {"penalty=1e-9", fmt::format("path-update=\"{}\"", paths)})
                                      .agreement();
      EXPECT_TRUE(agreement.holds()) << agreement;
    }
}

// With the tree held fixed this is a mixture of groups that share components.
TEST(NestedLimits, AFixedTreeIsAHierarchicalMixture) {
  const NestedCase nested = nested_case_c(0.0);
  const NestedData data(nested);
  const NestedPosterior exact(data.family(), data.rows, nested.settings);
  for (const std::uint64_t seed : test_seeds())
    for (std::size_t tree = 0; tree < exact.size(); ++tree)
      for (const bool drawn : {false, true}) {
        const Problem problem =
            nested_problem(data, nested.settings,
                           {"moves=\"components,weights\"",
                            fmt::format("leaf-weights=\"{}\"", drawn ? "drawn" : "collapsed")});
        rbhmc::Replica replica(problem, rbhmc::Options(problem.parameters));
        Stream stream({seed, tree, 0}, Purpose::test);
        NestedState start = exact.draw(stream);
        while (start.tree != tree) start = exact.draw(stream);
        replica.state().load(exact.checkpoint(start, drawn, false, stream));
        std::vector<std::vector<double>> together(3);
        for (std::size_t sweep = 1; sweep <= scaled(kSweeps / 2); ++sweep) {
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
TEST(NestedInvariance, OfOrderSignAndRotation) {
  for (const bool is_centred : {false, true}) {
    NestedCase nested = nested_case_b(0.2);
    nested.settings.levels = 2;
    nested.settings.centred = is_centred;
    const NestedData data(nested);
    const NestedPosterior exact(data.family(), data.rows, nested.settings);
    NestedCase turned = nested;
    std::vector<std::size_t> place{2, 0, 3, 1};  // row i goes to place[i]
    for (std::size_t i = 0; i < 4; ++i) {
      const double x = -nested.data[i][0];
      const double y = nested.data[i][1];
      turned.data[place[i]] = {0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y};
    }
    const NestedData turned_data(turned);
    const NestedPosterior turned_exact(turned_data.family(), turned_data.rows, turned.settings, 1e6, 2);
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
      const Agreement sampled = run_nested(turned_exact, turned_data, seed, scaled(kSweeps)).agreement();
      EXPECT_TRUE(sampled.holds()) << sampled;
    }
  }
}

// What a draw keeps is what it shows.
TEST(NestedDraws, DetailsAndTracesAgree) {
  for (const char* regularizer : {"hinge", "centred", "own", "paper"}) {
    NestedCase nested = nested_case_b(0.2);
    nested.settings.centred = std::string(regularizer) == "centred";
    const NestedData data(nested);
    const NestedPosterior exact(data.family(), data.rows, nested.settings, 1e4);
    const Problem problem =
        nested_problem(data, nested.settings, {fmt::format("regularizer=\"{}\"", regularizer)});
    const ModelEntry& model = model_by_name("rbhmc");
    const std::unique_ptr<Sampler> sampler = model.make_sampler(problem);
    NestedRecord record(exact, 1000);
    std::vector<double> traces(model.traces(problem.parameters).size());
    Labels labels(12);
    sampler->init({1, 0, 0});
    for (std::size_t sweep = 1; sweep <= 300; ++sweep) {
      sampler->step({1, 0, sweep});
      record.add(*sampler);
      sampler->traces(traces);
      sampler->shape(labels);
      LevelTree tree(4, 3);
      tree.assign(labels);
      const rbhmc::DrawDetails details = rbhmc::read_details(sampler->details(), tree);
      EXPECT_NEAR(record.last_hinge(), traces[rbhmc::hinge_trace], 1e-5);
      EXPECT_EQ(static_cast<double>(details.components), traces[rbhmc::components_trace]);
      EXPECT_NEAR(details.weights_of(LevelTree::kRoot).back(), traces[rbhmc::root_remainder_trace], 1e-6);
      EXPECT_NEAR(sampler->log_joint(), sampler->log_joint_from_scratch(), 1e-9);
    }
  }
}

// Over the draws for four rows, what the predictor says of a fifth averages to the ratio of evidences, and
// its joining a row's node to that ratio times their co-clustering among five.
TEST(NestedPrediction, AveragesToTheEnumeration) {
  const NestedCase four = nested_case_a(0.0);
  NestedCase five = four;
  five.data.push_back({1.0});
  const NestedData data(four);
  const NestedData longer(five);
  const NestedPosterior exact(data.family(), data.rows, four.settings, 1e4);
  const NestedPosterior exact_of_five(longer.family(), longer.rows, five.settings, 1e4);
  const double density = std::exp(exact_of_five.log_evidence() - exact.log_evidence());
  const ModelEntry& model = model_by_name("rbhmc");
  const Problem problem = nested_problem(data, four.settings);
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  std::vector<double> traces(model.traces(problem.parameters).size());
  for (const std::uint64_t seed : test_seeds()) {
    const std::unique_ptr<Sampler> sampler = model.make_sampler(problem);
    Labels labels(8);
    std::map<std::string, std::vector<double>> seen;
    std::map<std::string, double> truths;
    sampler->init({seed, 0, 0});
    for (std::size_t sweep = 1; sweep <= scaled(kSweeps); ++sweep) {
      sampler->step({seed, 0, sweep});
      sampler->shape(labels);
      sampler->traces(traces);
      predictor->set_draw(labels, traces, sampler->details());
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
