// The chain: replicas at several penalties, the one with the requested penalty being the chain's
// state, with exchanges between neighbors after every sweep.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coppice/model/model.hpp"

namespace coppice::rbhmc {

std::unique_ptr<Inference> make_inference(const Problem& problem);
std::vector<TraceInfo> traces(const ParameterValues& parameters);
std::size_t chain_bytes(const Problem& problem);

}  // namespace coppice::rbhmc
