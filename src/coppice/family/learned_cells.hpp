// The learned hyper-parameters of a block of cells (see hyper.hpp), one cell after the other; nothing if such
// cells do not learn.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/base/rng.hpp"

namespace coppice {

template <typename Cell>
struct LearnedCells {
  static constexpr bool kLearns = requires(Cell& cell, Stream& stream) { cell.draw_hyper_prior(stream); };

  static std::size_t size_of(const Cell& cell) {
    if constexpr (kLearns)
      return cell.hyper_size();
    else
      return 0;
  }
  static std::size_t slices_of(const Cell& cell) {
    if constexpr (requires { cell.hyper_slices(); })
      return cell.hyper_slices();
    else
      return size_of(cell);
  }
  static std::size_t size(const std::vector<Cell>& cells) {
    std::size_t total = 0;
    for (const Cell& cell : cells) total += size_of(cell);
    return total;
  }
  /// Tables have a logarithm and a log-gamma for each entry, or a difference of log-gammas.
  static std::size_t table_bytes(const std::vector<Cell>& cells) {
    std::size_t total = 0;
    if constexpr (kLearns)
      for (const Cell& cell : cells)
        if (cell.hyper_size() != 0) total += 2 * sizeof(double) * cell.hyper_table_size();
    return total;
  }
  static void get(const std::vector<Cell>& cells, double* values) {
    if constexpr (kLearns)
      for (const Cell& cell : cells) {
        if (cell.hyper_size() == 0) continue;
        cell.get_hyper(values);
        values += cell.hyper_size();
      }
  }
  static void set(std::vector<Cell>& cells, const double* values, std::string_view family) {
    for (Cell& cell : cells) {
      set(cell, values, family);
      values += size_of(cell);
    }
  }
  static void set(Cell& cell, const double* values, std::string_view family) {
    if constexpr (kLearns) {
      const std::size_t count = cell.hyper_size();
      if (count == 0) return;
      for (std::size_t i = 0; i < count; ++i)
        if (!std::isfinite(values[i]) || !Cell::is_valid_hyper(i, values[i]))
          fail(ErrorCode::bad_data, "the hyper-parameter {} of {} cannot be {}", cell.hyper_names()[i],
               family, values[i]);
      // Tables are not filled again for values that they already have.
      if (!has(cell, values)) cell.set_hyper(values);
    }
  }
  static bool has(const Cell& cell, const double* values) {
    if constexpr (requires { cell.has_hyper(values); }) {
      return cell.has_hyper(values);
    } else {
      constexpr std::size_t kMostHyper = 8;
      double present[kMostHyper];
      cell.get_hyper(present);
      return std::equal(present, present + cell.hyper_size(), values);
    }
  }
  static std::vector<std::string> names(const std::vector<Cell>& cells,
                                        const std::vector<std::string>& columns) {
    std::vector<std::string> list;
    if constexpr (kLearns)
      for (std::size_t j = 0; j < cells.size(); ++j)
        if (cells[j].hyper_size() != 0)
          for (const std::string& own : cells[j].hyper_names()) list.push_back(columns[j] + "." + own);
    return list;
  }
  static double log_prior(const std::vector<Cell>& cells) {
    double total = 0.0;
    if constexpr (kLearns)
      for (const Cell& cell : cells)
        if (cell.hyper_size() != 0) total += cell.log_hyper_prior();
    return total;
  }
  static void draw_prior(std::vector<Cell>& cells, Stream& stream) {
    if constexpr (kLearns)
      for (Cell& cell : cells)
        if (cell.hyper_size() != 0) cell.draw_hyper_prior(stream);
  }
  static void update(Cell& cell, std::span<const double* const> clusters, Stream& stream, double power) {
    if constexpr (kLearns)
      if (cell.hyper_size() != 0) cell.update_hyper(clusters, stream, power);
  }

  /// How many of the places' cells to update, so that on average it takes a fifth of a sweep. That depends on
  /// the clusters alone, never on the hyper-parameters, so the law of these is left invariant.
  template <typename Places>
  static std::size_t updates_per_call(const Places& places, std::span<const double* const> clusters,
                                      Stream& stream) {
    constexpr double kShare = 0.2;
    // In units of one cell of a row under eight clusters; two of them go by whatever the clusters are.
    constexpr double kSliceCost = 300.0;  // of eight clusters and one hyper-parameter
    constexpr double kTableEntryCost = 2.0;
    constexpr double kOfEveryCell = 2.0;
    const double chunks = std::ceil(static_cast<double>(clusters.size()) / static_cast<double>(kLanes));
    double rows = 0.0;
    for (const double* stats : clusters) rows += stats[0];
    double cost = 0.0;
    for (const auto& at : places) {
      cost += kSliceCost * chunks * static_cast<double>(slices_of(*at.cell));
      if constexpr (kLearns) cost += kTableEntryCost * static_cast<double>(at.cell->hyper_table_size());
    }
    const auto columns = static_cast<double>(places.size());
    const double sweep = rows * (chunks + kOfEveryCell) * columns;
    const double updates = std::max(kShare * sweep * columns / cost, 1.0);
    if (updates >= columns) return places.size();
    const double whole = std::floor(updates);
    return static_cast<std::size_t>(whole) + (draw_uniform(stream) < updates - whole ? 1 : 0);
  }
};

}  // namespace coppice
