// A model as small as one can be: a Dirichlet process mixture with a fixed concentration, by Gibbs scans. It
// stands outside of src/ and is compiled into a second program (tests/CMakeLists.txt), to show what a new
// model takes: a folder like this one and its line in model/registry.cpp.
#include "added_model/example/inference.hpp"
#include "added_model/example/options.hpp"
#include "added_model/example/predictor.hpp"
#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry example_entry() {
  return {.name = "example",
          .summary = "the smallest mixture: a Dirichlet process, by Gibbs scans",
          .method = Method::mcmc,
          .parameters = example::parameter_table(),
          .traces = example::traces,
          .make_inference = example::make_inference,
          .make_predictor = example::make_predictor,
          .chain_bytes = example::chain_bytes,
          .check_given = example::check_given,
          .row_seating = [](const ParameterValues& parameters) -> std::optional<Concentration> {
            return Concentration(parameters.real("alpha"));
          },
          .independent_columns = true};
}

}  // namespace coppice
