// Mixtures of normalized random measures: a partition of the rows with a product prior prod_c kappa(n_c),
// component parameters integrated out. Process and moves stand beside this file.
#include "coppice/model/model.hpp"
#include "coppice/model/nrmm/inference.hpp"
#include "coppice/model/nrmm/options.hpp"
#include "coppice/model/nrmm/predictor.hpp"
#include "coppice/model/nrmm/process.hpp"

namespace coppice {

ModelEntry nrmm_entry() {
  return {.name = "nrmm",
          .summary = "mixture with an unknown number of clusters (normalized random measures)",
          .method = Method::mcmc,
          .parameters = nrmm::parameter_table(),
          .traces = nrmm::traces,
          .make_inference = nrmm::make_inference,
          .make_predictor = nrmm::make_predictor,
          .chain_bytes = nrmm::chain_bytes,
          .check_given = nrmm::check_given,
          .inexactness_note = nrmm::inexactness_note,
          .resolve = nrmm::explain_sampler,
          .guide = nrmm::guide_of_chain,
          .row_concentration = "alpha",
          .row_seating = nrmm::row_seating,
          .refuses_weights = nrmm::refuses_weights,
          .supports_incremental_rows = true,
          .predicts_new_cells = true,
          .abilities = [](const ParameterValues& parameters) {
            // The published sampler is there for comparison, as it was.
            const bool exact = nrmm::inexactness_note(parameters).empty();
            return ChainAbilities{.learns_hyper = exact,
                                  .fills_missing = exact,
                                  .in_blocks = parameters.choice("sampler") == "data-parallel"};
          }};
}

}  // namespace coppice
