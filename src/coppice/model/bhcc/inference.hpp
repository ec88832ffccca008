// Greedy inference. First every column gets its own tree over the rows; then a step prepares or
// scores pairs of views or merges two (exact), or does one piece of a division (randomized), and a last one
// may consolidate the views that were found. The state is the forest so far, so a stopped fit has an answer
// and can resume from it.
#pragma once

#include <memory>

#include "coppice/model/bhcc/options.hpp"
#include "coppice/model/model.hpp"

namespace coppice::bhcc {

std::vector<TraceInfo> traces(const ParameterValues& parameters);
std::unique_ptr<Inference> make_inference(const Problem& problem);
/// With other options than those of the problem's parameters.
std::unique_ptr<Inference> make_inference(const Problem& problem, const Options& options);
std::size_t chain_bytes(const Problem& problem);
std::size_t max_steps(const Problem& problem);
/// The lower bound of a whole fit to some of the columns.
double evidence_bound(const Problem& problem);

CrossTree column_tree(const Problem& problem, std::string_view payload);
Views views_of(const Problem& problem, std::string_view payload);
/// That of the view with most columns.
Dendrogram row_tree(const Problem& problem, std::string_view payload);

}  // namespace coppice::bhcc
