// Greedy inference: a step scores the pairs of one row, or merges two trees (exact), or does one
// piece of a division (randomized). The state is the forest so far, so a stopped fit has an answer and can
// resume from it.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::bhc {

std::vector<TraceInfo> traces(const ParameterValues& parameters);
std::unique_ptr<Inference> make_inference(const Problem& problem);
std::size_t chain_bytes(const Problem& problem);
std::size_t max_steps(const Problem& problem);
/// The lower bound of a whole fit.
double evidence_bound(const Problem& problem);
/// Chooses a concentration that was left open.
Resolution resolve(const Problem& problem, const Settings& given, std::uint64_t seed, std::size_t threads);
Dendrogram row_tree(const Problem& problem, std::string_view payload);

}  // namespace coppice::bhc
