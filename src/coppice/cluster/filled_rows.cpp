#include "coppice/cluster/filled_rows.hpp"

#include <algorithm>
#include <utility>

namespace coppice {

FilledRows::FilledRows(const Family& family, const Rows& observed) : family_(&family), observed_(&observed) {
  for (std::size_t row = 0; row < observed.size(); ++row) {
    const std::size_t before = cells_.size();
    for (std::size_t j = 0; j < observed.width; ++j)
      if (is_missing(observed[row][j]) && family.must_fill(j))
        cells_.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(j)});
    if (cells_.size() != before) incomplete_.push_back(static_cast<std::uint32_t>(row));
  }
  if (!any()) return;
  is_incomplete_.assign(observed.size(), 0);
  for (const std::uint32_t row : incomplete_) is_incomplete_[row] = 1;
  reset();
}

void FilledRows::reset() {
  if (!any()) return;
  filled_ = *observed_;
  for (const Cell& cell : cells_) filled_[cell.row][cell.column] = 0.0;
}

void FilledRows::adopt(const Rows& complete) {
  if (any()) filled_ = complete;
}

double* FilledRows::start_filling(std::size_t row) {
  std::copy_n((*observed_)[row], filled_.width, filled_[row]);
  return filled_[row];
}

void FilledRows::draw(const double* stats, std::size_t row, Stream& stream) {
  family_->draw_missing(stats, stream, start_filling(row));
}

void FilledRows::redraw(Clusters& clusters, const StreamName& name) {
  for (const std::uint32_t row : incomplete_) {
    const Label own = clusters.label(row);
    if (own == Clusters::kUnassigned) continue;
    Stream stream(name, Purpose::missing, row);
    const bool alone = clusters.size(own) == 1;
    clusters.take_out(row);
    draw(alone ? clusters.empty_stats() : clusters.stats(own), row, stream);
    if (alone)
      clusters.move_to_new(row);
    else
      clusters.add(row, own);
  }
}

void FilledRows::get_cells(double* values) const {
  for (const Cell& cell : cells_) *values++ = filled_[cell.row][cell.column];
}

void FilledRows::set_cells(std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) filled_[cells_[i].row][cells_[i].column] = values[i];
}

std::size_t FilledRows::place_of(std::size_t row, std::size_t column) const {
  const auto at = std::lower_bound(cells_.begin(), cells_.end(), std::pair(row, column),
                                   [](const Cell& a, const std::pair<std::size_t, std::size_t>& b) {
                                     return std::pair<std::size_t, std::size_t>(a.row, a.column) < b;
                                   });
  const bool is_there = at != cells_.end() && at->row == row && at->column == column;
  return is_there ? static_cast<std::size_t>(at - cells_.begin()) : cells_.size();
}

void FilledRows::stats_without(std::size_t row, std::span<const Label> labels, const double* all,
                               std::vector<double>& others) const {
  others.assign(all, all + family_->stats_size());
  if (family_->remove(others.data(), rows()[row])) return;
  family_->clear(others.data());
  for (std::size_t other = 0; other < labels.size(); ++other)
    if (other != row && labels[other] == labels[row]) family_->add(others.data(), rows()[other]);
}

}  // namespace coppice
