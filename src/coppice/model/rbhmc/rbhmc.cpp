// Nested mixtures with max-margin regularization: a nested-CRP tree whose nodes carry weights over shared
// components (a multilevel hierarchical Dirichlet process), and discriminants that ask siblings to be told
// apart. With --penalty 0 it is the plain nested mixture (BHMC).
#include "coppice/model/model.hpp"
#include "coppice/model/rbhmc/auto_penalty.hpp"
#include "coppice/model/rbhmc/inference.hpp"
#include "coppice/model/rbhmc/options.hpp"
#include "coppice/model/rbhmc/predictor.hpp"

namespace coppice {

ModelEntry rbhmc_entry() {
  return {.name = "rbhmc",
          .summary =
              "tree of mixtures that share components, siblings kept apart by a margin (penalty 0: "
              "BHMC)",
          .method = Method::mcmc,
          .parameters = rbhmc::parameter_table(),
          .traces = rbhmc::traces,
          .levels = [](const ParameterValues& parameters) { return parameters.integer("levels"); },
          .make_inference = rbhmc::make_inference,
          .make_predictor = rbhmc::make_predictor,
          .chain_bytes = rbhmc::chain_bytes,
          .check_given = rbhmc::check_given,
          .inexactness_note = rbhmc::inexactness_note,
          .resolve =
              [](const Problem& problem, const Settings& given, std::uint64_t seed, std::size_t threads) {
                return rbhmc::resolve_penalty(rbhmc_entry(), problem, given, seed, threads);
              },
          .selections = {{"rcdll", "rcdll"}, {"cdll", "cdll"}, {"rcdll_c", "log_joint"}},
          .abilities =
              [](const ParameterValues& parameters) {
                // Procedures without a target are there for comparison, as they were.
                const bool exact = rbhmc::inexactness_note(parameters).empty();
                return ChainAbilities{.learns_hyper = exact, .fills_missing = exact};
              }};
}

}  // namespace coppice
