// The cross Dirichlet process mixture (CrossCat): columns are divided into views, and each view has its own
// clusters of the rows.
#include "coppice/model/crosscat/inference.hpp"
#include "coppice/model/crosscat/options.hpp"
#include "coppice/model/crosscat/predictor.hpp"
#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry crosscat_entry() {
  return {
      .name = "crosscat",
      .summary = "views of the columns, and clusters of the rows in each (cross Dirichlet process mixture)",
      .method = Method::mcmc,
      .parameters = crosscat::parameter_table(),
      .traces = crosscat::traces,
      .make_inference = crosscat::make_inference,
      .make_predictor = crosscat::make_predictor,
      .chain_bytes = crosscat::chain_bytes,
      .check_given = crosscat::check_given,
      .views = crosscat::views_of,
      .row_concentration = "alpha-rows",
      .row_seating = [](const ParameterValues& parameters) -> std::optional<Concentration> {
        return crosscat::Options(parameters).alpha_rows;
      },
      .refuses_weights = crosscat::refuses_weights,
      .independent_columns = true,
      .predicts_new_cells = true,
      .abilities = [](const ParameterValues&) { return ChainAbilities{.learns_hyper = true}; }};
}

}  // namespace coppice
