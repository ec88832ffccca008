#include "coppice/model/left_out.hpp"

#include <fmt/ranges.h>

#include "coppice/base/error.hpp"
#include "coppice/model/registry.hpp"

namespace coppice {

const LeaveOneOut& leave_one_out_of(const Predictor& predictor) {
  if (const auto* known = dynamic_cast<const LeaveOneOut*>(&predictor)) return *known;
  std::vector<std::string> names;
  for (const ModelEntry& entry : all_models())
    if (entry.method == Method::mcmc) names.push_back(entry.name);
  fail(ErrorCode::configuration,
       "this model does not judge its own rows by the others, because its tree was fitted to all of them; give "
       "new rows in a table, or fit one of these models: {}",
       fmt::join(names, ", "));
}

}  // namespace coppice
