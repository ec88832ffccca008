#include "coppice/model/crosscat/crosscat.hpp"

#include "coppice/model/crosscat/options.hpp"
#include "coppice/model/crosscat/predictor.hpp"
#include "coppice/model/crosscat/inference.hpp"

namespace coppice {

ModelEntry crosscat_entry() {
  ModelEntry entry{"crosscat",
                   "views of the columns, and clusters of the rows in each (cross Dirichlet process mixture)",
                   crosscat::parameter_table(),
                   [](const ParameterValues& parameters) {
                     std::vector<std::string> names{"log_joint", "clusters", "views", "column_entropy",
                                                    "mean_clusters"};
                     if (parameters.has("learn")) names.insert(names.end(), {"alpha_rows", "alpha_columns"});
                     return names;
                   },
                   [](const ParameterValues&) -> std::size_t { return 1; },
                   crosscat::make_inference,
                   crosscat::make_predictor,
                   crosscat::chain_bytes,
                   crosscat::check_given,
                   [](const ParameterValues&) { return std::string(); }};
  entry.views = crosscat::views_of;
  entry.independent_columns = true;
  return entry;
}

}  // namespace coppice
