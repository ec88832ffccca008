// The chain: one Gibbs scan over the rows in a sweep.
#pragma once

#include <memory>
#include <vector>

#include "coppice/model/model.hpp"

namespace coppice::example {

std::vector<TraceInfo> traces(const ParameterValues& parameters);
std::unique_ptr<Inference> make_inference(const Problem& problem);
std::size_t chain_bytes(const Problem& problem);

}  // namespace coppice::example
