// Rows with weights beside the table in which they are repeated one by one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/family/tied_copies.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {

struct CopiedRows {
  /// Weights go round: row i has counts[i % counts.size()] copies.
  CopiedRows(const Fixture& fixture, std::span<const std::size_t> counts) : family(fixture.family().clone()) {
    const std::size_t width = fixture.rows.width;
    weighted.width = width + 1;
    weighted.has_copies = true;
    repeated.width = width;
    for (std::size_t row = 0; row < fixture.rows.size(); ++row) {
      copies.push_back(counts[row % counts.size()]);
      first.push_back(repeated.size());
      const double* cells = fixture.rows[row];
      weighted.cells.insert(weighted.cells.end(), cells, cells + width);
      weighted.cells.push_back(static_cast<double>(copies.back()));
      for (std::size_t copy = 0; copy < copies.back(); ++copy)
        repeated.cells.insert(repeated.cells.end(), cells, cells + width);
    }
  }

  TiedCopies family;
  Rows weighted, repeated;
  std::vector<std::size_t> copies;  // of each row
  std::vector<std::size_t> first;   // place of each row's first copy

  /// Labels of the repeated rows, each that of its row.
  std::vector<std::int32_t> labels_of_copies(std::span<const std::int32_t> labels) const {
    std::vector<std::int32_t> all;
    for (std::size_t row = 0; row < labels.size(); ++row) all.insert(all.end(), copies[row], labels[row]);
    return all;
  }
  /// The repeated rows of some rows.
  std::vector<std::uint32_t> copies_of(std::span<const std::uint32_t> rows) const {
    std::vector<std::uint32_t> all;
    for (const std::uint32_t row : rows)
      for (std::size_t copy = 0; copy < copies[row]; ++copy)
        all.push_back(static_cast<std::uint32_t>(first[row] + copy));
    return all;
  }
};

}  // namespace coppice::test
