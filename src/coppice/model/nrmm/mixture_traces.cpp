#include "coppice/model/nrmm/mixture_traces.hpp"

#include <algorithm>

namespace coppice::nrmm {

TraceTable<Figures> trace_table(const ParameterValues& parameters) {
  std::vector<TraceTable<Figures>::Row> rows{
      {"log_joint", "log joint density of partition, learned parameters and data",
       [](const Figures& f) { return f.log_joint; }},
      {"clusters", "number of clusters",
       [](const Figures& f) {
         return static_cast<double>(f.sizes.size()) -
                static_cast<double>(std::count(f.sizes.begin(), f.sizes.end(), 0U));
       }},
      {"entropy", "entropy of the cluster sizes, in nats",
       [](const Figures& f) { return partition_entropy(f.sizes, f.rows); }},
      {"largest_share", "share of the rows in the largest cluster",
       [](const Figures& f) { return *std::max_element(f.sizes.begin(), f.sizes.end()) / f.rows; }},
      {"alpha", "concentration of the process", [](const Figures& f) { return f.process.state().alpha; }}};
  if (is_ngg(parameters)) {
    rows.push_back({"sigma", "discount of the process, in (0, 1): larger gives more small clusters",
                    [](const Figures& f) { return f.process.state().sigma; }});
    rows.push_back({"log_u", "log of the auxiliary variable u of the process",
                    [](const Figures& f) { return f.process.log_u(); }});
  }
  return TraceTable<Figures>(std::move(rows));
}

}  // namespace coppice::nrmm
