#include "coppice/shape/contingency.hpp"

#include <unordered_map>

#include "coppice/base/error.hpp"

namespace coppice {

std::size_t compact_labels(std::span<const Label> labels, std::span<Label> out) {
  Label largest = -1;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) fail(ErrorCode::usage, "label {} of row {} is negative", labels[i], i);
    largest = std::max(largest, labels[i]);
  }
  Label next = 0;
  if (static_cast<std::size_t>(largest) < 8 * labels.size() + 1024) {
    std::vector<Label> renamed(static_cast<std::size_t>(largest) + 1, -1);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      Label& name = renamed[static_cast<std::size_t>(labels[i])];
      if (name < 0) name = next++;
      out[i] = name;
    }
  } else {  // a few huge labels must not cost memory in proportion to their value
    std::unordered_map<Label, Label> renamed;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto [place, is_new] = renamed.try_emplace(labels[i], next);
      if (is_new) ++next;
      out[i] = place->second;
    }
  }
  return static_cast<std::size_t>(next);
}

double PairCounter::sum_over_cells(std::span<const Label> a, std::size_t a_clusters, std::span<const Label> b,
                                   std::size_t b_clusters, std::span<const double> value) {
  double sum = 0.0;
  if (a_clusters * b_clusters <= kDenseCells) {
    count_dense(a, b, b_clusters, a_clusters * b_clusters);
    for (const std::uint32_t count : table_) sum += value[count];
  } else {
    for_each_cell(a, a_clusters, b, b_clusters,
                  [&](std::size_t, std::size_t, std::size_t count) { sum += value[count]; });
  }
  return sum;
}

void PairCounter::overlaps(std::span<const Label> a, std::size_t a_clusters, std::span<const Label> b,
                           std::size_t b_clusters, std::span<std::uint32_t> out) {
  const std::size_t cells = a_clusters * b_clusters;
  if (cells <= std::max<std::size_t>(kDenseCells, 4 * a.size())) {
    count_dense(a, b, b_clusters, cells);
    for (std::size_t i = 0; i < a.size(); ++i) {
      out[i] = table_[static_cast<std::size_t>(a[i]) * b_clusters + static_cast<std::size_t>(b[i])];
    }
    return;
  }
  sort_pairs(a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t pair = static_cast<std::uint64_t>(a[i]) << 32 | static_cast<std::uint64_t>(b[i]);
    const auto [begin, end] = std::equal_range(pairs_.begin(), pairs_.end(), pair);
    out[i] = static_cast<std::uint32_t>(end - begin);
  }
}

void PairCounter::count_dense(std::span<const Label> a, std::span<const Label> b, std::size_t b_clusters,
                              std::size_t cells) {
  const auto cell_of = [&](std::size_t i) {
    return static_cast<std::size_t>(a[i]) * b_clusters + static_cast<std::size_t>(b[i]);
  };
  // Neighboring rows often share a cell, whose counts would wait for each other: four tables do not.
  constexpr std::size_t kTables = 4;
  if (cells * kTables > a.size()) {
    table_.assign(cells, 0);
    for (std::size_t i = 0; i < a.size(); ++i) ++table_[cell_of(i)];
    return;
  }
  table_.assign(cells * kTables, 0);
  std::uint32_t* const tables = table_.data();
  const std::size_t whole = a.size() / kTables * kTables;
  for (std::size_t i = 0; i < whole; i += kTables) {
    ++tables[cell_of(i)];
    ++tables[cells + cell_of(i + 1)];
    ++tables[2 * cells + cell_of(i + 2)];
    ++tables[3 * cells + cell_of(i + 3)];
  }
  for (std::size_t i = whole; i < a.size(); ++i) ++tables[cell_of(i)];
  for (std::size_t cell = 0; cell < cells; ++cell)
    tables[cell] += tables[cells + cell] + tables[2 * cells + cell] + tables[3 * cells + cell];
  table_.resize(cells);
}

void PairCounter::sort_pairs(std::span<const Label> a, std::span<const Label> b) {
  pairs_.resize(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    pairs_[i] = static_cast<std::uint64_t>(a[i]) << 32 | static_cast<std::uint64_t>(b[i]);
  }
  std::sort(pairs_.begin(), pairs_.end());
}

}  // namespace coppice
