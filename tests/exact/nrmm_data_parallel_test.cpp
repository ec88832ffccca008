// The data-parallel sampler against the enumeration of all partitions of 5 to 7 rows: every family, both
// processes, one pair and several at once, launches that leave rows out, blocks of a few rows; and the
// assignment of rows by itself, given the number of clusters.
#include <gtest/gtest.h>

#include "laws/law_case.hpp"
#include "support/fixed_births.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kSweeps = 50'000;

struct Chosen {
  std::size_t law_case;
  std::size_t variant;
  bool learned;
};

std::string name_of(const Chosen& chosen) {
  return narrow_cases()[chosen.law_case].name + "_" + data_parallel_variants()[chosen.variant].name +
         (chosen.learned ? "_learned" : "_fixed");
}

/// Every family with every variant; concentrations fixed and learned in turn.
std::vector<Chosen> all_chosen() {
  std::vector<Chosen> list;
  for (std::size_t law_case = 0; law_case < narrow_cases().size(); ++law_case)
    for (std::size_t variant = 0; variant < data_parallel_variants().size(); ++variant)
      list.push_back({law_case, variant, (law_case + variant) % 2 == 0});
  return list;
}

void expect_posterior(const Chosen& chosen, const MixtureLaw& law, const std::vector<std::string>& prior) {
  const LawCase law_case = narrow_cases()[chosen.law_case];
  const Variant variant = data_parallel_variants()[chosen.variant];
  Settings settings = settings_from(variant.settings);
  for (const std::string& setting : prior) parse_assignment(setting, settings);
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(law_case, seed, 5 + chosen.law_case % 3);
    const ExactPosterior exact(fixture.family(), fixture.rows, law);
    SamplerChain chain(model_by_name(variant.model), fixture.family(), fixture.rows, settings);
    const Agreement agreement = compare_chain(exact, chain, seed, scaled(kSweeps));
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

class NrmmDataParallel : public ::testing::TestWithParam<Chosen> {};

TEST_P(NrmmDataParallel, FrequenciesAreThePosterior) {
  if (GetParam().learned)
    expect_posterior(GetParam(), {std::nullopt, 2.0, 1.5}, {"alpha-prior=[2, 1.5]"});
  else
    expect_posterior(GetParam(), {0.9}, {"alpha=0.9"});
}

INSTANTIATE_TEST_SUITE_P(Families, NrmmDataParallel, ::testing::ValuesIn(all_chosen()),
                         [](const ::testing::TestParamInfo<Chosen>& info) { return name_of(info.param); });

class NrmmDataParallelNgg : public ::testing::TestWithParam<Chosen> {};

TEST_P(NrmmDataParallelNgg, FrequenciesAreThePosterior) {
  MixtureLaw law;
  law.ngg = true;
  law.fixed = 1.2;
  law.sigma = 0.35;
  if (GetParam().learned)
    expect_posterior(GetParam(), {std::nullopt, 2.0, 1.5, true, std::nullopt, 1.5, 2.0},
                     {"process=\"ngg\"", "alpha-prior=[2, 1.5]", "sigma-prior=[1.5, 2]"});
  else
    expect_posterior(GetParam(), law, {"process=\"ngg\"", "alpha=1.2", "sigma=0.35"});
}

/// What the processes do differently has nothing to do with families.
std::vector<Chosen> ngg_chosen() {
  std::vector<Chosen> list;
  for (std::size_t law_case = 0; law_case < narrow_cases().size(); ++law_case)
    list.push_back({law_case, law_case % data_parallel_variants().size(), law_case % 2 == 0});
  return list;
}

INSTANTIATE_TEST_SUITE_P(Families, NrmmDataParallelNgg, ::testing::ValuesIn(ngg_chosen()),
                         [](const ::testing::TestParamInfo<Chosen>& info) { return name_of(info.param); });

class NrmmFixedBirths : public ::testing::TestWithParam<std::size_t> {};

TEST_P(NrmmFixedBirths, FrequenciesAreThePosteriorGivenTheNumberOfClusters) {
  const LawCase law_case = narrow_cases()[GetParam()];
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(law_case, seed, 6);
    const std::size_t clusters = 2 + GetParam() % 2;
    const Crp crp(0.9, 6);
    const Agreement dp =
        compare_fixed_births(fixture.family(), fixture.rows, crp, {0.9}, clusters, seed, scaled(kSweeps));
    EXPECT_TRUE(dp.holds()) << "Dirichlet process, seed " << seed << ": " << dp;
    // Given u and the number of clusters, u has no say.
    const Ngg ngg(1.2, 0.35, 6);
    MixtureLaw law;
    law.ngg = true;
    law.fixed = 1.2;
    law.sigma = 0.35;
    const Agreement other =
        compare_fixed_births(fixture.family(), fixture.rows, ngg, law, clusters, seed, scaled(kSweeps));
    EXPECT_TRUE(other.holds()) << "generalized gamma process, seed " << seed << ": " << other;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, NrmmFixedBirths, ::testing::Range<std::size_t>(0, narrow_cases().size()),
                         [](const ::testing::TestParamInfo<std::size_t>& info) {
                           return narrow_cases()[info.param].name;
                         });

}  // namespace
}  // namespace coppice::test
