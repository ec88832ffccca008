// Runs Gibbs sweeps, or one move alone, of clusters of sub-clusters against the enumeration. Linked with the
// library as it is, it must agree; linked with a copy of one source file that has one mistake in it, it must
// not.
//
//   nhcm_mutant learned|gibbs|MOVE[_nested] agrees|disagrees
#include "mutants/verdict.hpp"
#include "support/learned_nhcm.hpp"

namespace coppice::test {
namespace {

Agreement compare_kernel(std::string name, std::uint64_t seed) {
  constexpr std::size_t kDraws = 100'000;  // never scaled down: the power to notice is what is tested
  if (name == "learned") {
    const LearnedNhcmCase small;
    return compare_learned_nhcm(small, LearnedNhcmLaw(small.rows, small.model, 20), seed, 2 * kDraws);
  }
  const bool nested = name.ends_with("_nested");
  if (nested) name.resize(name.size() - 7);
  const NhcmProblem problem(small_nhcm_model(5, 2, nested));
  const NhcmPosterior exact(problem.model);
  if (name == "gibbs")
    return compare_nhcm_chain(problem, exact, {"subcluster-moves=0", "cluster-moves=0"}, seed, kDraws);
  return compare_nhcm_move(problem, exact, name, seed, 4 * kDraws).agreement;
}

}  // namespace
}  // namespace coppice::test

int main(int argc, char** argv) { return coppice::test::judge(argc, argv, coppice::test::compare_kernel); }
