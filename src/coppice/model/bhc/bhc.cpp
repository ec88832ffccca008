#include "coppice/model/bhc/bhc.hpp"

#include "coppice/model/bhc/fit.hpp"
#include "coppice/model/bhc/options.hpp"
#include "coppice/model/bhc/predictor.hpp"

namespace coppice {

ModelEntry bhc_entry() {
  ModelEntry entry{"bhc",
                   "Bayesian hierarchical clustering: one tree over the rows, merged greedily",
                   bhc::parameter_table(),
                   [](const ParameterValues&) -> std::vector<std::string> {
                     return {"log_joint", "clusters", "entropy", "largest_share", "trees"};
                   },
                   [](const ParameterValues&) -> std::size_t { return 1; },
                   bhc::make_inference,
                   bhc::make_predictor,
                   bhc::chain_bytes,
                   bhc::check_given,
                   [](const ParameterValues&) -> std::string {
                     return "Greedy: one tree, not draws from a posterior; probabilities are those of the "
                            "partitions that cutting this tree can give, and overconfident.";
                   },
                   bhc::resolve};
  entry.greedy_steps = bhc::steps;
  entry.row_tree = bhc::row_tree;
  entry.evidence_bound = bhc::evidence_bound;
  entry.independent_columns = true;
  return entry;
}

}  // namespace coppice
