// Every family x every sampler, and every sampler of the generalized gamma process: how often the sampler
// visits each partition of 5 to 7 rows, against the enumeration of all of them.
#include <gtest/gtest.h>

#include <tuple>

#include "laws/law_case.hpp"
#include "support/broken_chain.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kEnumeratedSweeps = 50'000;

MixtureLaw alpha_law(bool learned) {
  if (learned) return {std::nullopt, 2.0, 1.5};
  return {0.9};
}

struct EnumeratedCase {
  std::size_t law_case;
  std::size_t variant;
  bool learned;
};

/// Every family with every sampler; concentrations fixed and learned in turn, so that every family and every
/// sampler has both: the concentration is drawn given the number of clusters, whatever they are made of.
std::vector<EnumeratedCase> all_enumerated() {
  std::vector<EnumeratedCase> list;
  for (std::size_t law_case = 0; law_case < narrow_cases().size(); ++law_case)
    for (std::size_t variant = 0; variant < mixture_variants().size(); ++variant)
      list.push_back({law_case, variant, (law_case + variant) % 2 == 0});
  return list;
}

class NrmmEnumeration : public ::testing::TestWithParam<EnumeratedCase> {};

TEST_P(NrmmEnumeration, FrequenciesAreThePosterior) {
  const EnumeratedCase& chosen = GetParam();
  const LawCase law_case = narrow_cases()[chosen.law_case];
  const Variant variant = mixture_variants()[chosen.variant];
  Settings settings = settings_from(variant.settings);
  parse_assignment(chosen.learned ? "alpha-prior=[2, 1.5]" : "alpha=0.9", settings);
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(law_case, seed, 5 + chosen.law_case % 3);
    const ExactPosterior exact(fixture.family(), fixture.rows, alpha_law(chosen.learned));
    SamplerChain chain(model_by_name(variant.model), fixture.family(), fixture.rows, settings);
    const Agreement agreement = compare_chain(exact, chain, seed, scaled(kEnumeratedSweeps));
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, NrmmEnumeration, ::testing::ValuesIn(all_enumerated()),
                         [](const ::testing::TestParamInfo<EnumeratedCase>& info) {
                           return narrow_cases()[info.param.law_case].name + "_" +
                                  mixture_variants()[info.param.variant].name +
                                  (info.param.learned ? "_alpha_learned" : "_alpha_fixed");
                         });

struct NggChosen {
  std::size_t law_case;
  std::size_t variant;
  bool learned;
};

class NrmmNggEnumeration : public ::testing::TestWithParam<NggChosen> {};

TEST_P(NrmmNggEnumeration, FrequenciesAreThePosterior) {
  const NggChosen& chosen = GetParam();
  const LawCase law_case = narrow_cases()[chosen.law_case];
  const Variant variant = mixture_variants()[chosen.variant];
  Settings settings = settings_from(variant.settings);
  parse_assignment("process=\"ngg\"", settings);
  parse_assignment(chosen.learned ? "alpha-prior=[2, 1.5]" : "alpha=1.2", settings);
  parse_assignment(chosen.learned ? "sigma-prior=[1.5, 2]" : "sigma=0.35", settings);
  MixtureLaw law;
  law.ngg = true;
  if (chosen.learned) {
    law = {std::nullopt, 2.0, 1.5, true, std::nullopt, 1.5, 2.0};
  } else {
    law.fixed = 1.2;
    law.sigma = 0.35;
  }
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(law_case, seed, 6);
    const ExactPosterior exact(fixture.family(), fixture.rows, law);
    SamplerChain chain(model_by_name(variant.model), fixture.family(), fixture.rows, settings);
    const Agreement agreement = compare_chain(exact, chain, seed, scaled(kEnumeratedSweeps));
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

std::vector<NggChosen> all_ngg_chosen() {
  std::vector<NggChosen> list;
  for (std::size_t variant = 0; variant < mixture_variants().size(); ++variant)
    for (const bool learned : {false, true})
      list.push_back({variant % narrow_cases().size(), variant, learned});
  return list;
}

INSTANTIATE_TEST_SUITE_P(Samplers, NrmmNggEnumeration, ::testing::ValuesIn(all_ngg_chosen()),
                         [](const ::testing::TestParamInfo<NggChosen>& info) {
                           return mixture_variants()[info.param.variant].name +
                                  (info.param.learned ? "_learned" : "_fixed");
                         });

class NrmmMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(NrmmMistakes, AreNoticed) {
  const Mistake mistake = GetParam();
  const MixtureLaw law = alpha_law(true);
  for (const std::uint64_t seed : test_seeds()) {
    // The same data for every seed: in some tables a mistake makes no difference to speak of.
    const Fixture fixture({"mistakes", "gaussian-diagonal", {{Kind::real}, {Kind::real}}}, 1, 6);
    const ExactPosterior exact(fixture.family(), fixture.rows, law);
    BrokenChain chain(fixture.family(), fixture.rows, law, mistake);
    // Not scaled down: the power to notice is what is tested.
    const Agreement agreement = compare_chain(exact, chain, seed, kEnumeratedSweeps);
    EXPECT_EQ(agreement.holds(), is_correct(mistake)) << "seed " << seed << ": " << agreement;
    print_mistake(mistake, agreement);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, NrmmMistakes, ::testing::ValuesIn(all_mistakes()),
                         [](const ::testing::TestParamInfo<Mistake>& info) {
                           return mistake_name(info.param);
                         });

}  // namespace
}  // namespace coppice::test
