// Trace values of an inference by their names.
#pragma once

#include <string_view>
#include <vector>

#include "coppice/model/trace_table.hpp"

namespace coppice {

class TraceValues {
 public:
  /// `learned`: so many values of what the family learns come after the model's own.
  TraceValues(const ModelEntry& model, const ParameterValues& parameters, std::size_t learned = 0)
      : traces_(model.traces(parameters)), values_(traces_.size() + learned) {}

  void read(const Inference& inference) { inference.traces(values_); }
  double operator[](std::string_view name) const { return values_[trace_place(traces_, name)]; }
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<TraceInfo> traces_;
  std::vector<double> values_;
};

}  // namespace coppice
