// The chain: replicas at several powers of the posterior, the first being the chain's state, with
// exchanges between neighbors after every sweep.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::crosscat {

/// The concentrations are among them only if one is learned.
std::vector<TraceInfo> traces(const ParameterValues& parameters);
std::unique_ptr<Inference> make_inference(const Problem& problem);
std::size_t chain_bytes(const Problem& problem);
Views views_of(const Problem& problem, std::string_view payload);
/// The learned values of a draw, one column after the other; empty if none is learned.
std::vector<double> hyper_of(const Problem& problem, std::string_view payload);

}  // namespace coppice::crosscat
