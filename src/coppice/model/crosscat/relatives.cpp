#include "coppice/model/crosscat/relatives.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/math.hpp"

namespace coppice::crosscat {
namespace {

/// Clusters made for a column: fewer if there are many rows, which say enough by themselves.
std::size_t clusterings(std::size_t rows) {
  constexpr std::size_t kCells = 20'000;
  return std::clamp<std::size_t>(kCells / std::max<std::size_t>(rows, 1), 4, 32);
}

}  // namespace

Relatives::Relatives(const Family& family, const Rows& rows, double alpha)
    : family_(&family), rows_(&rows), alpha_(alpha) {}

void Relatives::data_changed() {
  columns_.reset();
  gains_.clear();
}

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

std::span<const double> Relatives::gains(std::size_t column, const StreamName& name) {
  if (columns_ == nullptr || name.seed != name_.seed || name.chain != name_.chain) {
    columns_ = std::make_unique<Columns>(*family_, *rows_);
    name_ = name;
    made_.resize(clusterings(rows_->size()));
    gains_.assign(columns_->count(), {});
    log_alone_.clear();
    for (std::size_t other = 0; other < columns_->count(); ++other) {
      make_clusters(other, name);
      log_alone_.push_back(log_sum_exp(log_weights_) - std::log(static_cast<double>(made_.size())));
    }
  }
  std::vector<double>& gains = gains_[column];
  if (!gains.empty()) return gains;
  make_clusters(column, name);
  const double log_total = log_sum_exp(log_weights_);
  gains.assign(columns_->count(), kMinusInfinity);
  RowSets sets(rows_->size());
  for (std::size_t k = 0; k < made_.size(); ++k) {
    sets.assign(made_[k].labels);
    for (std::size_t other = 0; other < gains.size(); ++other)
      if (other != column)
        gains[other] =
            log_add_exp(gains[other], log_weights_[k] - log_total + (*columns_)[other].log_marginal(sets));
  }
  for (std::size_t other = 0; other < gains.size(); ++other)
    if (other != column) gains[other] -= log_alone_[other];
  return gains;
}

}  // namespace coppice::crosscat
