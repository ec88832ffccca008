#include "coppice/model/rbhmc/rbhmc.hpp"

#include "coppice/model/rbhmc/auto_penalty.hpp"
#include "coppice/model/rbhmc/inference.hpp"
#include "coppice/model/rbhmc/options.hpp"
#include "coppice/model/rbhmc/predictor.hpp"

namespace coppice {

ModelEntry rbhmc_entry() {
  return {"rbhmc",
          "tree of mixtures that share components, siblings kept apart by a margin (penalty 0: BHMC)",
          rbhmc::parameter_table(),
          rbhmc::trace_names,
          [](const ParameterValues& parameters) { return parameters.integer("levels"); },
          rbhmc::make_inference,
          rbhmc::make_predictor,
          rbhmc::chain_bytes,
          rbhmc::check_given,
          rbhmc::inexactness_note,
          rbhmc::resolve_penalty};
}

}  // namespace coppice
