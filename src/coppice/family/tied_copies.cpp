#include "coppice/family/tied_copies.hpp"

#include <cmath>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"

namespace coppice {

double log_more_seats(double rows, double copies) {
  return rows == copies ? 0.0 : log_gamma(copies) - log_gamma(rows);
}

namespace {

/// The difference that one more copy makes, a row of its own, against without it.
double log_next_seat(double rows, double copies) {
  return rows == copies ? 0.0 : std::log(copies) - std::log(rows);
}

}  // namespace

TiedCopies::TiedCopies(std::unique_ptr<Family> cells)
    : cells_(std::move(cells)), at_seat_(cells_->cache_size()), at_stats_(at_seat_ + 1) {}

double TiedCopies::copies_of(const double* row) const {
  const double copies = row[cells_->width()];
  return is_missing(copies) ? 1.0 : copies;  // a row of which nothing is known is one row
}

double TiedCopies::origin(std::size_t column) const {
  return column == cells_->width() ? 0.0 : cells_->origin(column);
}

void TiedCopies::clear(double* stats) const {
  stats[0] = 0.0;
  cells_->clear(stats + kCells);
}

void TiedCopies::add(double* stats, const double* row) const {
  stats[0] += 1.0;
  cells_->add_copies(stats + kCells, row, copies_of(row));
}

bool TiedCopies::remove(double* stats, const double* row) const {
  stats[0] -= 1.0;
  return cells_->remove_copies(stats + kCells, row, copies_of(row));
}

void TiedCopies::add_copies(double* stats, const double* row, double copies) const {
  stats[0] += copies;
  cells_->add_copies(stats + kCells, row, copies * copies_of(row));
}

bool TiedCopies::remove_copies(double* stats, const double* row, double copies) const {
  stats[0] -= copies;
  return cells_->remove_copies(stats + kCells, row, copies * copies_of(row));
}

void TiedCopies::merge(double* stats, const double* other) const {
  stats[0] += other[0];
  cells_->merge(stats + kCells, other + kCells);
}

double TiedCopies::log_marginal(const double* stats) const {
  return cells_->log_marginal(stats + kCells) + log_more_seats(stats[0], stats[1]);
}

double TiedCopies::log_predictive(const double* stats, const double* row) const {
  const double copies = copies_of(row);
  const double* of_cells = stats + kCells;
  // One copy may have missing cells that are integrated out.
  if (copies == 1.0) return cells_->log_predictive(of_cells, row) + log_next_seat(stats[0], stats[1]);
  return cells_->log_marginal_with(of_cells, row, copies) - cells_->log_marginal(of_cells) +
         log_more_seats(stats[0] + 1.0, stats[1] + copies) - log_more_seats(stats[0], stats[1]);
}

void TiedCopies::draw_theta(const double* stats, Stream& stream, double* theta) const {
  cells_->draw_theta(stats + kCells, stream, theta);
}

void TiedCopies::draw(const double* theta, Stream& stream, double* row) const {
  cells_->draw(theta, stream, row);
  row[cells_->width()] = 1.0;
}

double TiedCopies::log_likelihood(const double* theta, const double* row) const {
  return copies_of(row) * cells_->log_likelihood(theta, row);
}

void TiedCopies::fill_cache(const double* stats, double* cache) const {
  cells_->fill_cache(stats + kCells, cache);
  cache[at_seat_ * kLanes] = log_next_seat(stats[0], stats[1]);
  double* kept = cache + at_stats_ * kLanes;
  for (std::size_t j = 0; j < stats_size(); ++j, kept += kLanes) *kept = stats[j];
  *kept = log_marginal(stats);
}

void TiedCopies::add_seats(const double* cache, std::size_t stride, std::size_t chunks, const OwnCluster& own,
                           double* out) const {
  for (std::size_t slot = 0; slot < chunks * kLanes; ++slot)
    if (slot != own.slot) out[slot] += cache[slot / kLanes * stride + at_seat_ * kLanes + slot % kLanes];
  if (own.stats != nullptr) out[own.slot] += log_next_seat(own.stats[0] - 1.0, own.stats[1] - 1.0);
}

void TiedCopies::add_log_predictive(const double* row, const double* cache, std::size_t stride,
                                    std::size_t chunks, const OwnCluster& own, double* out) const {
  const double copies = copies_of(row);
  if (copies == 1.0) {
    const OwnCluster of_cells{own.slot, own.stats == nullptr ? nullptr : own.stats + kCells};
    cells_->add_log_predictive(row, cache, stride, chunks, of_cells, out);
    add_seats(cache, stride, chunks, own, out);
    return;
  }
  std::vector<double> stats(stats_size());
  for (std::size_t slot = 0; slot < chunks * kLanes; ++slot) {
    if (slot == own.slot) continue;
    const double* kept = cache + slot / kLanes * stride + at_stats_ * kLanes + slot % kLanes;
    for (double& value : stats) {
      value = *kept;
      kept += kLanes;
    }
    out[slot] += cells_->log_marginal_with(stats.data() + kCells, row, copies) +
                 log_more_seats(stats[0] + 1.0, stats[1] + copies) - *kept;
  }
  if (own.stats != nullptr)
    out[own.slot] += log_marginal(own.stats) - cells_->log_marginal_without(own.stats + kCells, row, copies) -
                     log_more_seats(own.stats[0] - 1.0, own.stats[1] - copies);
}

CellPredictive TiedCopies::predict_cell(const double* stats, std::size_t column) const {
  return cells_->predict_cell(stats + kCells, column);
}

double TiedCopies::cell_log_predictive(const double* stats, std::size_t column, double value) const {
  return cells_->cell_log_predictive(stats + kCells, column, value);
}

CellPredictive TiedCopies::predict_cell_given(const double* stats, const double* row,
                                              std::size_t column) const {
  return cells_->predict_cell_given(stats + kCells, row, column);
}

double TiedCopies::cell_log_predictive_given(const double* stats, const double* row, std::size_t column,
                                             double value) const {
  return cells_->cell_log_predictive_given(stats + kCells, row, column, value);
}

bool TiedCopies::must_fill(std::size_t column) const {
  return column < cells_->width() && cells_->must_fill(column);
}

void TiedCopies::draw_missing(const double* stats, Stream& stream, double* row) const {
  cells_->draw_missing(stats + kCells, stream, row);
}

void TiedCopies::add_log_predictive_of_present(const double* row, const double* cache, std::size_t stride,
                                               std::size_t chunks, double* out) const {
  if (copies_of(row) != 1.0)
    fail(ErrorCode::bug, "missing cells of {} copies of a row cannot be filled in", copies_of(row));
  cells_->add_log_predictive_of_present(row, cache, stride, chunks, out);
  add_seats(cache, stride, chunks, {}, out);
}

std::unique_ptr<Family> TiedCopies::clone() const { return std::make_unique<TiedCopies>(cells_->clone()); }

std::unique_ptr<Family> TiedCopies::with_independent_cells() const {
  std::unique_ptr<Family> independent = cells_->with_independent_cells();
  return independent ? std::make_unique<TiedCopies>(std::move(independent)) : nullptr;
}

void TiedCopies::update_hyper_at_power(std::span<const double* const> clusters, Stream& stream,
                                       double power) {
  of_cells_.clear();
  for (const double* stats : clusters) of_cells_.push_back(stats + kCells);
  cells_->update_hyper(of_cells_, stream, power);
}

std::unique_ptr<Family> family_of_cells(const Family& family, const Rows& rows,
                                        std::span<const std::size_t> cells) {
  std::unique_ptr<Family> chosen = family.of_cells(cells);
  if (chosen == nullptr || !rows.has_copies) return chosen;
  return std::make_unique<TiedCopies>(std::move(chosen));
}

}  // namespace coppice
