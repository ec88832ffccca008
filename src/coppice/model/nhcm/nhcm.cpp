#include "coppice/model/nhcm/nhcm.hpp"

#include "coppice/model/nhcm/inference.hpp"
#include "coppice/model/nhcm/options.hpp"
#include "coppice/model/nhcm/predictor.hpp"

namespace coppice {

ModelEntry nhcm_entry() {
  return {"nhcm",
          "clusters of Gaussian sub-clusters that share their cluster's covariance",
          nhcm::parameter_table(),
          [](const ParameterValues&) -> std::vector<std::string> {
            return {"log_joint", "clusters_1",     "clusters_2",        "entropy_1",
                    "entropy_2", "alpha_clusters", "alpha_subclusters", "spread"};
          },
          [](const ParameterValues&) -> std::size_t { return 2; },
          nhcm::make_inference,
          nhcm::make_predictor,
          nhcm::chain_bytes,
          nhcm::check_given,
          nhcm::inexactness_note,
          nullptr,
          false,
          nullptr,
          "gaussian"};
}

}  // namespace coppice
