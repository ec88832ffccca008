// What is behind the verdict on a run, as JSON: spelled alike by every command, the report and Python.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coppice/post/trust.hpp"

namespace coppice {

/// Traces of who is with whom: kind (distance, pair), level, view, reference draw or members, diagnostics.
nlohmann::ordered_json partition_traces_json(const Analysis& analysis);
/// converged, diffuse, fit, undecided_pairs, modes, disagreement (null if chains agree), remedies, safe.
nlohmann::ordered_json trust_json(const Analysis& analysis, const Trust& trust);

}  // namespace coppice
