// What a new run begins with, the same for all who start one.
#pragma once

#include "coppice/base/setting.hpp"
#include "coppice/data/read.hpp"
#include "coppice/run/config.hpp"
#include "coppice/run/run_file.hpp"

namespace coppice {

/// Takes chains, until, warmup, draws, thin and seed from values that were checked one by one, or their
/// defaults: a run until trusted if its length is not given. Throws Error{usage} if that would be more sweeps
/// than can be counted, Error{configuration} if a length is given to a run until trusted.
void set_run_length(RunConfig& config, const Settings& given);

/// The data as the model sees them: standardized or replaced by components, if the configuration says so.
RunContents contents_of(RunConfig config, Dataset data);

}  // namespace coppice
