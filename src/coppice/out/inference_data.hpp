// A run as ArviZ's InferenceData in NetCDF: posterior (label-invariant traces and labels), sample_stats (log
// joint), observed_data, with the attributes the schema asks for.
#pragma once

#include <string>

#include "coppice/run/saved_run.hpp"

namespace coppice {

void write_inference_data(const SavedRun& run, const std::string& path);

}  // namespace coppice
