// Trace values of an inference by their names.
#pragma once

#include <string_view>
#include <vector>

#include "coppice/model/trace_table.hpp"

namespace coppice {

class TraceValues {
 public:
  TraceValues(const ModelEntry& model, const ParameterValues& parameters)
      : traces_(model.traces(parameters)), values_(traces_.size()) {}

  void read(const Inference& inference) { inference.traces(values_); }
  double operator[](std::string_view name) const { return values_[trace_place(traces_, name)]; }
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<TraceInfo> traces_;
  std::vector<double> values_;
};

}  // namespace coppice
