#include "coppice/model/nrmm/nrmm.hpp"

#include "coppice/model/nrmm/mixture.hpp"
#include "coppice/model/nrmm/options.hpp"
#include "coppice/model/nrmm/predictor.hpp"
#include "coppice/model/nrmm/process.hpp"

namespace coppice {

ModelEntry nrmm_entry() {
  ModelEntry entry{"nrmm",
                   "mixture with an unknown number of clusters (normalized random measures)",
                   nrmm::parameter_table(),
                   [](const ParameterValues& parameters) {
                     std::vector<std::string> names{"log_joint", "clusters", "entropy", "largest_share"};
                     for (std::string& name : nrmm::process_trace_names(parameters))
                       names.push_back(std::move(name));
                     return names;
                   },
                   [](const ParameterValues&) -> std::size_t { return 1; },
                   nrmm::make_inference,
                   nrmm::make_predictor,
                   nrmm::chain_bytes,
                   nrmm::check_given,
                   nrmm::inexactness_note,
                   nrmm::explain_sampler,
                   true,
                   nrmm::guide_of_chain};
  entry.abilities = [](const ParameterValues& parameters) {
    // The published sampler is there for comparison, as it was.
    const bool exact = nrmm::inexactness_note(parameters).empty();
    return ChainAbilities{exact, exact};
  };
  return entry;
}

}  // namespace coppice
