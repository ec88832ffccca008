// The traces of a model as one table: name, help, and how each is computed from what the inference measures
// of its state. Everything else (names in the run file, places for predictors, help) is read from it.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/model/model.hpp"

namespace coppice {

/// `Figures` is what is measured once for all traces of a draw.
template <typename Figures>
class TraceTable {
 public:
  struct Row {
    std::string name;
    std::string help;
    std::function<double(const Figures&)> value;
  };

  explicit TraceTable(std::vector<Row> rows) : rows_(std::move(rows)) {}

  std::vector<TraceInfo> list() const {
    std::vector<TraceInfo> traces;
    for (const Row& row : rows_) traces.push_back({row.name, row.help});
    return traces;
  }
  std::size_t size() const { return rows_.size(); }
  void write(const Figures& figures, std::span<double> values) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) values[i] = rows_[i].value(figures);
  }

 private:
  std::vector<Row> rows_;
};

/// Where a draw keeps the trace of this name.
inline std::size_t trace_place(const std::vector<TraceInfo>& traces, std::string_view name) {
  const auto found =
      std::find_if(traces.begin(), traces.end(), [&](const TraceInfo& trace) { return trace.name == name; });
  if (found == traces.end()) fail(ErrorCode::bug, "there is no trace '{}'", name);
  return static_cast<std::size_t>(found - traces.begin());
}

}  // namespace coppice
