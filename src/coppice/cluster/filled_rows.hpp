// The rows of a chain where some families need complete rows: a copy in which every missing cell of such a
// family carries its current value. These values are part of the chain's state. A row that changes its
// cluster does so with its missing cells integrated out; they are then redrawn given the new cluster. This is
// a joint Gibbs update of label and cells. All other moves treat the values as data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"

namespace coppice {

class FilledRows {
 public:
  /// Missing cells begin at the column's origin. `observed` and `family` must outlive it.
  FilledRows(const Family& family, const Rows& observed);

  /// The rows as clusters see them: `observed` itself if no cell has to be filled in.
  const Rows& rows() const { return incomplete_.empty() ? *observed_ : filled_; }
  const Rows& observed() const { return *observed_; }
  bool any() const { return !incomplete_.empty(); }
  bool is_incomplete(std::size_t row) const { return !any() ? false : is_incomplete_[row] != 0; }
  std::span<const std::uint32_t> incomplete() const { return incomplete_; }

  /// Draws the cells of a row that is in no cluster, given the rows in `stats`.
  void draw(const double* stats, std::size_t row, Stream& stream);
  /// The cells of an incomplete row, those to be filled in missing again: the caller fills them in.
  double* start_filling(std::size_t row);
  /// Draws the cells of all incomplete rows, one after the other, each given the others of its cluster.
  void redraw(Clusters& clusters, const StreamName& name);
  /// Takes in new present cells of the observed rows: what is missing stays missing and begins at the origin.
  void reset();
  /// Takes the cells of complete rows; those that are missing in the observed rows keep the values.
  void adopt(const Rows& complete);

  /// The filled cells, row after row.
  std::size_t cells_size() const { return cells_.size(); }
  void get_cells(double* values) const;
  void set_cells(std::span<const double> values);
  struct Cell {
    std::uint32_t row, column;
  };
  std::span<const Cell> cells() const { return cells_; }
  /// The place of a cell among them; cells_size() if it is none of them.
  std::size_t place_of(std::size_t row, std::size_t column) const;
  /// Statistics of the rows with the same label but for this one; `all` are those with it.
  void stats_without(std::size_t row, std::span<const Label> labels, const double* all,
                     std::vector<double>& others) const;

 private:
  const Family* family_;
  const Rows* observed_;
  Rows filled_;
  std::vector<std::uint32_t> incomplete_;
  std::vector<std::uint8_t> is_incomplete_;
  std::vector<Cell> cells_;
};

}  // namespace coppice
