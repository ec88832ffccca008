#include "coppice/post/cell_grid.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/post/interval.hpp"
#include "coppice/post/units.hpp"

namespace coppice {
namespace {

/// Counts up to it are enumerated.
constexpr double kLargestList = 500.0;

const FamilyEntry& family_of_cell(const SavedRun& run, std::size_t cell) {
  const FamilyPlan& plan = run.setup().plan;
  for (const FamilyPlan::Block& block : plan.blocks)
    if (std::find(block.columns.begin(), block.columns.end(), plan.order[cell]) != block.columns.end())
      return family_by_name(block.family);
  fail(ErrorCode::bug, "a cell without a family");
}

/// Evenly spaced numbers and quantiles, with a tail at either end whose steps double.
std::vector<double> nodes_of(std::vector<double> values, std::size_t nodes) {
  std::sort(values.begin(), values.end());
  double low = values.front();
  double high = values.back();
  if (!(high > low)) {
    low -= 0.5 * std::max(1.0, std::abs(low));
    high += 0.5 * std::max(1.0, std::abs(high));
  }
  const std::size_t half = std::max<std::size_t>(nodes / 2, 8);
  const double step = (high - low) / static_cast<double>(half);
  std::vector<double> result;
  for (std::size_t k = 0; k <= half; ++k) result.push_back(low + step * static_cast<double>(k));
  for (std::size_t k = 0; k < half; ++k) {
    const double place =
        (static_cast<double>(k) + 0.5) / static_cast<double>(half) * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double above = values[std::min(below + 1, values.size() - 1)];
    result.push_back(values[below] + (place - static_cast<double>(below)) * (above - values[below]));
  }
  double far = step;
  for (int k = 0; k < 6; ++k, far *= 2.0) {
    result.push_back(low - far);
    result.push_back(high + far);
  }
  std::sort(result.begin(), result.end());
  result.erase(
      std::unique(result.begin(), result.end(), [&](double a, double b) { return b - a < 1e-6 * step; }),
      result.end());
  return result;
}

void add_nodes(std::vector<double> values, std::size_t nodes, bool whole, CellGrid& grid) {
  std::vector<double> places = nodes_of(std::move(values), nodes);
  if (whole) {
    for (double& place : places) place = std::max(0.0, std::round(place));
    places.erase(std::unique(places.begin(), places.end()), places.end());
  }
  for (std::size_t k = 0; k < places.size(); ++k) {
    const double left = k > 0 ? places[k - 1] : places[k];
    const double right = k + 1 < places.size() ? places[k + 1] : places[k];
    grid.values.push_back(places[k]);
    grid.log_widths.push_back(std::log(std::max(0.5 * (right - left), whole ? 1.0 : 0.0)));
  }
}

}  // namespace

std::size_t cell_of_column(const SavedRun& run, std::size_t column) {
  const std::vector<std::size_t>& order = run.setup().plan.order;
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), column) - order.begin());
}

void need_gaps(const SavedRun& run, const char* what) {
  if (run.contents().has_weights())
    fail(ErrorCode::configuration,
         "{}: {} needs rows of which only some cells are known, but rows with weights must be complete; fit "
         "without "
         "--weights",
         run.file().path(), what);
  for (const FamilyPlan::Block& block : run.setup().plan.blocks)
    if (!family_by_name(block.family).gaps_in_new_rows)
      fail(
          ErrorCode::configuration,
          "{}: {} needs rows of which only some cells are known, but family {} needs complete rows; fit with "
          "another --family",
          run.file().path(), what, block.family);
}

CellGrid make_cell_grid(const SavedRun& run, std::size_t cell, std::size_t nodes) {
  const Column& column = run.table().columns[run.setup().plan.order[cell]];
  const Support support = family_of_cell(run, cell).support;
  const Rows& rows = run.setup().rows;
  CellGrid grid;
  if (support == Support::levels || (column.kind == Kind::binary && support == Support::bounded_counts)) {
    grid.discrete = true;
    const std::size_t levels = std::max<std::size_t>(column.levels.size(), 2);
    for (std::size_t level = 0; level < levels; ++level) {
      grid.values.push_back(static_cast<double>(level));
      grid.log_widths.push_back(0.0);
    }
    return grid;
  }
  std::vector<double> present;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (std::isfinite(rows[row][cell])) present.push_back(rows[row][cell]);
  if (run.setup().plan.encodings[cell].spike) {
    grid.values.push_back(kMinusInfinity);
    grid.log_widths.push_back(0.0);
  }
  const bool whole = support == Support::counts || support == Support::bounded_counts;
  const double largest = present.empty() ? 0.0 : *std::max_element(present.begin(), present.end());
  if (whole && 2.0 * largest + 10.0 <= kLargestList) {
    grid.discrete = true;
    for (double value = 0.0; value <= 2.0 * largest + 10.0; value += 1.0) {
      grid.values.push_back(value);
      grid.log_widths.push_back(0.0);
    }
    return grid;
  }
  if (!present.empty()) add_nodes(std::move(present), nodes, whole, grid);
  return grid;
}

ImputedCell summarize_grid(const SavedRun& run, std::size_t cell, const CellGrid& grid,
                           std::span<const double> log_masses) {
  const FamilyPlan& plan = run.setup().plan;
  ImputedCell result;
  result.column = plan.order[cell];
  const Column& column = run.table().columns[result.column];
  const OriginalUnits units =
      original_units(transform_from_json(run.contents().transform), run.table())[result.column];
  const double log_total = log_sum_exp(log_masses);
  std::vector<double> mass;
  for (const double log_mass : log_masses) mass.push_back(std::exp(log_mass - log_total));
  const auto best = static_cast<std::size_t>(std::max_element(mass.begin(), mass.end()) - mass.begin());
  if (column.kind == Kind::binary || column.kind == Kind::category) {
    result.probabilities = mass;
    result.level = best < column.levels.size() ? column.levels[best] : fmt::format("{}", best);
    result.probability = mass[best];
    if (column.kind == Kind::category) return result;
    result.mean = mass[1];
    result.sd = std::sqrt(result.mean * (1.0 - result.mean));
    return result;
  }
  const Encoding& encoding = plan.encodings[cell];
  const auto decoded = [&](double value) {
    return units.location(encoding.decode(value + plan.family->origin(cell)));
  };
  const auto quantile = [&](double p) {
    double sum = 0.0;
    for (std::size_t k = 0; k < mass.size(); ++k) {
      if (sum + mass[k] >= p || k + 1 == mass.size()) {
        if (grid.discrete || std::isinf(grid.values[k])) return decoded(grid.values[k]);
        // The mass of a node lies halfway to its neighbors on both sides.
        const double left = k > 0 && std::isfinite(grid.values[k - 1])
                                ? 0.5 * (grid.values[k - 1] + grid.values[k])
                                : grid.values[k];
        const double right =
            k + 1 < mass.size() ? 0.5 * (grid.values[k] + grid.values[k + 1]) : grid.values[k];
        const double share = mass[k] > 0.0 ? std::clamp((p - sum) / mass[k], 0.0, 1.0) : 0.0;
        return decoded(left + share * (right - left));
      }
      sum += mass[k];
    }
    return kMissing;
  };
  result.median = quantile(0.5);
  result.low = quantile(kIntervalTail);
  result.high = quantile(1.0 - kIntervalTail);
  if (encoding.spike) result.probability_of_spike = mass.front();
  if (grid.discrete) {
    result.level = fmt::format("{}", decoded(grid.values[best]));
    result.probability = mass[best];
  }
  if (encoding.log) return result;
  double mean = 0.0;
  for (std::size_t k = 0; k < mass.size(); ++k) mean += mass[k] * decoded(grid.values[k]);
  double variance = 0.0;
  for (std::size_t k = 0; k < mass.size(); ++k)
    variance += mass[k] * (decoded(grid.values[k]) - mean) * (decoded(grid.values[k]) - mean);
  result.mean = mean;
  result.sd = std::sqrt(variance);
  return result;
}

}  // namespace coppice
