// What can be seen of a chain.
#pragma once

#include <string>
#include <vector>

#include "coppice/model/model.hpp"

namespace coppice::test {

/// Labels, traces and payload: all that a run keeps of a state.
inline std::string seen_of(const ModelEntry& model, const Inference& chain, const Problem& problem) {
  std::vector<double> traces(trace_names(model, problem).size());
  chain.traces(traces);
  Labels labels(model.levels(problem.parameters) * problem.rows->size());
  chain.labels(labels);
  std::string text = chain.payload();
  text.append(reinterpret_cast<const char*>(traces.data()), traces.size() * sizeof(double));
  text.append(reinterpret_cast<const char*>(labels.data()), labels.size() * sizeof(Label));
  return text;
}

}  // namespace coppice::test
