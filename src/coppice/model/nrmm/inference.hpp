// One chain of a mixture: the partition with its statistics, the process, and the moves of a sweep.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::nrmm {

std::vector<TraceInfo> traces(const ParameterValues& parameters);
std::unique_ptr<Inference> make_inference(const Problem& problem);
/// Bytes of one chain beside the data.
std::size_t chain_bytes(const Problem& problem);

/// The guide tree of a chain.
RowTree guide_of_chain(const Problem& problem, const StreamName& name);

}  // namespace coppice::nrmm
