// Runs one kernel of rbhmc against the enumeration or Geweke's test. Linked with the model as it is, it must
// agree; linked with a copy of one source file that has one mistake in it, it must not: so the comparison
// proves on every run that it can tell a wrong sampler from a right one.
//
//   rbhmc_mutant KERNEL agrees|disagrees
#include <map>

#include "mutants/verdict.hpp"
#include "support/learned_rbhmc.hpp"
#include "support/rbhmc_joint.hpp"
#include "support/rbhmc_one_step.hpp"

namespace coppice::test {
namespace {

struct Run {
  RbhmcCase small;
  std::vector<std::string> settings;
  bool is_one_step = false;  // from exact draws, for what a chain would soon mend
};

RbhmcCase wide_discriminants(RbhmcCase small) {
  small.settings.sd = 2.0;
  return small;
}

/// Trees in which many nodes have siblings and many parents could take them.
RbhmcCase bushy(double penalty = 0.0) {
  return {"bushy",
          {{-1.0}, {-0.7}, {0.1}, {0.9}, {1.4}},
          "gaussian-known",
          {"noise_variance=2", "prior_mean=0", "prior_variance=2"},
          {2, 2.0, 3.0, 1.0, penalty}};
}

const std::map<std::string, Run>& runs() {
  static const std::string no_structure = "moves=\"paths,weights,discriminants,shift\"";
  static const std::string no_paths = "moves=\"components,structure,discriminants,shift\"";
  static const std::map<std::string, Run> list{
      {"paths", {rbhmc_case_a(0.3), {no_structure}}},
      {"paths_gibbs", {rbhmc_case_a(0.3), {no_structure, "path-update=\"gibbs\""}}},
      {"paths_plain", {rbhmc_case_b(0.0), {no_structure}}},
      {"gauss", {rbhmc_case_a(0.3), {"discriminant-update=\"gauss\""}}},
      {"gauss_wide", {wide_discriminants(rbhmc_case_a(0.3)), {"discriminant-update=\"gauss\""}}},
      {"split_merge", {rbhmc_case_a(0.3), {no_paths, "split-merge-moves=3", "block-moves=0"}}},
      {"component_moves",
       {rbhmc_case_a(0.0),
        {"moves=\"structure\"", "split-merge-moves=0", "regraft-moves=0", "component-moves=3",
         "block-moves=0"},
        true}},
      {"gates", {infomax(rbhmc_case_a(0.5)), {no_structure}}},
      {"gates_gibbs", {infomax(rbhmc_case_a(0.5)), {no_structure, "path-update=\"gibbs\""}}},
      {"gates_split_merge", {infomax(rbhmc_case_a(0.5)), {no_paths, "split-merge-moves=3", "block-moves=0"}}},
      {"gates_regraft",
       {infomax(bushy(0.2)),
        {"moves=\"structure\"", "split-merge-moves=0", "regraft-moves=10", "block-moves=0"},
        true}},
      {"blocks",
       {bushy(),
        {"moves=\"structure\"", "component-moves=0", "split-merge-moves=0", "regraft-moves=0",
         "block-moves=10"},
        true}},
      {"gates_blocks",
       {infomax(rbhmc_case_a(0.5)),
        {"moves=\"structure\"", "component-moves=0", "split-merge-moves=0", "regraft-moves=0",
         "block-moves=10"},
        true}},
      {"gates_powers", {with_powers(infomax(rbhmc_case_a(1.5)), {0.5, 1.0}), {no_structure}}},
      {"evidence", {by_evidence(rbhmc_case_a(2.0)), {no_structure}}},
      {"evidence_split_merge",
       {by_evidence(bushy(2.5)),
        {"moves=\"structure\"", "split-merge-moves=3", "regraft-moves=0", "block-moves=0"},
        true}},
      {"evidence_regraft",
       {by_evidence(bushy(2.5)),
        {"moves=\"structure\"", "split-merge-moves=0", "regraft-moves=10", "block-moves=0"},
        true}},
      {"evidence_blocks",
       {by_evidence(bushy(2.5)),
        {"moves=\"structure\"", "component-moves=0", "split-merge-moves=0", "regraft-moves=0",
         "block-moves=10"},
        true}},
      {"regraft",
       {bushy(), {"moves=\"structure\"", "split-merge-moves=0", "regraft-moves=10", "block-moves=0"}, true}}};
  return list;
}

Agreement one_step_agreement(const RbhmcPosterior& exact, const RbhmcData& data, std::uint64_t seed,
                             const std::vector<std::string>& settings) {
  Stream stream({seed, 0, 0}, Purpose::test);
  std::vector<RbhmcState> states;
  for (int i = 0; i < 20'000; ++i) states.push_back(exact.draw(stream));
  const std::vector<RunningMean> changes = rbhmc_changes(exact, data, states, settings, {seed, 0, 0}, stream);
  Agreement agreement;
  for (std::size_t j = 0; j < changes.size(); ++j)
    agreement.check("change of " + (j < exact.functionals() ? exact.name(j) : "another functional"),
                    {changes[j].mean(), changes[j].standard_error()}, 0.0);
  return agreement;
}

Agreement compare_kernel(const std::string& kernel, std::uint64_t seed) {
  constexpr std::size_t kDraws = 60'000;  // never scaled down: the power to notice is what is tested
  if (kernel == "learned") {
    const RbhmcCase small = learned_rbhmc_case();
    const RbhmcData data(small);
    return compare_learned_rbhmc(data, small.settings, LearnedRbhmcLaw(data, small.settings), seed,
                                 4 * kDraws);
  }
  if (kernel == "evidence_geweke")
    return rbhmc_joint_agreement({kernel, by_evidence(rbhmc_case_a(1.5)), {}}, seed, 4 * kDraws);
  const Run& run = runs().at(kernel);
  const RbhmcData data(run.small);
  const RbhmcPosterior exact(data.family(), data.rows, run.small.settings, 3e5);
  return run.is_one_step ? one_step_agreement(exact, data, seed, run.settings)
                         : run_rbhmc(exact, data, seed, kDraws, run.settings).agreement();
}

}  // namespace
}  // namespace coppice::test

int main(int argc, char** argv) { return coppice::test::judge(argc, argv, coppice::test::compare_kernel); }
