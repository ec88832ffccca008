// The part of a report that answers questions about rows and columns: unusual rows with the responsible
// cells, and how much columns tell about each other. Only what takes a second or two: the page is also made
// while a run is watched. coppice ask answers without such bounds.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "coppice/out/ask_json.hpp"
#include "coppice/out/report_parts.hpp"
#include "coppice/post/column_dependence.hpp"
#include "coppice/post/unusual_rows.hpp"

namespace coppice {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kUnusualRows = 12;
constexpr std::size_t kMostJudgedRows = 5000;
constexpr std::size_t kJudgedRowsOfAllDraws = 100'000;
constexpr std::size_t kMostColumns = 16;
constexpr std::size_t kDraws = 40;
constexpr std::size_t kNodes = 24;
constexpr double kMostCost = 2e7;
constexpr std::size_t kMostPairs = 20;

bool takes_gaps(const SavedRun& run) {
  if (run.contents().has_weights()) return false;
  for (const FamilyPlan::Block& block : run.setup().plan.blocks)
    if (!family_by_name(block.family).gaps_in_new_rows) return false;
  return true;
}

ordered_json unusual(const SavedRun& run) {
  const bool can_leave_out = run.model().method == Method::mcmc;
  if (!can_leave_out || run.rows() > kMostJudgedRows || run.rows() != run.all_rows() || !takes_gaps(run))
    return ordered_json::array();
  UnusualOptions options;
  options.most_rows = kUnusualRows;
  options.most_draws =
      std::clamp<std::size_t>(kJudgedRowsOfAllDraws / std::max<std::size_t>(1, run.rows()), 10, kDraws);
  return unusual_rows_json(run, unusual_rows(run, options), run.table().row_ids);
}

ordered_json dependence(const SavedRun& run, std::span<const std::size_t> columns) {
  DependenceOptions options;
  options.most_draws = kDraws;
  options.nodes = kNodes;
  std::size_t used = std::min(columns.size(), kMostColumns);
  const auto cost = [&](std::size_t count) {
    return dependence_cost(run, count * (count - 1) / 2, options) * static_cast<double>(kDraws);
  };
  while (used > 2 && cost(used) > kMostCost) --used;
  if (used < 2 || cost(used) > kMostCost || !takes_gaps(run)) return ordered_json::array();
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < used; ++i)
    for (std::size_t j = i + 1; j < used; ++j) pairs.emplace_back(columns[i], columns[j]);
  std::vector<ColumnDependence> found = column_dependence(run, pairs, options);
  std::stable_sort(found.begin(), found.end(), [](const ColumnDependence& a, const ColumnDependence& b) {
    return a.mutual_information > b.mutual_information;
  });
  found.resize(std::min(found.size(), kMostPairs));
  return dependence_json(run, found);
}

}  // namespace

ordered_json report_questions(const SavedRun& run, std::span<const std::size_t> columns) {
  return {{"unusual", unusual(run)}, {"dependence", dependence(run, columns)}};
}

}  // namespace coppice
