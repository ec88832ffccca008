// The fit of bnmc step by step, in the shape of a greedy model: sweeps (or stochastic steps) of the mixture
// from several starts, then the linear experts, eight labels at a time; first on all rows, then without each
// fold, which is predicted and on which scores are calibrated.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::bnmc {

std::unique_ptr<Inference> make_inference(const Problem& problem);
std::size_t steps(const Problem& problem);
std::size_t chain_bytes(const Problem& problem);
std::unique_ptr<Classifier> make_classifier(const Problem& problem, std::string_view payload);

}  // namespace coppice::bnmc
