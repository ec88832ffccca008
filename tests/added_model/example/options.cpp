#include "added_model/example/options.hpp"

#include "coppice/model/parameter_rows.hpp"

namespace coppice::example {

std::vector<Parameter> parameter_table() {
  return {positive_row("alpha", "1", "concentration of the Dirichlet process")};
}

void check_given(const Settings&) {}

}  // namespace coppice::example
