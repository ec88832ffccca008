// Bayesian hierarchical clustering: a binary tree over the rows, grown by merging the two trees that most
// probably belong together.
#include "coppice/model/bhc/inference.hpp"
#include "coppice/model/bhc/options.hpp"
#include "coppice/model/bhc/predictor.hpp"
#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry bhc_entry() {
  return {.name = "bhc",
          .summary = "Bayesian hierarchical clustering: one tree over the rows, merged greedily",
          .method = Method::greedy,
          .parameters = bhc::parameter_table(),
          .traces = bhc::traces,
          .make_inference = bhc::make_inference,
          .make_predictor = bhc::make_predictor,
          .chain_bytes = bhc::chain_bytes,
          .check_given = bhc::check_given,
          .inexactness_note = [](const ParameterValues&) -> std::string {
            return "Greedy: one tree, not draws from a posterior; probabilities are those of the "
                   "partitions that cutting this tree can give, and overconfident.";
          },
          .resolve = bhc::resolve,
          .max_steps = bhc::max_steps,
          .row_tree = bhc::row_tree,
          .evidence_bound = bhc::evidence_bound,
          .refuses_weights = [](const ParameterValues&) { return std::string(); },
          .independent_columns = true,
          .predicts_new_cells = true};
}

}  // namespace coppice
