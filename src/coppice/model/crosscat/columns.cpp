#include "coppice/model/crosscat/columns.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/family/registry.hpp"

namespace coppice::crosscat {

Columns::Columns(const Family& family, const Rows& rows, const std::atomic<bool>* stop)
    : family_(&family), rows_(&rows), copies_(rows.copies()), stop_(stop) {
  for (std::size_t column = 0; column < rows.data_width(); ++column) {
    throw_if_stopped(stop_);
    const std::size_t alone[] = {column};
    families_.push_back(family.of_cells(alone));
    if (families_.back() == nullptr)
      fail(ErrorCode::configuration,
           "crosscat divides columns into views, but the family {} models them jointly: use --family auto or "
           "{}",
           family.name(), automatic_family(Kind::real, false).name);
  }
  first_hyper_.push_back(0);
  for (const std::unique_ptr<Family>& own : families_)
    first_hyper_.push_back(first_hyper_.back() + own->hyper_size());
  hyper_.resize(first_hyper_.back());
  family.get_hyper(hyper_.data());
  columns_.resize(rows.data_width());
  data_changed();
}

void Columns::data_changed() {
  std::vector<double> cells(rows());
  std::vector<double> copies;
  for (std::size_t row = 0; rows_->has_copies && row < cells.size(); ++row)
    copies.push_back(rows_->copies_of(row));
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    throw_if_stopped(stop_);
    for (std::size_t row = 0; row < cells.size(); ++row) cells[row] = (*rows_)[row][column];
    columns_[column] = families_[column]->make_column(cells, copies);
  }
}

void Columns::set_hyper(std::span<const double> values) {
  for (std::size_t column = 0; column < columns_.size(); ++column)
    set_hyper(column, values.data() + first_hyper_[column]);
}

void Columns::set_hyper(std::size_t column, const double* values) {
  const std::size_t size = first_hyper_[column + 1] - first_hyper_[column];
  double* own = hyper_.data() + first_hyper_[column];
  if (std::equal(values, values + size, own)) return;
  families_[column]->set_hyper(values);
  columns_[column]->set_hyper(values);
  std::copy_n(values, size, own);
}

double Columns::log_hyper_prior() const {
  double total = 0.0;
  for (const std::unique_ptr<Family>& family : families_) total += family->log_hyper_prior();
  return total;
}

void Columns::draw_hyper_prior(Stream& stream) {
  std::vector<double> values;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const std::unique_ptr<Family> drawn = families_[column]->clone();
    drawn->draw_hyper_prior(stream);
    values.resize(drawn->hyper_size());
    drawn->get_hyper(values.data());
    set_hyper(column, values.data());
  }
}

}  // namespace coppice::crosscat
