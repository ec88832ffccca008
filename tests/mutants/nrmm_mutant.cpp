// Runs one sampler of the flat mixture against the enumeration. Linked with the library as it is, it must
// agree; linked with a copy of one source file that has one mistake in it, it must not.
//
//   nrmm_mutant VARIANT agrees|disagrees        (a name of mixture_variants() or data_parallel_variants(),
//   insertion or fixed_births, with "_ngg" for that process)
#include <stdexcept>

#include "laws/law_case.hpp"
#include "mutants/verdict.hpp"
#include "support/fixed_births.hpp"
#include "support/nrmm_insertion.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

Agreement compare_variant(std::string name, std::uint64_t seed) {
  constexpr std::size_t kDraws = 60'000;  // never scaled down: the power to notice is what is tested
  MixtureLaw law{std::nullopt, 2.0, 1.5};
  Settings settings = settings_from({"alpha-prior=[2, 1.5]"});
  if (name.ends_with("_ngg")) {
    name.resize(name.size() - 4);
    law = {std::nullopt, 2.0, 1.5, true, std::nullopt, 1.5, 2.0};
    parse_assignment("process=\"ngg\"", settings);
    parse_assignment("sigma-prior=[1.5, 2]", settings);
  }
  const Fixture fixture({"mutants", "gaussian-diagonal", {{Kind::real}, {Kind::real}}}, 1, 6);
  if (name == "insertion")
    return compare_insertions(fixture.family(), fixture.rows, law, settings, seed, 2 * kDraws);
  if (name == "fixed_births") {
    const std::size_t rows = fixture.rows.size();
    if (!law.ngg)
      return compare_fixed_births(fixture.family(), fixture.rows, Crp(0.9, rows), {0.9}, 3, seed, kDraws);
    law.fixed = 1.2;
    law.sigma = 0.6;
    return compare_fixed_births(fixture.family(), fixture.rows, Ngg(1.2, 0.6, rows), law, 3, seed, kDraws);
  }
  std::vector<Variant> variants = mixture_variants();
  for (Variant& variant : data_parallel_variants()) variants.push_back(std::move(variant));
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const Variant& variant) { return variant.name == name; });
  if (found == variants.end()) throw std::invalid_argument("there is no sampler " + name);
  for (const auto& [setting, value] : settings_from(found->settings)) settings[setting] = value;
  const ExactPosterior exact(fixture.family(), fixture.rows, law);
  SamplerChain chain(model_by_name("nrmm"), fixture.family(), fixture.rows, settings);
  return compare_chain(exact, chain, seed, kDraws);
}

}  // namespace
}  // namespace coppice::test

int main(int argc, char** argv) { return coppice::test::judge(argc, argv, coppice::test::compare_variant); }
