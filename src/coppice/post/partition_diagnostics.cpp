#include "coppice/post/partition_diagnostics.hpp"

#include <fmt/format.h>

#include "coppice/data/text.hpp"

namespace coppice {
namespace {

std::string title_of(const SavedRun& run, const PartitionDraws& draws, const PartitionTrace& trace,
                     std::size_t reference) {
  if (trace.kind == PartitionTrace::Kind::distance)
    return fmt::format("distance to reference {}{}", reference, draws.suffix());
  const auto shown = [&](std::size_t member) {
    return text::display(member_name(run, draws.of_columns, member), 30);
  };
  return draws.of_columns ? fmt::format("sharing a view: {} and {}", shown(trace.first), shown(trace.second))
                          : fmt::format("co-clustering of {} and {}{}", shown(trace.first),
                                        shown(trace.second), draws.suffix());
}

}  // namespace

const std::string& member_name(const SavedRun& run, bool of_columns, std::size_t member) {
  return of_columns ? run.table().columns[member].name : run.table().row_ids[member];
}

std::vector<PartitionDraws> partition_draws(const SavedRun& run) {
  std::vector<PartitionDraws> all = partition_draws(run.draws());
  for (PartitionDraws& draws : all) {
    if (draws.of_columns) draws.where = "columns";
    if (draws.view)
      draws.where = fmt::format("view of {}", text::display(run.table().columns[*draws.view].name, 30));
    if (run.levels() > 1) draws.where = fmt::format("level {}", draws.level);
  }
  return all;
}

std::vector<PartitionDiagnostic> diagnose_partitions(const SavedRun& run,
                                                     const std::vector<PartitionDraws>& partitions) {
  std::vector<PartitionDiagnostic> diagnostics;
  for (const PartitionDraws& draws : partitions) {
    std::size_t references = 0;
    for (PartitionTrace& trace : partition_traces(draws.chains)) {
      if (trace.kind == PartitionTrace::Kind::distance) {
        ++references;
        // Evenly spaced draws of a large run: back to their numbers in the run.
        trace.draw = trace.draw * run.draws_per_chain() / draws.chains.front().draws();
      } else {
        trace.first = draws.members[trace.first];
        trace.second = draws.members[trace.second];
      }
      PartitionDiagnostic entry;
      entry.summary = summarize_trace(title_of(run, draws, trace, references), trace.values);
      entry.trace = std::move(trace);
      entry.where = draws.where;
      entry.level = draws.level;
      entry.of_columns = draws.of_columns;
      diagnostics.push_back(std::move(entry));
    }
  }
  return diagnostics;
}

}  // namespace coppice
