#include "coppice/model/bhcc/bhcc.hpp"

#include "coppice/model/bhcc/fit.hpp"
#include "coppice/model/bhcc/options.hpp"
#include "coppice/model/bhcc/predictor.hpp"

namespace coppice {

ModelEntry bhcc_entry() {
  ModelEntry entry{
      "bhcc",
      "Bayesian hierarchical cross-clustering: a tree over the columns with trees over the rows, greedily",
      bhcc::parameter_table(),
      [](const ParameterValues&) -> std::vector<std::string> {
        return {"log_joint", "clusters", "views", "column_entropy", "mean_clusters", "trees"};
      },
      [](const ParameterValues&) -> std::size_t { return 1; },
      bhcc::make_inference,
      bhcc::make_predictor,
      bhcc::chain_bytes,
      bhcc::check_given,
      [](const ParameterValues&) -> std::string {
        return "Greedy: one tree of views, not draws from a posterior; probabilities are those of the views "
               "and clusters that cutting its trees can give, and overconfident.";
      }};
  entry.greedy_steps = bhcc::steps;
  entry.row_tree = bhcc::row_tree;
  entry.views = bhcc::views_of;
  entry.column_tree = bhcc::column_tree;
  entry.evidence_bound = bhcc::evidence_bound;
  entry.independent_columns = true;
  return entry;
}

}  // namespace coppice
