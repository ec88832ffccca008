#include "coppice/post/partition_diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coppice/data/text.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/hierarchy.hpp"
#include "coppice/shape/spaced.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMostKeptLabels = 25'000'000;   // kept in memory: 100 MB
constexpr std::size_t kLeastSampledRows = 200;        // of a sample
constexpr std::size_t kMostViewLabels = 400'000'000;  // decoded with the views of the draws
constexpr std::size_t kLeastDrawsOfAChain = 500;      // of a chain
constexpr std::size_t kMostColumns = 400;
constexpr std::size_t kViews = 3;  // in which the rows' clusters are looked at

std::size_t rows_used(const SavedRun& run, std::size_t partitions, std::size_t most_rows) {
  const std::size_t draws = run.draws_per_chain() * run.config().chains * partitions;
  return std::min(most_rows, std::max(kMostKeptLabels / std::max<std::size_t>(draws, 1), kLeastSampledRows));
}

PartitionDraws start(std::string where, std::size_t chains, std::vector<std::size_t> members) {
  PartitionDraws draws;
  draws.where = std::move(where);
  draws.members = std::move(members);
  draws.chains.resize(chains);
  for (LabelMatrix& chain : draws.chains) chain.rows = draws.members.size();
  return draws;
}

void add(PartitionDraws& draws, std::size_t chain, std::span<const Label> labels) {
  for (const std::size_t member : draws.members) draws.chains[chain].values.push_back(labels[member]);
}

std::vector<PartitionDraws> level_draws(const SavedRun& run, std::size_t most_rows) {
  const std::vector<std::size_t> rows = spaced_members(run.rows(), rows_used(run, run.levels(), most_rows));
  std::vector<PartitionDraws> levels;
  for (std::size_t level = 1; level <= run.levels(); ++level) {
    levels.push_back(
        start(run.levels() == 1 ? "" : fmt::format("level {}", level), run.config().chains, rows));
    levels.back().level = level;
  }
  run.for_each_draw(0, [&](const SavedDraw& draw) {
    for (PartitionDraws& level : levels)
      add(level, draw.chain, level_of(draw.labels, run.rows(), level.level));
  });
  return levels;
}

/// Columns that are rarely in one view: first the one that is most with the others, then each time the one
/// that is least with those chosen, unless it is mostly with one of them.
std::vector<std::size_t> columns_of_different_views(const PartitionDraws& columns) {
  LabelMatrix all{columns.members.size(), {}};
  for (const LabelMatrix& chain : columns.chains)
    all.values.insert(all.values.end(), chain.values.begin(), chain.values.end());
  const std::vector<double> together = coclustering(all, 0);
  const std::size_t count = columns.members.size();
  std::vector<double> nearest(count, 0.0);
  std::vector<double> sums(count, 0.0);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) sums[a] += together[a * count + b];
  std::vector<std::size_t> chosen;
  auto next = static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  while (chosen.size() < kViews) {
    chosen.push_back(columns.members[next]);
    for (std::size_t a = 0; a < count; ++a) nearest[a] = std::max(nearest[a], together[next * count + a]);
    const auto least = std::min_element(nearest.begin(), nearest.end());
    if (*least > 0.5) break;
    next = static_cast<std::size_t>(least - nearest.begin());
  }
  return chosen;
}

std::vector<PartitionDraws> view_draws(const SavedRun& run, std::size_t most_rows) {
  const std::vector<std::size_t>& order = run.setup().plan.order;
  const std::size_t chains = run.config().chains;
  const std::size_t most = std::max(kMostViewLabels / std::max<std::size_t>(run.rows() * order.size(), 1),
                                    kLeastDrawsOfAChain * chains);
  const auto for_each_views = [&](const auto& visit) {
    run.for_each_draw(most, [&](const SavedDraw& draw) {
      const Views encoded = run.model().views(run.setup().problem, draw.payload);
      Labels columns(order.size());
      for (std::size_t cell = 0; cell < order.size(); ++cell) columns[order[cell]] = encoded.columns[cell];
      visit(draw.chain, columns, encoded);
    });
  };
  std::vector<PartitionDraws> partitions{
      start("columns", chains, spaced_members(order.size(), kMostColumns))};
  partitions.front().of_columns = true;
  for_each_views([&](std::size_t chain, const Labels& columns, const Views&) {
    add(partitions.front(), chain, columns);
  });
  const std::vector<std::size_t> anchors = columns_of_different_views(partitions.front());
  const std::vector<std::size_t> rows = spaced_members(run.rows(), rows_used(run, anchors.size(), most_rows));
  for (const std::size_t anchor : anchors)
    partitions.push_back(
        start(fmt::format("view of {}", text::display(run.table().columns[anchor].name, 30)), chains, rows));
  for_each_views([&](std::size_t chain, const Labels& columns, const Views& views) {
    for (std::size_t k = 0; k < anchors.size(); ++k)
      add(partitions[k + 1], chain, views.rows[static_cast<std::size_t>(columns[anchors[k]])]);
  });
  return partitions;
}

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

std::vector<PartitionDraws> partition_draws(const SavedRun& run, std::size_t most_rows) {
  if (run.model().runs_once() || run.draws_per_chain() == 0) return {};
  return run.model().has_views() ? view_draws(run, most_rows) : level_draws(run, most_rows);
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
