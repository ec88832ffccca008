#include "coppice/family/spread_ties.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/base/row_uniforms.hpp"

namespace coppice {
namespace {

/// Differences below this share of the column's range are rounding of equal values.
constexpr double kSame = 1e-9;

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// Rows with a value, by it; ties in the order of the rows.
std::vector<std::uint32_t> sorted_rows(const std::vector<double>& values) {
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_missing(values[i])) order.push_back(static_cast<std::uint32_t>(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
  return order;
}

/// The values of a column in their order, and the smallest step between different ones.
struct SortedColumn {
  explicit SortedColumn(const Column& column)
      : values(column.values),
        order(sorted_rows(column.values)),
        range(order.empty() ? 0.0 : values[order.back()] - values[order.front()]) {}

  bool is_same(std::size_t a, std::size_t b) const {
    return values[order[b]] - values[order[a]] <= kSame * range;
  }
  double smallest_step() const {
    double step = range;
    for (std::size_t i = 1; i < order.size(); ++i)
      if (!is_same(i - 1, i)) step = std::min(step, values[order[i]] - values[order[i - 1]]);
    return step;
  }
  bool has_ties() const {
    for (std::size_t i = 1; i < order.size(); ++i)
      if (is_same(i - 1, i)) return true;
    return false;
  }

  const std::vector<double>& values;
  std::vector<std::uint32_t> order;
  double range;
};

/// `step` is what the values were rounded to, 0 if unknown; `set(row, value)` receives the spread values.
template <typename Set>
void spread_column(const Column& column, double step, Set&& set) {
  const SortedColumn sorted(column);
  const std::vector<double>& values = sorted.values;
  const std::vector<std::uint32_t>& order = sorted.order;
  if (order.size() < 2) return;
  const auto is_same = [&](std::size_t a, std::size_t b) { return sorted.is_same(a, b); };
  if (step <= 0.0) step = sorted.smallest_step();
  Stream stream({hash_of(column.name), 0, 0}, Purpose::ties);
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    for (end = begin + 1; end < order.size() && is_same(begin, end);) ++end;
    if (end - begin < 2) continue;
    // In random order: columns must not be spread in step with each other.
    std::vector<std::uint32_t> parts(end - begin);
    std::iota(parts.begin(), parts.end(), 0U);
    shuffle(stream, parts);
    for (std::size_t i = begin; i < end; ++i) {
      const double part = (parts[i - begin] + 0.5) / static_cast<double>(end - begin);
      set(order[i], values[order[i]] + (part - 0.5) * step);
    }
  }
}

/// Calls visit(block, i, place) for the columns that are spread: column i of the block, cell `place`.
template <typename Visit>
void for_each_spread_column(const FamilyPlan& plan, Visit&& visit) {
  std::size_t place = 0;
  for (std::size_t b = 0; b < plan.blocks.size(); ++b)
    for (std::size_t i = 0; i < plan.blocks[b].columns.size(); ++i, ++place)
      if (plan.blocks[b].learned && plan.family->must_fill(place)) visit(b, i, place);
}

void set_cell(const FamilyPlan& plan, std::size_t place, std::size_t row, double value, Rows& rows) {
  const Encoding& encoding = plan.encodings[place];
  // The lower half of the interval of a positive number may reach below zero.
  if (!encoding.log || value > 0.0) rows[row][place] = encoding.encode(value) - plan.family->origin(place);
}

}  // namespace

void spread_ties(const FamilyPlan& plan, const Table& table, Rows& rows) {
  for_each_spread_column(plan, [&](std::size_t b, std::size_t i, std::size_t place) {
    const FamilyPlan::Block& block = plan.blocks[b];
    spread_column(table.columns[block.columns[i]], block.resolutions[i],
                  [&](std::uint32_t row, double value) { set_cell(plan, place, row, value, rows); });
  });
}

void find_spreads(FamilyPlan& plan, const Table& sample) {
  for (FamilyPlan::Block& block : plan.blocks) block.spreads.assign(block.columns.size(), 0.0);
  for_each_spread_column(plan, [&](std::size_t b, std::size_t i, std::size_t) {
    FamilyPlan::Block& block = plan.blocks[b];
    const SortedColumn sorted(sample.columns[block.columns[i]]);
    if (sorted.has_ties())
      block.spreads[i] = block.resolutions[i] > 0.0 ? block.resolutions[i] : sorted.smallest_step();
  });
}

void spread_rows(const FamilyPlan& plan, const Table& table,
                 const std::function<std::uint64_t(std::size_t)>& number, Rows& rows) {
  for_each_spread_column(plan, [&](std::size_t b, std::size_t i, std::size_t place) {
    const FamilyPlan::Block& block = plan.blocks[b];
    const Column& column = table.columns[block.columns[i]];
    const double width = block.spreads[i];
    if (width == 0.0) return;
    const StreamName name{hash_of(column.name), 0, 0};
    for (std::size_t row = 0; row < column.values.size(); ++row) {
      if (is_missing(column.values[row])) continue;
      const double part = draw_row_uniform(name, Purpose::ties, number(row));
      set_cell(plan, place, row, column.values[row] + (part - 0.5) * width, rows);
    }
  });
}

}  // namespace coppice
