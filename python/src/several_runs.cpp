// Questions about several runs at once.
#include "coppice/post/compare_runs.hpp"
#include "coppice/run/merge_runs.hpp"
#include "run.hpp"

namespace coppice::python {
namespace {

nb::dict comparison(const Run& first, const Run& second) {
  const RunComparison compared =
      Run::ask_both(first, second, [](const Analysis& a, const Analysis& b) { return compare_runs(a, b); });
  nb::dict traces;
  for (const TraceComparison& trace : compared.traces) {
    nb::dict entry;
    entry["first"] = trace.first_mean;
    entry["second"] = trace.second_mean;
    entry["rhat"] = trace.rhat;
    traces[trace.name.c_str()] = entry;
  }
  nb::list levels;
  for (const LevelComparison& level : compared.levels) {
    nb::dict entry;
    entry["level"] = level.level;
    entry["ari"] = level.ari;
    entry["vi"] = level.vi;
    entry["clusters"] = nb::make_tuple(level.first_clusters, level.second_clusters);
    entry["coclustering_difference"] = level.coclustering_difference;
    levels.append(entry);
  }
  nb::dict answer;
  answer["same"] = compared.same;
  answer["verdict"] = compared.verdict;
  answer["traces"] = traces;
  answer["levels"] = levels;
  return answer;
}

void merge(const std::vector<std::string>& paths, const std::string& output) {
  const nb::gil_scoped_release release;
  merge_runs(paths, output);
}

}  // namespace

void add_several_runs(nb::module_& module) {
  using nb::arg;
  module.def("compare", &comparison, arg("first"), arg("second"), "Do two runs agree?");
  module.def("merge", &merge, arg("paths"), arg("output"), "The chains of several runs in one run file.");
}

}  // namespace coppice::python
