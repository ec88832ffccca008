// Runs one sampler of the flat mixture against the enumeration. Linked with the library as it is, it must
// agree; linked with a copy of one source file that has one mistake in it, it must not.
//
//   mixture_mutant VARIANT agrees|disagrees        (a name of mixture_variants(), with "_ngg" for that
//   process)
#include <cstdio>
#include <cstring>
#include <exception>

#include "laws/law_case.hpp"
#include "support/chains.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

int run_variant(std::string name, bool wanted) {
  constexpr std::size_t kDraws = 60'000;  // never scaled down: the power to notice is what is tested
  MixtureLaw law{std::nullopt, 2.0, 1.5};
  Settings settings = settings_from({"alpha-prior=[2, 1.5]"});
  if (name.ends_with("_ngg")) {
    name.resize(name.size() - 4);
    law = {std::nullopt, 2.0, 1.5, true, std::nullopt, 1.5, 2.0};
    parse_assignment("process=\"ngg\"", settings);
    parse_assignment("sigma-prior=[1.5, 2]", settings);
  }
  for (const Variant& variant : mixture_variants())
    if (variant.name == name)
      for (const auto& [setting, value] : settings_from(variant.settings)) settings[setting] = value;
  if (!settings.contains("sampler")) {
    std::printf("there is no sampler %s\n", name.c_str());
    return 2;
  }
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture({"mutants", "gaussian-diagonal", {{Kind::real}, {Kind::real}}}, 1, 6);
    const ExactPosterior exact(fixture.family(), fixture.rows, law);
    SamplerChain chain(model_by_name("nrmm"), fixture.family(), fixture.rows, settings);
    const Agreement agreement = compare_chain(exact, chain, seed, kDraws);
    std::printf("%s, seed %llu: %.1f errors off (limit %.1f) at %s\n", name.c_str(),
                static_cast<unsigned long long>(seed), agreement.worst, error_limit(),
                agreement.where.c_str());
    if (agreement.holds() != wanted) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace coppice::test

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: mixture_mutant VARIANT agrees|disagrees\n");
    return 2;
  }
  try {
    return coppice::test::run_variant(argv[1], std::strcmp(argv[2], "agrees") == 0);
  } catch (const std::exception& error) {
    // Not the noticing that is meant: a mistake must be told by its law.
    std::printf("%s\n", error.what());
    return 2;
  }
}
