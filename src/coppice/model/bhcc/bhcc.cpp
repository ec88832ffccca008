// Bayesian hierarchical cross-clustering: a binary tree over the columns, whose nodes have trees over the
// rows, grown by merging the two views that most probably are one.
#include "coppice/model/bhcc/inference.hpp"
#include "coppice/model/bhcc/options.hpp"
#include "coppice/model/bhcc/predictor.hpp"
#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry bhcc_entry() {
  return {.name = "bhcc",
          .summary =
              "Bayesian hierarchical cross-clustering: a tree over the columns with trees over the "
              "rows, greedily",
          .method = Method::greedy,
          .parameters = bhcc::parameter_table(),
          .traces = bhcc::traces,
          .make_inference = bhcc::make_inference,
          .make_predictor = bhcc::make_predictor,
          .chain_bytes = bhcc::chain_bytes,
          .check_given = bhcc::check_given,
          .inexactness_note = [](const ParameterValues&) -> std::string {
            return "Greedy: one tree of views, not draws from a posterior; probabilities are those of the "
                   "views and clusters that cutting its trees can give, and overconfident.";
          },
          .max_steps = bhcc::max_steps,
          .row_tree = bhcc::row_tree,
          .views = bhcc::views_of,
          .column_tree = bhcc::column_tree,
          .evidence_bound = bhcc::evidence_bound,
          .refuses_weights = [](const ParameterValues&) { return std::string(); },
          .independent_columns = true,
          .predicts_new_cells = true};
}

}  // namespace coppice
