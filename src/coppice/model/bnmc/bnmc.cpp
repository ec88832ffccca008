// The nonparametric multi-label classifier (NOTES.md).
#include "coppice/base/error.hpp"
#include "coppice/model/bnmc/baselines.hpp"
#include "coppice/model/bnmc/inference.hpp"
#include "coppice/model/bnmc/options.hpp"
#include "coppice/model/bnmc/predictor.hpp"
#include "coppice/model/model.hpp"

namespace coppice {
namespace {

template <bnmc::Baseline kind>
std::unique_ptr<Classifier> fit_baseline(const LabeledRows& rows, std::uint64_t seed, std::size_t threads,
                                         const std::atomic<bool>* stop) {
  return bnmc::fit_baseline(kind, rows, seed, threads, stop);
}

}  // namespace

ModelEntry bnmc_entry() {
  return {
      .name = "bnmc",
      .summary =
          "multi-label classifier: clusters of features and labels, with a linear classifier for each label",
      .method = Method::variational,
      .parameters = bnmc::parameter_table(),
      .traces = bnmc::traces,
      .make_inference = bnmc::make_inference,
      .make_predictor = [](const Problem&) -> std::unique_ptr<Predictor> {
        fail(ErrorCode::configuration,
             "bnmc predicts labels (coppice predict); it does not impute cells or compare draws");
      },
      .make_classifier = bnmc::make_classifier,
      .chain_bytes = bnmc::chain_bytes,
      .check_given = bnmc::check_given,
      .inexactness_note = [](const ParameterValues&) -> std::string {
        return "Variational: one local optimum, not draws from a posterior; clusters are overconfident.";
      },
      .resolve =
          [](const Problem& problem, const Settings&, std::uint64_t, std::size_t) {
            const bnmc::Options options(problem.parameters);
            return Resolution{{}, bnmc::warnings_of(bnmc::labeled_of(problem).labels, options)};
          },
      .max_steps = bnmc::max_steps,
      .independent_columns = true,
      .supports_incremental_rows = true,
      .held_out_trace = "held_out",
      .label_baselines = {{"ovr", fit_baseline<bnmc::Baseline::one_vs_rest>},
                          {"chain", fit_baseline<bnmc::Baseline::chains>},
                          {"rates", fit_baseline<bnmc::Baseline::base_rates>}}};
}

}  // namespace coppice
