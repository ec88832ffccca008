#include "coppice/run/partition_draws.hpp"

#include <algorithm>

#include "coppice/shape/partition_traces.hpp"
#include "coppice/shape/spaced.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMostLabels = 25'000'000;       // kept in memory: 100 MB
constexpr std::size_t kMostRows = 2000;               // of a sample
constexpr std::size_t kLeastRows = 200;               // of a sample of many draws
constexpr std::size_t kMostViewLabels = 400'000'000;  // decoded with the views of the draws
constexpr std::size_t kLeastChainDraws = 500;
constexpr std::size_t kMostColumns = 400;
constexpr std::size_t kViews = 3;  // in which the rows' clusters are looked at

std::size_t rows_used(const StoredDraws& stored, std::size_t partitions) {
  const std::size_t draws = stored.draws_per_chain() * stored.chains() * partitions;
  return std::min(kMostRows, std::max(kMostLabels / std::max<std::size_t>(draws, 1), kLeastRows));
}

PartitionDraws empty_draws(std::size_t chains, std::vector<std::size_t> members) {
  PartitionDraws draws;
  draws.members = std::move(members);
  draws.chains.resize(chains);
  for (LabelMatrix& chain : draws.chains) chain.rows = draws.members.size();
  return draws;
}

void add_labels(PartitionDraws& draws, std::size_t chain, std::span<const Label> labels) {
  std::vector<Label>& values = draws.chains[chain].values;
  const std::size_t begin = values.size();
  values.resize(begin + draws.members.size());
  for (std::size_t i = 0; i < draws.members.size(); ++i) values[begin + i] = labels[draws.members[i]];
}

std::vector<PartitionDraws> level_draws(const StoredDraws& stored) {
  const std::size_t count = stored.rows();
  const std::vector<std::size_t> rows = spaced_members(count, rows_used(stored, stored.levels()));
  std::vector<PartitionDraws> levels;
  for (std::size_t level = 1; level <= stored.levels(); ++level) {
    levels.push_back(empty_draws(stored.chains(), rows));
    levels.back().level = level;
  }
  stored.for_each(0, [&](const SavedDraw& draw) {
    for (PartitionDraws& level : levels)
      add_labels(level, draw.chain, draw.labels.subspan((level.level - 1) * count, count));
  });
  return levels;
}

/// Columns that are rarely in one view: first the one that is most with the others, then each time the one
/// that is least with those chosen, unless it is mostly with one of them.
std::vector<std::size_t> columns_of_different_views(const PartitionDraws& columns) {
  const std::size_t count = columns.members.size();
  std::vector<std::size_t> company(count, 0);  // columns it shares a view with, over all draws
  std::vector<std::size_t> sizes(count);
  std::size_t draws = 0;
  const auto for_each_draw = [&](const auto& visit) {
    for (const LabelMatrix& chain : columns.chains)
      for (std::size_t d = 0; d < chain.draws(); ++d) visit(chain[d]);
  };
  for_each_draw([&](std::span<const Label> labels) {
    ++draws;
    sizes.assign(labels.size(), 0);
    sizes.resize(std::max(sizes.size(), static_cast<std::size_t>(*std::ranges::max_element(labels)) + 1));
    for (const Label label : labels) ++sizes[static_cast<std::size_t>(label)];
    for (std::size_t a = 0; a < count; ++a) company[a] += sizes[static_cast<std::size_t>(labels[a])];
  });
  std::vector<std::size_t> nearest(count, 0);  // draws with the chosen column it is most often with
  std::vector<std::size_t> together(count);
  std::vector<std::size_t> chosen;
  auto next = static_cast<std::size_t>(std::ranges::max_element(company) - company.begin());
  while (chosen.size() < kViews) {
    chosen.push_back(columns.members[next]);
    together.assign(count, 0);
    for_each_draw([&](std::span<const Label> labels) {
      for (std::size_t a = 0; a < count; ++a) together[a] += labels[a] == labels[next] ? 1U : 0U;
    });
    for (std::size_t a = 0; a < count; ++a) nearest[a] = std::max(nearest[a], together[a]);
    const auto least = std::ranges::min_element(nearest);
    if (2 * *least > draws) break;
    next = static_cast<std::size_t>(least - nearest.begin());
  }
  return chosen;
}

std::vector<PartitionDraws> view_draws(const StoredDraws& stored) {
  const ProblemSetup& setup = stored.setup();
  const std::vector<std::size_t>& order = setup.plan.order;
  const std::size_t chains = stored.chains();
  const std::size_t most = std::max(kMostViewLabels / std::max<std::size_t>(stored.rows() * order.size(), 1),
                                    kLeastChainDraws * chains);
  const auto for_each_views = [&](const auto& visit) {
    stored.for_each(most, [&](const SavedDraw& draw) {
      const Views encoded = setup.model->views(setup.problem, draw.payload);
      Labels columns(order.size());
      for (std::size_t cell = 0; cell < order.size(); ++cell) columns[order[cell]] = encoded.columns[cell];
      visit(draw.chain, columns, encoded);
    });
  };
  std::vector<PartitionDraws> partitions{empty_draws(chains, spaced_members(order.size(), kMostColumns))};
  partitions.front().of_columns = true;
  for_each_views([&](std::size_t chain, const Labels& columns, const Views&) {
    add_labels(partitions.front(), chain, columns);
  });
  const std::vector<std::size_t> anchors = columns_of_different_views(partitions.front());
  const std::vector<std::size_t> rows = spaced_members(stored.rows(), rows_used(stored, anchors.size()));
  for (const std::size_t anchor : anchors) {
    partitions.push_back(empty_draws(chains, rows));
    partitions.back().view = anchor;
  }
  for_each_views([&](std::size_t chain, const Labels& columns, const Views& views) {
    for (std::size_t k = 0; k < anchors.size(); ++k)
      add_labels(partitions[k + 1], chain, views.rows[static_cast<std::size_t>(columns[anchors[k]])]);
  });
  return partitions;
}

}  // namespace

std::vector<PartitionDraws> partition_draws(const StoredDraws& draws) {
  const ModelEntry& model = *draws.setup().model;
  if (model.runs_once() || draws.draws_per_chain() == 0) return {};
  return model.has_views() ? view_draws(draws) : level_draws(draws);
}

std::vector<TraceValues> partition_values(const RunFile& file, const ProblemSetup& setup, std::size_t first) {
  const RowSample sample = answer_sample(file, setup);
  std::vector<TraceValues> values;
  for (const PartitionDraws& draws : partition_draws(StoredDraws(file, setup, sample, first)))
    for (PartitionTrace& trace : partition_traces(draws.chains)) values.push_back(std::move(trace.values));
  return values;
}

}  // namespace coppice
