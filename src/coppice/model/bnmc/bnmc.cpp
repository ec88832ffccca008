#include "coppice/model/bnmc/bnmc.hpp"

#include "coppice/base/error.hpp"
#include "coppice/model/bnmc/fit.hpp"
#include "coppice/model/bnmc/options.hpp"

namespace coppice {

ModelEntry bnmc_entry() {
  ModelEntry entry{
      "bnmc",
      "multi-label classifier: clusters of features and labels, with a linear classifier of each "
      "label",
      bnmc::parameter_table(),
      [](const ParameterValues&) -> std::vector<std::string> {
        return {"log_joint", "clusters", "entropy", "largest_share", "held_out"};
      },
      [](const ParameterValues&) -> std::size_t { return 1; },
      bnmc::make_inference,
      [](const Problem&) -> std::unique_ptr<Predictor> {
        fail(ErrorCode::configuration,
             "bnmc predicts labels (coppice predict); it fills in no cells and compares no draws");
      },
      bnmc::chain_bytes,
      bnmc::check_given,
      [](const ParameterValues&) -> std::string {
        return "Variational: one local optimum, not draws from a posterior; clusters are "
               "overconfident.";
      }};
  entry.greedy_steps = bnmc::steps;
  entry.independent_columns = true;
  entry.held_out_trace = "held_out";
  entry.supports_incremental_rows = true;
  entry.make_classifier = bnmc::make_classifier;
  entry.resolve = [](const Problem& problem, const Settings&, std::uint64_t, std::size_t) {
    const bnmc::Options options(problem.parameters);
    return Resolution{{}, bnmc::warnings_of(bnmc::labeled_of(problem).labels, options)};
  };
  return entry;
}

}  // namespace coppice
