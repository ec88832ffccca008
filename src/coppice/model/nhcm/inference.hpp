// The chain: Gibbs updates of rows and sub-clusters between split-merge moves of both levels, then what is
// learned of the prior.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::nhcm {

std::vector<TraceInfo> traces(const ParameterValues& parameters);
std::unique_ptr<Inference> make_inference(const Problem& problem);
std::size_t chain_bytes(const Problem& problem);

}  // namespace coppice::nhcm
