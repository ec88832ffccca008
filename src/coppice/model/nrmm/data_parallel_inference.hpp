// A chain of the data-parallel sampler.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::nrmm {

/// `make_start` makes the sampler whose fit of some of the rows a chain begins with.
std::unique_ptr<Inference> make_data_parallel(const Problem& problem,
                                              std::unique_ptr<Inference> (*make_start)(const Problem&));
/// Bytes of one chain beside the data.
std::size_t data_parallel_bytes(const Problem& problem);

}  // namespace coppice::nrmm
