#include "coppice/model/crosscat/view.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/math.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/family/tied_copies.hpp"

namespace coppice::crosscat {
namespace {

/// The family of the rows, of which a view is the sole owner.
std::unique_ptr<Family> copy_of_family(const Columns& table) {
  std::vector<std::size_t> all(table.count());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return family_of_cells(table.all(), table.table(), all);
}

// A view has room for all columns in each.
constexpr std::size_t kUsualSlots = 16;

}  // namespace

View::View(const Columns& table, const Crp& row_prior, const SplitMergeOptions& options)
    : table_(&table),
      row_prior_(&row_prior),
      family_(copy_of_family(table)),
      clusters_(*family_, table.table(), row_prior.log_join_table()),
      split_merge_(*family_, table.table(), row_prior, options),
      sets_(table.rows()),
      labels_(table.rows()),
      names_(table.rows()),
      log_marginal_alone_(table.rows()),
      before_(family_->hyper_size()),
      after_(family_->hyper_size()) {
  // Room for the usual number of clusters: most sweeps then never allocate.
  for (std::size_t row = 0; row < labels_.size(); ++row) labels_[row] = static_cast<Label>(row % kUsualSlots);
  family_->restrict_to({});
  clusters_.assign(labels_);
  cells_.reserve(table.count());
  added_.reserve(table.count());
}

std::size_t View::bytes(const Family& family, std::size_t rows, std::size_t slots) {
  return family.bytes() + 2 * family.hyper_size() * sizeof(double) +
         Clusters::bytes(family, rows, std::max(slots, kUsualSlots)) + SplitMerge::bytes(family) +
         2 * family.width() * sizeof(std::size_t);
}

void View::set(std::span<const std::size_t> cells, std::span<const Label> labels) {
  begin(labels);
  cells_.assign(cells.begin(), cells.end());
  added_ = cells_;
  refresh();
}

void View::rebuild() {
  number_rows(labels(), labels_);
  added_ = cells_;
  is_stale_ = true;
  refresh();
}

void View::begin(std::span<const Label> labels) {
  number_rows(labels, labels_);
  cells_.clear();
  added_.clear();
  sets_.assign(labels_);
  is_stale_ = true;
}

/// Numbered by first appearance, so that no slot is empty.
void View::number_rows(std::span<const Label> labels, Labels& out) {
  names_.assign(labels.size(), -1);
  out.resize(labels.size());
  Label next = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    Label& name = names_[static_cast<std::size_t>(labels[row])];
    if (name < 0) name = next++;
    out[row] = name;
  }
}

void View::change_columns() {
  if (!is_stale_) std::copy(clusters_.labels().begin(), clusters_.labels().end(), labels_.begin());
  is_stale_ = true;
}

void View::add_column(std::size_t column) {
  change_columns();
  cells_.insert(std::lower_bound(cells_.begin(), cells_.end(), column), column);
  added_.insert(std::lower_bound(added_.begin(), added_.end(), column), column);
}

void View::remove_column(std::size_t column) {
  change_columns();
  cells_.erase(std::lower_bound(cells_.begin(), cells_.end(), column));
}

void View::refresh() {
  if (!is_stale_) return;
  is_stale_ = false;
  // The rows are in the slots they were in, so the statistics of the columns that stay are still theirs. A
  // column that came and left again costs its counting and does no harm. What rows with copies keep of a
  // cluster is about all columns together.
  family_->restrict_to(table_->table().has_copies ? cells_ : added_);
  if (!before_.empty())
    for (const std::size_t cell : added_) family_->set_cell_hyper(cell, table_->hyper(cell));
  clusters_.assign(labels_);
  family_->restrict_to(cells_);
  added_.clear();
  sum_log_alone();
}

void View::sum_log_alone() {
  for (std::size_t row = 0; row < log_marginal_alone_.size(); ++row)
    log_marginal_alone_[row] = log_more_seats(1.0, table_->table().copies_of(row));
  for (const std::size_t cell : cells_) (*table_)[cell].add_log_alone(log_marginal_alone_);
}

double View::log_joint() const {
  // The seats of copies are in the marginals of their clusters, but for those of all together.
  const double rows = row_prior_->alpha() + static_cast<double>(table_->rows());
  const double copies = row_prior_->alpha() + table_->copies();
  return row_prior_->log_partition(clusters_.sizes()) + clusters_.log_marginal() -
         log_more_seats(rows, copies);
}

void View::gibbs(GibbsSweep& sweep, Stream& stream) {
  const double log_open = row_prior_->log_open();
  for (std::size_t row = 0; row < log_marginal_alone_.size(); ++row)
    sweep.update(clusters_, row, draw_uniform(stream), log_open + log_marginal_alone_[row]);
}

void View::update_hyper(Columns& table, double power, Stream& stream) {
  occupied_.clear();
  for (std::size_t slot = 0; slot < clusters_.sizes().size(); ++slot)
    if (clusters_.sizes()[slot] != 0) occupied_.push_back(clusters_.stats(static_cast<Label>(slot)));
  family_->get_hyper(before_.data());
  family_->update_hyper(occupied_, stream, power);
  family_->get_hyper(after_.data());
  for (const std::size_t cell : cells_) table.set_hyper(cell, after_.data() + table.first_hyper(cell));
  clusters_.rebase(before_.data());
  sum_log_alone();
}

void View::allocate(std::span<const std::size_t> cells, std::span<const std::uint32_t> order,
                    GibbsSweep& sweep, Stream& stream) {
  std::fill(labels_.begin(), labels_.end(), Clusters::kUnassigned);
  is_stale_ = true;
  cells_.assign(cells.begin(), cells.end());
  added_ = cells_;
  refresh();
  const double log_open = row_prior_->log_open();
  for (const std::uint32_t row : order)
    sweep.update(clusters_, row, draw_uniform(stream), log_open + log_marginal_alone_[row]);
}

/// Into place_: for each cluster that comes, in turn by the most shared rows, the one it shares them with.
void View::match_names(std::span<const Label> before, std::span<const Label> after) {
  const auto count = [](std::span<const Label> labels) {
    return static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1;
  };
  const std::size_t befores = count(before);
  const std::size_t afters = count(after);
  shared_.assign(befores * afters, 0);
  for (std::size_t row = 0; row < before.size(); ++row)
    ++shared_[static_cast<std::size_t>(before[row]) * afters + static_cast<std::size_t>(after[row])];
  overlaps_.clear();
  for (std::size_t i = 0; i < shared_.size(); ++i)
    if (shared_[i] != 0)
      overlaps_.push_back(
          {shared_[i], static_cast<std::uint32_t>(i / afters), static_cast<std::uint32_t>(i % afters)});
  std::sort(overlaps_.begin(), overlaps_.end(), [](const Overlap& a, const Overlap& b) {
    if (a.rows != b.rows) return a.rows > b.rows;
    return a.before != b.before ? a.before < b.before : a.after < b.after;
  });
  place_.assign(afters, Clusters::kUnassigned);
  taker_.assign(befores, Clusters::kUnassigned);
  for (const Overlap& overlap : overlaps_) {
    if (place_[overlap.after] != Clusters::kUnassigned || taker_[overlap.before] != Clusters::kUnassigned)
      continue;
    place_[overlap.after] = static_cast<Label>(overlap.before);
    taker_[overlap.before] = static_cast<Label>(overlap.after);
  }
}

void View::reserve_scans() {
  constexpr std::size_t kUsual = 32;
  weights_.resize(2 * kUsual);
  shared_.reserve(kUsual * kUsual);
  overlaps_.reserve(kUsual * kUsual);
  place_.reserve(labels_.size());
  taker_.reserve(labels_.size());
  is_fresh_.reserve(labels_.size() + 1);
}

double View::scan(std::span<const std::uint32_t> order, double power, const Label* goal, Stream& stream,
                  const std::atomic<bool>* stop) {
  number_rows(clusters_.labels(), before_scan_);
  clusters_.assign(before_scan_);
  is_fresh_.assign(before_scan_.size() + 1, 0);
  if (goal != nullptr) {
    number_rows({goal, before_scan_.size()}, after_scan_);
    match_names(before_scan_, after_scan_);
  }
  const double log_open = row_prior_->log_open();
  double log_q = 0.0;
  for (const std::uint32_t row : order) {
    throw_if_stopped(stop);
    const std::size_t slots = clusters_.sizes().size();
    if (const std::size_t needed = clusters_.weights_size() + 1; weights_.size() < needed)
      weights_.resize(2 * needed);
    clusters_.log_conditional(row, weights_.data());
    weights_[slots] = log_open + log_marginal_alone_[row];
    const std::span<double> weights(weights_.data(), slots + 1);
    for (double& weight : weights) weight *= power;
    const double log_sum = log_sum_exp(weights);
    const Label own = clusters_.label(row);
    const bool is_alone = clusters_.size(own) == 1;
    std::size_t chosen = slots;
    Label* place = nullptr;
    if (goal == nullptr) {
      double left = draw_uniform(stream);
      for (chosen = 0; chosen < slots; ++chosen) {
        left -= std::exp(weights[chosen] - log_sum);
        if (left < 0.0) break;
      }
    } else {
      // A row alone in the cluster that it is to stay in opens it again.
      place = &place_[static_cast<std::size_t>(after_scan_[row])];
      if (*place != Clusters::kUnassigned && !(*place == own && is_alone))
        chosen = static_cast<std::size_t>(*place);
    }
    log_q += weights[chosen] - log_sum;
    if (chosen != slots) {
      clusters_.move(row, static_cast<Label>(chosen));
      continue;
    }
    const Label opened = clusters_.move_to_new(row);
    if (!is_alone) is_fresh_[static_cast<std::size_t>(opened)] = 1;
    if (place != nullptr) *place = opened;
  }
  if (goal != nullptr) return log_q;
  // The way of a goal is this one only if names agree.
  number_rows(clusters_.labels(), after_scan_);
  match_names(before_scan_, after_scan_);
  for (std::size_t row = 0; row < after_scan_.size(); ++row) {
    const Label slot = clusters_.label(row);
    const Label expected = is_fresh_[static_cast<std::size_t>(slot)] != 0 ? Clusters::kUnassigned : slot;
    if (place_[static_cast<std::size_t>(after_scan_[row])] != expected) return kMinusInfinity;
  }
  return log_q;
}

void View::split_merge(Stream& stream) { split_merge_.step(clusters_, log_marginal_alone_.size(), stream); }

}  // namespace coppice::crosscat
