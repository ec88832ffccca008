#include "coppice/model/crosscat/relatives.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "coppice/base/math.hpp"
#include "coppice/base/stop.hpp"

namespace coppice::crosscat {
namespace {

/// Clusters made for a column: fewer if there are many rows, which say enough by themselves.
std::size_t clusterings(std::size_t rows) {
  constexpr std::size_t kCells = 20'000;
  return std::clamp<std::size_t>(kCells / std::max<std::size_t>(rows, 1), 4, 32);
}

/// Gains that are kept: of all columns if these are few, else of those that were asked for last.
constexpr std::size_t kMostKept = 2'000'000;
constexpr std::size_t kLeastKept = 4;

}  // namespace

Relatives::Relatives(const Family& family, const Rows& rows, double alpha, const std::atomic<bool>* stop)
    : family_(&family), rows_(&rows), alpha_(alpha), stop_(stop) {}

void Relatives::data_changed() { columns_.reset(); }

void Relatives::make_clusters(std::size_t column, const StreamName& name) {
  Stream stream({name.seed, name.chain, 0}, Purpose::guide, column);
  std::vector<std::uint32_t> order(rows_->size());
  std::iota(order.begin(), order.end(), 0U);
  log_weights_.clear();
  for (Allocation& made : made_) {
    shuffle(stream, order);
    (*columns_)[column].allocate({order, alpha_}, stream, made);
    log_weights_.push_back(made.log_joint - made.log_q);
  }
}

void Relatives::begin(const StreamName& name) {
  columns_ = std::make_unique<Columns>(*family_, *rows_, stop_);
  name_ = name;
  made_.resize(clusterings(rows_->size()));
  gains_.assign(columns_->count(), {});
  kept_.clear();
  log_alone_.clear();
  for (std::size_t other = 0; other < columns_->count(); ++other) {
    throw_if_stopped(stop_);
    make_clusters(other, name);
    log_alone_.push_back(log_sum_exp(log_weights_) - std::log(static_cast<double>(made_.size())));
  }
}

std::span<const double> Relatives::gains(std::size_t column, const StreamName& name) {
  const bool is_begun = columns_ != nullptr && log_alone_.size() == columns_->count();
  if (!is_begun || name.seed != name_.seed || name.chain != name_.chain) begin(name);
  if (!gains_[column].empty()) return gains_[column];
  make_clusters(column, name);
  const double log_total = log_sum_exp(log_weights_);
  std::vector<double> gains(columns_->count(), kMinusInfinity);
  RowSets sets(rows_->size());
  for (std::size_t k = 0; k < made_.size(); ++k) {
    throw_if_stopped(stop_);
    sets.assign(made_[k].labels);
    for (std::size_t other = 0; other < gains.size(); ++other)
      if (other != column)
        gains[other] =
            log_add_exp(gains[other], log_weights_[k] - log_total + (*columns_)[other].log_marginal(sets));
  }
  for (std::size_t other = 0; other < gains.size(); ++other)
    if (other != column) gains[other] -= log_alone_[other];
  if (kept_.size() >= std::max(kMostKept / gains.size(), kLeastKept)) {
    std::vector<double>().swap(gains_[kept_.front()]);
    kept_.pop_front();
  }
  kept_.push_back(column);
  gains_[column] = std::move(gains);
  return gains_[column];
}

std::size_t Relatives::bytes(std::size_t columns) {
  return std::min(std::max(kMostKept, kLeastKept * columns), columns * columns) * sizeof(double);
}

}  // namespace coppice::crosscat
