// Clusters of sub-clusters: Gaussian sub-clusters that share the covariance of their cluster.
#include "coppice/model/model.hpp"
#include "coppice/model/nhcm/inference.hpp"
#include "coppice/model/nhcm/options.hpp"
#include "coppice/model/nhcm/predictor.hpp"

namespace coppice {

ModelEntry nhcm_entry() {
  return {.name = "nhcm",
          .summary = "clusters of Gaussian sub-clusters that share their cluster's covariance",
          .method = Method::mcmc,
          .parameters = nhcm::parameter_table(),
          .traces = nhcm::traces,
          .levels = [](const ParameterValues&) -> std::size_t { return 2; },
          .make_inference = nhcm::make_inference,
          .make_predictor = nhcm::make_predictor,
          .chain_bytes = nhcm::chain_bytes,
          .check_given = nhcm::check_given,
          .inexactness_note = nhcm::inexactness_note,
          .row_concentration = "alpha-clusters",
          .row_seating = [](const ParameterValues& parameters) -> std::optional<Concentration> {
            const nhcm::Options options(parameters);
            if (options.nesting != TwoLevelCrp::Nesting::nested) return std::nullopt;
            return options.alpha_clusters;
          },
          .refuses_weights = nhcm::refuses_weights,
          .family = "gaussian",
          .abilities =
              [](const ParameterValues& parameters) {
                // The published sampler is there for comparison, as it was.
                return ChainAbilities{.learns_hyper = nhcm::inexactness_note(parameters).empty()};
              }};
}

}  // namespace coppice
