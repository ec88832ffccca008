// The model rbhmc: the enumeration against published figures and cases computed elsewhere, and every
// combination of kernels against the enumeration.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "support/rbhmc_chain.hpp"
#include "support/reference_case.hpp"

namespace coppice::test {
namespace {

struct Published {
  RbhmcCase small;
  std::vector<std::pair<std::string, std::vector<double>>> pairs;  // lower triangle, row by row
  std::vector<std::pair<std::string, double>> numbers;
};

std::vector<Published> published() {
  return {{rbhmc_case_a(0.0),
           {{"P1", {.5765, .3980, .4093, .2839, .2886, .4301}},
            {"P2", {.3146, .1810, .1891, .0989, .1022, .2098}},
            {"Pc", {.8068, .3388, .3663, .0323, .0441, .4327}}},
           {{"K", 2.3475}, {"leaves", 3.1040}, {"nodes", 5.4288}, {"remainder", .2566}, {"hinge", 5.612}}},
          {rbhmc_case_a(0.3),
           {{"P1", {.7583, .5258, .5371, .3719, .3802, .5897}},
            {"P2", {.5934, .3420, .3511, .2089, .2156, .4191}},
            {"Pc", {.8649, .3562, .3776, .0409, .0516, .4915}}},
           {{"K", 2.2326}, {"leaves", 2.5061}, {"nodes", 4.4789}, {"remainder", .2801}, {"hinge", 1.7013}}},
          {rbhmc_case_b(0.0),
           {{"P1", {.6478, .3688, .3694, .3672, .3681, .6298}},
            {"P2", {.4051, .1422, .1428, .1408, .1417, .3897}},
            {"P3", {.2401, .0627, .0630, .0617, .0623, .2302}},
            {"Pc", {.8960, .0171, .0190, .0123, .0151, .8521}}},
           {{"K", 2.2220}, {"leaves", 3.3675}, {"nodes", 8.4002}, {"remainder", .2298}, {"hinge", 6.725}}},
          {rbhmc_case_b(0.2),
           {{"P1", {.7402, .4145, .4163, .4108, .4153, .7179}},
            {"P2", {.5419, .1985, .2000, .1958, .1998, .5242}},
            {"P3", {.4012, .1191, .1202, .1175, .1208, .3926}},
            {"Pc", {.9163, .0166, .0184, .0123, .0149, .8787}}},
           {{"K", 2.1773}, {"leaves", 2.9829}, {"nodes", 7.5425}, {"remainder", .2424}, {"hinge", 2.4973}}},
          {rbhmc_case_c(0.0),
           {{"P1", {.3170, .2468, .3839}}, {"Pc", {.2686, .0883, .4406}}},
           {{"K", 2.2704}, {"remainder", .4397}}},
          {rbhmc_case_c(0.4),
           {{"P1", {.4821, .3840, .6087}}, {"Pc", {.3035, .1169, .5191}}},
           {{"K", 2.1593}, {"remainder", .4595}, {"hinge", .4946}}},
          {rbhmc_case_zero(0.25),
           {{"P1", {.6557, .6557, .6557}}, {"P2", {.4757, .4757, .4757}}, {"Pc", {.7550, .7550, .7550}}},
           {{"single path", .37627}}}};
}

TEST(RbhmcEnumeration, AgreesWithPublishedFigures) {
  for (const Published& figures : published()) {
    const RbhmcData data(figures.small);
    const RbhmcPosterior exact(data.family(), data.rows, figures.small.settings);
    SCOPED_TRACE(fmt::format("case {}, penalty {}", figures.small.name, figures.small.settings.penalty));
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

TEST(RbhmcEnumeration, EvidenceAndSinglePathInClosedForm) {
  const RbhmcCase a = rbhmc_case_a(0.0);
  const RbhmcData data(a);
  EXPECT_NEAR(RbhmcPosterior(data.family(), data.rows, a.settings).log_evidence(), -8.86470, 5e-6);
  const RbhmcCase zero = rbhmc_case_zero(0.25);
  const RbhmcData zeros(zero);
  const double plain = RbhmcPosterior(zeros.family(), zeros.rows, rbhmc_case_zero(0.0).settings)
                           .expectation("single path")
                           .mean;
  EXPECT_NEAR(plain, 0.11864, 5e-6);
  EXPECT_NEAR(RbhmcPosterior(zeros.family(), zeros.rows, zero.settings).expectation("single path").mean,
              plain / (plain + (1.0 - plain) * std::exp(-1.5)), 1e-12);
}

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
          {"many_blocks", {"block-moves=10", "split-merge-moves=0", "regraft-moves=0"}},
          {"blocks_without_paths",
           {"moves=\"components,structure,discriminants\"", "block-moves=5", "split-merge-moves=2",
            drawn_leaves}},
          {"without_blocks", {"block-moves=0"}},
          {"replicas", {"replicas=2"}},
          {"replicas_gibbs", {"replicas=2", gibbs, drawn_theta}},
          {"from_single_path", {"init=\"single-path\""}},
          {"from_each_alone", {"init=\"each-alone\""}},
          {"from_prior", {"init=\"prior\""}}};
}

RbhmcCase centered(RbhmcCase small) {
  small.name += "_centered";
  small.settings.centered = true;
  return small;
}

/// The targets on which every kernel is run.
std::vector<RbhmcCase> main_targets() {
  return {rbhmc_case_a(0.3), centered(rbhmc_case_a(0.3)), infomax(rbhmc_case_a(0.5)),
          with_powers(infomax(rbhmc_case_a(0.8)), {1.0, 0.4}), by_evidence(rbhmc_case_a(0.8))};
}

/// Whether a kernel is one of the target: gates have no Gaussian update, and evidence has no discriminants.
bool applies(const RbhmcCase& target, const std::vector<std::string>& settings) {
  const auto has = [&](const char* what) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const std::string& one) { return one.find(what) != std::string::npos; });
  };
  if (target.settings.evidence && has("informed")) return false;
  return !(target.settings.infomax || target.settings.evidence) || !has("gauss");
}

class RbhmcKernels : public ::testing::TestWithParam<std::size_t> {
 protected:
  static Kernel kernel() { return kernels()[GetParam()]; }
};

TEST_P(RbhmcKernels, AgreeWithTheEnumeration) {
  static const std::vector<RbhmcCase> targets = main_targets();
  for (const RbhmcCase& target : targets) {
    if (!applies(target, kernel().settings)) continue;
    static std::map<std::string, std::unique_ptr<RbhmcPosterior>> known;
    static std::map<std::string, std::unique_ptr<RbhmcData>> tables;
    if (!known.contains(target.name)) {
      tables[target.name] = std::make_unique<RbhmcData>(target);
      known[target.name] = std::make_unique<RbhmcPosterior>(tables[target.name]->family(),
                                                            tables[target.name]->rows, target.settings);
    }
    for (const std::uint64_t seed : test_seeds()) {
      const Agreement agreement =
          run_rbhmc(*known[target.name], *tables[target.name], seed, scaled(kRbhmcSweeps), kernel().settings)
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

INSTANTIATE_TEST_SUITE_P(Sweeps, RbhmcKernels, ::testing::ValuesIn(indices(kernels().size())),
                         [](const ::testing::TestParamInfo<std::size_t>& info) {
                           return kernels()[info.param].name;
                         });

/// Other depths, widths, families and strengths, each with a few kernels that between them have everything.
std::vector<RbhmcCase> other_targets() {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  std::vector<RbhmcCase> cases{
      rbhmc_case_a(0.0),           rbhmc_case_a(1.0),           rbhmc_case_b(0.0),
      rbhmc_case_b(0.2),           rbhmc_case_c(0.4),           rbhmc_case_zero(0.25),
      centered(rbhmc_case_a(1.0)), centered(rbhmc_case_b(0.2)), centered(rbhmc_case_c(0.4))};
  RbhmcCase intercept = rbhmc_case_b(0.3);
  intercept.settings.intercept = true;
  intercept.settings.levels = 2;
  intercept.settings.sd = 2.0;
  cases.push_back(intercept);
  cases.push_back(centered(intercept));
  const RbhmcSettings settings{2, 0.7, 1.3, 0.9, 0.2, 0.5, 1.0};
  RbhmcSettings centered_settings = settings;
  centered_settings.centered = true;
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
                   centered_settings});
  cases.push_back(
      {"gaussian_full", {{-1.0, 0.5}, {-0.7, 0.1}, {1.0, -0.3}, {1.4, 0.2}}, "gaussian", {}, settings});
  cases.push_back({"five_rows", {{-1.0}, {-0.7}, {kMissing}, {0.9}, {1.4}}, "gaussian-known", {}, settings});
  cases.push_back(infomax(rbhmc_case_a(1.0)));
  cases.push_back(infomax(rbhmc_case_b(0.5)));
  cases.push_back(infomax(rbhmc_case_c(1.0)));
  cases.push_back(infomax(rbhmc_case_zero(0.5)));
  for (RbhmcCase twice : {infomax(rbhmc_case_a(1.0)), by_evidence(rbhmc_case_a(1.0))}) {
    twice.name += "_duplicates";
    twice.data = {{-1.5}, {-1.5}, {2.0}, {2.0}};  // two rows twice
    cases.push_back(std::move(twice));
  }
  RbhmcSettings gated{2, 0.7, 1.3, 0.9, 0.5, 0.5, 3.0};
  gated.infomax = true;
  cases.push_back({"bernoulli_infomax",
                   {{1, 0, 1}, {1, 0, 0}, {0, 1, 1}, {0, 1, kMissing}},
                   "bernoulli",
                   {},
                   gated,
                   Kind::binary});
  for (RbhmcCase learned : {rbhmc_case_a(0.3), infomax(rbhmc_case_b(0.5))}) {
    learned.name += "_learned_sd";
    learned.settings.learn_sd = true;
    cases.push_back(std::move(learned));
  }
  cases.push_back(
      {"five_rows_infomax", {{-1.0}, {-0.7}, {kMissing}, {0.9}, {1.4}}, "gaussian-known", {}, gated});
  cases.push_back(with_powers(infomax(rbhmc_case_b(1.0)), {0.5, 1.0}));
  cases.push_back(with_powers(infomax(rbhmc_case_a(1.0)), {0.0, 1.0}));
  cases.push_back(by_evidence(rbhmc_case_b(0.5)));
  cases.push_back(by_evidence(rbhmc_case_c(1.0)));
  cases.push_back(by_evidence(rbhmc_case_zero(0.5)));
  cases.push_back(with_powers(by_evidence(rbhmc_case_a(1.0)), {1.0}));
  cases.push_back(with_powers(by_evidence(rbhmc_case_a(0.6)), {0.5, 1.0}));
  RbhmcSettings by_node{2, 0.7, 1.3, 0.9, 0.3, 0.5, 1.0};
  by_node.evidence = true;
  cases.push_back({"bernoulli_evidence",
                   {{1, 0, 1}, {1, 0, 0}, {0, 1, 1}, {0, 1, kMissing}},
                   "bernoulli",
                   {},
                   by_node,
                   Kind::binary});
  cases.push_back(
      {"five_rows_evidence", {{-1.0}, {-0.7}, {kMissing}, {0.9}, {1.4}}, "gaussian-known", {}, by_node});
  cases.push_back({"two_rows", {{-1.0}, {1.4}}, "gaussian-known", {}, centered_settings});
  cases.push_back({"one_row", {{1.4}}, "gaussian-known", {"noise_variance=1", "prior_variance=1"}, settings});
  return cases;
}

class RbhmcTargets : public ::testing::TestWithParam<RbhmcCase> {};

TEST_P(RbhmcTargets, AreWhatSamplersSample) {
  const RbhmcCase& target = GetParam();
  const RbhmcData data(target);
  const RbhmcPosterior exact(data.family(), data.rows, target.settings);
  const std::vector<std::vector<std::string>> variants{
      {},
      {"path-update=\"gibbs\"", "theta=\"drawn\"", "discriminant-update=\"gauss\"", "regraft-moves=5"},
      {"path-update=\"prior\"", "informed=false", "leaf-weights=\"drawn\"", "split-merge-moves=5",
       "block-moves=5"}};
  for (std::vector<std::string> settings : variants)
    for (const std::uint64_t seed : test_seeds()) {
      if (target.settings.infomax || target.settings.evidence)
        std::erase(settings, "discriminant-update=\"gauss\"");
      if (target.settings.evidence) std::erase(settings, "informed=false");
      const Agreement agreement = run_rbhmc(exact, data, seed, scaled(kRbhmcSweeps), settings).agreement();
      EXPECT_TRUE(agreement.holds()) << fmt::format("{}, seed {}: ", fmt::join(settings, " "), seed)
                                     << agreement;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, RbhmcTargets, ::testing::ValuesIn(other_targets()),
                         [](const ::testing::TestParamInfo<RbhmcCase>& info) {
                           return fmt::format("{}_{}_{}", info.index, info.param.name,
                                              static_cast<int>(100 * info.param.settings.penalty));
                         });

/// A case computed elsewhere.
RbhmcCase rbhmc_case_from(const nlohmann::json& reference) {
  const nlohmann::json& inputs = reference.at("inputs");
  RbhmcCase small;
  small.data = reference.at("data").get<std::vector<std::vector<double>>>();
  const auto set = [&](const char* name, const std::string& value) {
    small.family_settings.push_back(fmt::format("{}={}", name, value));
  };
  if (inputs.at("family") == "bernoulli") {
    small.family = "bernoulli";
    small.kind = Kind::binary;
    set("a", inputs.at("a0").dump());
    set("b", inputs.at("b0").dump());
  } else {
    set("noise_variance", inputs.at("sigma2").dump());
    set("prior_mean", inputs.at("mu0").get<std::string>());
    set("prior_variance", inputs.at("tau2").dump());
  }
  // Cases from elsewhere use the British spelling.
  const bool is_centered = inputs.value("centered", inputs.value("centred", false));  // words: ok
  small.settings = {inputs.at("levels"), inputs.at("alpha"), inputs.at("gamma"),
                    inputs.at("gamma0"), inputs.at("C"),     inputs.at("eps0"),
                    inputs.at("nu0"),    is_centered,        inputs.at("intercept")};
  return small;
}

class RbhmcReference : public ::testing::TestWithParam<std::string> {};

TEST_P(RbhmcReference, EnumerationAndSamplerAgree) {
  const nlohmann::json reference = read_reference(GetParam());
  const RbhmcCase small = rbhmc_case_from(reference);
  const RbhmcData data(small);
  const RbhmcPosterior exact(data.family(), data.rows, small.settings);
  const nlohmann::json& truth = reference.at("enum");
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
      for (std::size_t level = 0; level < small.settings.levels; ++level)
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
    const Agreement sampled = run_rbhmc(exact, data, seed, scaled(kRbhmcSweeps)).agreement();
    EXPECT_TRUE(sampled.holds()) << "seed " << seed << ": " << sampled;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, RbhmcReference, ::testing::ValuesIn(reference_cases("rbhmc_")), CaseOfFile());

}  // namespace
}  // namespace coppice::test
