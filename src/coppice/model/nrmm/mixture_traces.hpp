// What a chain of the mixture stores with every draw, whichever sampler it has.
#pragma once

#include <cstdint>
#include <span>

#include "coppice/base/parameter.hpp"
#include "coppice/model/nrmm/process.hpp"
#include "coppice/model/trace_table.hpp"

namespace coppice::nrmm {

/// What is measured for the traces of a draw.
struct Figures {
  double log_joint;
  std::span<const std::uint32_t> sizes;
  double rows;
  const Process& process;
};

TraceTable<Figures> trace_table(const ParameterValues& parameters);

}  // namespace coppice::nrmm
