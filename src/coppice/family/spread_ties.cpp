#include "coppice/family/spread_ties.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "coppice/base/rng.hpp"

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

/// `step` is what the values were rounded to, 0 if unknown; `set(row, value)` receives the spread values.
template <typename Set>
void spread_column(const Column& column, double step, Set&& set) {
  const std::vector<double>& values = column.values;
  const std::vector<std::uint32_t> order = sorted_rows(values);
  if (order.size() < 2) return;
  const double range = values[order.back()] - values[order.front()];
  const auto is_same = [&](std::size_t a, std::size_t b) {
    return values[order[b]] - values[order[a]] <= kSame * range;
  };
  if (step <= 0.0) {
    step = range;
    for (std::size_t i = 1; i < order.size(); ++i)
      if (!is_same(i - 1, i)) step = std::min(step, values[order[i]] - values[order[i - 1]]);
  }
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

}  // namespace

void spread_ties(const FamilyPlan& plan, const Table& table, Rows& rows) {
  std::size_t place = 0;
  for (const FamilyPlan::Block& block : plan.blocks)
    for (std::size_t i = 0; i < block.columns.size(); ++i, ++place) {
      if (!block.learned || !plan.family->must_fill(place)) continue;
      const Encoding& encoding = plan.encodings[place];
      const double origin = plan.family->origin(place);
      spread_column(table.columns[block.columns[i]], block.resolutions[i],
                    [&](std::uint32_t row, double value) {
                      // The lower half of the interval of a positive number may reach below zero.
                      if (!encoding.log || value > 0.0) rows[row][place] = encoding.encode(value) - origin;
                    });
    }
}

}  // namespace coppice
