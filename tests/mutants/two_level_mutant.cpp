// Runs one mix of moves for clusters of sub-clusters against the enumeration. Linked with the library as it
// is, it must agree; linked with a copy of one source file that has one mistake in it, it must not.
//
//   two_level_mutant gibbs|splits[_nested] agrees|disagrees
#include <stdexcept>

#include "mutants/verdict.hpp"
#include "support/two_level_problem.hpp"

namespace coppice::test {
namespace {

Agreement compare_mix(std::string name, std::uint64_t seed) {
  constexpr std::size_t kDraws = 100'000;  // never scaled down: the power to notice is what is tested
  const bool nested = name.ends_with("_nested");
  if (nested) name.resize(name.size() - 7);
  std::vector<std::string> settings;
  if (name == "gibbs")
    settings = {"subcluster-moves=0", "cluster-moves=0"};
  else if (name == "splits")
    settings = {"subcluster-moves=6", "cluster-moves=6"};
  else
    throw std::invalid_argument("there is no mix " + name);
  const TwoLevelProblem problem(small_two_level_model(5, 2, nested));
  return compare_two_level_chain(problem, TwoLevelPosterior(problem.model), settings, seed, kDraws);
}

}  // namespace
}  // namespace coppice::test

int main(int argc, char** argv) { return coppice::test::judge(argc, argv, coppice::test::compare_mix); }
