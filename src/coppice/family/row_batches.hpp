// Families as data-parallel samplers use them: many rows under a few drawn parameters, the statistics of many
// rows at once, and missing cells drawn given parameters. Rows stand side by side in lanes, so one
// instruction scores eight rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "coppice/base/rng.hpp"
#include "coppice/family/family.hpp"

namespace coppice {

/// Rows of a tile: cell j of its row i is at columns[j * kTileRows + i].
inline constexpr std::size_t kTileRows = 128;

/// The log likelihoods of rows under some parameters. One thread at a time.
class Likelihoods {
 public:
  virtual ~Likelihoods() = default;
  /// out[k * kTileRows + i] += log p(row i | parameters k), up to a term that depends on the row alone, for
  /// the first `count` rows of a tile (a multiple of kLanes).
  virtual void add(const double* columns, std::size_t count, double* out) = 0;
};

class RowBatches {
 public:
  virtual ~RowBatches() = default;
  /// Of parameters one after the other, as draw_theta writes them. The family must outlive the result and
  /// keep its hyper-parameters.
  virtual std::unique_ptr<Likelihoods> likelihoods(std::span<const double> thetas) const = 0;
  /// Adds the rows at rows + which[i] * stride, in that order.
  virtual void add_rows(double* stats, const double* rows, std::size_t stride,
                        std::span<const std::uint32_t> which) const = 0;
  /// Draws the missing cells that must be filled in, given the present ones and parameters.
  virtual void draw_missing_given(const double* /*theta*/, Stream& /*stream*/, double* /*row*/) const {}

 protected:
  RowBatches() = default;
  RowBatches(const RowBatches&) = default;
  RowBatches& operator=(const RowBatches&) = default;
};

/// The family's batches. Error{bug} for a family that has none.
const RowBatches& row_batches(const Family& family);

/// A logarithm that stays finite where a drawn probability has underflowed to zero.
inline double bounded_log(double log_probability) { return std::max(log_probability, -1e5); }

}  // namespace coppice
