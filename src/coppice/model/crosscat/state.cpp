#include "coppice/model/crosscat/state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"

namespace coppice::crosscat {
namespace {

std::vector<std::uint32_t> sizes_of(std::span<const Label> labels) {
  std::vector<std::uint32_t> sizes;
  for (const Label label : labels) {
    if (static_cast<std::size_t>(label) >= sizes.size()) sizes.resize(static_cast<std::size_t>(label) + 1, 0);
    ++sizes[static_cast<std::size_t>(label)];
  }
  return sizes;
}

/// Index i with probability proportional to exp(log_weights[i]).
std::size_t draw_log(Stream& stream, std::vector<double> log_weights) {
  const double top = *std::max_element(log_weights.begin(), log_weights.end());
  for (double& weight : log_weights) weight = std::exp(weight - top);
  return draw_categorical(stream, log_weights);
}

SplitMergeOptions with_power(SplitMergeOptions options, double power) {
  options.power = power;
  return options;
}

}  // namespace

Columns::Columns(const Family& family, const Rows& rows, const Options& options)
    : family_(&family),
      rows_(&rows),
      row_prior_(options.alpha_rows, rows.size()),
      column_prior_(options.alpha_columns, family.width()) {
  for (std::size_t column = 0; column < family.width(); ++column) {
    const std::size_t alone[] = {column};
    columns_.push_back({family.of_cells(alone), {}});
    if (columns_.back().family == nullptr)
      fail(ErrorCode::configuration,
           "crosscat divides columns into views, but the family {} joins them: use --family auto or "
           "gaussian-diagonal",
           family.name());
  }
  data_changed();
}

void Columns::data_changed() {
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    columns_[column].cells.clear();
    for (std::size_t row = 0; row < rows(); ++row) columns_[column].cells.push_back((*rows_)[row][column]);
  }
}

View::View(const Columns& table, std::vector<std::size_t> cells, std::span<const Label> labels,
           const SplitMergeOptions& options)
    : table_(&table),
      cells_(std::move(cells)),
      family_(table.all().of_cells(cells_)),
      rows_(std::make_unique<Rows>()) {
  rows_->width = cells_.size();
  rows_->cells.resize(table.rows() * cells_.size());
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t j = 0; j < cells_.size(); ++j) (*rows_)[row][j] = *table.cell(cells_[j], row);
  clusters_ = std::make_unique<Clusters>(*family_, *rows_, table.row_prior().log_join_table());
  clusters_->assign(labels);
  split_merge_ = std::make_unique<SplitMerge>(*family_, *rows_, table.row_prior(), options);
  std::vector<double> empty(family_->stats_size());
  family_->clear(empty.data());
  for (std::size_t row = 0; row < table.rows(); ++row)
    log_marginal_alone_.push_back(family_->log_predictive(empty.data(), (*rows_)[row]));
}

double View::log_joint() const {
  return table_->row_prior().log_partition(clusters_->sizes()) + clusters_->log_marginal();
}

void View::gibbs(GibbsSweep& sweep, Stream& stream) {
  const double log_open = table_->row_prior().log_open();
  for (std::size_t row = 0; row < log_marginal_alone_.size(); ++row)
    sweep.update(*clusters_, row, draw_uniform(stream), log_open + log_marginal_alone_[row]);
}

void View::split_merge(Stream& stream) { split_merge_->step(*clusters_, log_marginal_alone_.size(), stream); }

State::State(const Columns& table, const Options& options, double power)
    : table_(&table), options_(options), power_(power), gibbs_(power) {}

void State::set(const Views& views) {
  for (const std::unique_ptr<View>& view : views_) note(*view);
  views_.clear();
  for (std::size_t v = 0; v < views.count(); ++v) {
    std::vector<std::size_t> cells;
    for (std::size_t column = 0; column < views.columns.size(); ++column)
      if (views.columns[column] == static_cast<Label>(v)) cells.push_back(column);
    views_.push_back(std::make_unique<View>(*table_, std::move(cells), views.rows[v],
                                            with_power(options_.split_merge, power_)));
  }
}

Views State::views() const {
  std::vector<const View*> sorted;
  for (const std::unique_ptr<View>& view : views_) sorted.push_back(view.get());
  std::sort(sorted.begin(), sorted.end(),
            [](const View* a, const View* b) { return a->cells().front() < b->cells().front(); });
  Views views;
  views.columns.resize(table_->count());
  for (const View* view : sorted) {
    for (const std::size_t cell : view->cells()) views.columns[cell] = static_cast<Label>(views.count());
    views.rows.push_back(view->labels());
    canonicalize(views.rows.back());
  }
  return views;
}

void State::exchange(State& other) {
  const Views mine = views();
  set(other.views());
  other.set(mine);
}

/// Moves of a view that ends are not forgotten.
void State::note(const View& view) {
  counts_.splits.proposed += view.splits().proposed;
  counts_.splits.accepted += view.splits().accepted;
  counts_.merges.proposed += view.merges().proposed;
  counts_.merges.accepted += view.merges().accepted;
}

double State::log_partition(std::span<const Label> labels) const {
  return table_->row_prior().log_partition(sizes_of(labels));
}

double State::log_likelihood(std::size_t column, std::span<const Label> labels, std::size_t clusters) {
  const Family& family = table_->family(column);
  const std::size_t size = family.stats_size();
  stats_.resize(clusters * size);
  for (std::size_t c = 0; c < clusters; ++c) family.clear(stats_.data() + c * size);
  for (std::size_t row = 0; row < labels.size(); ++row)
    family.add(stats_.data() + static_cast<std::size_t>(labels[row]) * size, table_->cell(column, row));
  double total = 0.0;
  for (std::size_t c = 0; c < clusters; ++c) total += family.log_marginal(stats_.data() + c * size);
  return total;
}

State::Proposal State::allocate(std::size_t column, std::span<const std::uint32_t> order, const Labels* given,
                                Stream& stream) {
  const Family& family = table_->family(column);
  const std::size_t size = family.stats_size();
  Proposal made;
  made.labels.assign(order.size(), 0);
  std::vector<double> sizes;
  std::vector<Label> place;  // cluster of each given label
  std::vector<double> empty(size);
  family.clear(empty.data());
  stats_.clear();
  std::vector<double> log_weights;
  for (const std::uint32_t row : order) {
    const double* cell = table_->cell(column, row);
    log_weights.clear();
    for (std::size_t c = 0; c < sizes.size(); ++c)
      log_weights.push_back(std::log(sizes[c]) + family.log_predictive(stats_.data() + c * size, cell));
    log_weights.push_back(table_->row_prior().log_open() + family.log_predictive(empty.data(), cell));
    std::size_t chosen = 0;
    if (given != nullptr) {
      const auto label = static_cast<std::size_t>((*given)[row]);
      if (place.size() <= label) place.resize(label + 1, -1);
      if (place[label] < 0) place[label] = static_cast<Label>(sizes.size());
      chosen = static_cast<std::size_t>(place[label]);
    } else {
      chosen = draw_log(stream, log_weights);
    }
    made.log_q += log_weights[chosen] - log_sum_exp(log_weights);
    if (chosen == sizes.size()) {
      sizes.push_back(0.0);
      stats_.insert(stats_.end(), empty.begin(), empty.end());
    }
    sizes[chosen] += 1.0;
    family.add(stats_.data() + chosen * size, cell);
    made.labels[row] = static_cast<Label>(chosen);
  }
  made.clusters = sizes.size();
  for (std::size_t c = 0; c < sizes.size(); ++c)
    made.log_likelihood += family.log_marginal(stats_.data() + c * size);
  made.log_prior = log_partition(made.labels);
  return made;
}

State::Proposal State::draw_from_prior(std::size_t column, std::span<const std::uint32_t> order,
                                       const Labels* given, Stream& stream) {
  Proposal made;
  if (given != nullptr) {
    made.labels = *given;
  } else {
    made.labels.resize(order.size());
    table_->row_prior().draw_partition(stream, made.labels);
  }
  made.clusters = canonicalize(made.labels);
  made.log_prior = made.log_q = log_partition(made.labels);
  made.log_likelihood = log_likelihood(column, made.labels, made.clusters);
  return made;
}

void State::column_sweep(Stream& stream) {
  std::vector<Draft> drafts;
  std::vector<std::size_t> home(table_->count());
  for (std::unique_ptr<View>& view : views_) {
    for (const std::size_t cell : view->cells()) home[cell] = drafts.size();
    Draft draft{{view->cells().begin(), view->cells().end()}, view->labels(), 0, nullptr};
    draft.clusters = canonicalize(draft.labels);
    draft.made = std::move(view);
    drafts.push_back(std::move(draft));
  }
  std::vector<std::uint32_t> columns(table_->count());
  std::iota(columns.begin(), columns.end(), 0U);
  shuffle(stream, columns);
  std::vector<std::uint32_t> order(table_->rows());
  std::iota(order.begin(), order.end(), 0U);
  const auto touch = [&](Draft& draft) {
    if (draft.made) note(*draft.made);
    draft.made.reset();
  };
  for (const std::uint32_t column : columns) {
    const std::size_t from = home[column];
    std::vector<std::size_t>& left = drafts[from].cells;
    left.erase(std::find(left.begin(), left.end(), column));
    const bool was_alone = left.empty();
    // Rows come in random order: the proposal then does not depend on how they are numbered.
    shuffle(stream, order);
    std::vector<Proposal> fresh;
    for (std::size_t slot = 0; slot < options_.auxiliaries; ++slot) {
      const Labels* given = slot == 0 && was_alone ? &drafts[from].labels : nullptr;
      fresh.push_back(options_.auxiliary_from_prior ? draw_from_prior(column, order, given, stream)
                                                    : allocate(column, order, given, stream));
    }
    std::vector<double> log_weights;
    std::vector<std::size_t> targets;
    for (std::size_t d = 0; d < drafts.size(); ++d) {
      if (drafts[d].cells.empty()) continue;
      targets.push_back(d);
      log_weights.push_back(power_ * (std::log(static_cast<double>(drafts[d].cells.size())) +
                                      log_likelihood(column, drafts[d].labels, drafts[d].clusters)));
    }
    const double log_slots = std::log(static_cast<double>(options_.auxiliaries));
    for (const Proposal& proposal : fresh)
      log_weights.push_back(
          power_ * (table_->column_prior().log_open() + proposal.log_prior + proposal.log_likelihood) -
          log_slots - proposal.log_q);
    const std::size_t chosen = draw_log(stream, log_weights);
    ++counts_.columns.proposed;
    if (chosen < targets.size()) {
      const std::size_t to = targets[chosen];
      if (to != from) {
        touch(drafts[from]);
        touch(drafts[to]);
        ++counts_.columns.accepted;
      }
      std::vector<std::size_t>& cells = drafts[to].cells;
      cells.insert(std::lower_bound(cells.begin(), cells.end(), column), column);
      home[column] = to;
      continue;
    }
    const std::size_t slot = chosen - targets.size();
    if (was_alone && slot == 0) {  // back to where it was
      left.push_back(column);
      continue;
    }
    ++counts_.columns.accepted;
    touch(drafts[from]);
    home[column] = drafts.size();
    drafts.push_back({{column}, std::move(fresh[slot].labels), fresh[slot].clusters, nullptr});
  }
  views_.clear();
  for (Draft& draft : drafts) {
    if (draft.cells.empty()) continue;
    if (!draft.made)
      draft.made = std::make_unique<View>(*table_, std::move(draft.cells), draft.labels,
                                          with_power(options_.split_merge, power_));
    views_.push_back(std::move(draft.made));
  }
}

void State::row_sweep(const StreamName& name, std::uint64_t first_index) {
  gibbs_.set_count({});
  for (std::size_t v = 0; v < views_.size(); ++v) {
    Stream stream(name, Purpose::gibbs, first_index + v);
    views_[v]->gibbs(gibbs_, stream);
  }
  counts_.rows.proposed += gibbs_.count().proposed;
  counts_.rows.accepted += gibbs_.count().accepted;
}

void State::split_merge(const StreamName& name, std::uint64_t first_index) {
  for (std::size_t v = 0; v < views_.size(); ++v) {
    Stream stream(name, Purpose::split_merge, first_index + v);
    views_[v]->split_merge(stream);
  }
}

void State::draw_prior(Stream& stream) {
  Views views;
  views.columns.resize(table_->count());
  table_->column_prior().draw_partition(stream, views.columns);
  views.rows.resize(canonicalize(views.columns));
  for (Labels& labels : views.rows) {
    labels.resize(table_->rows());
    table_->row_prior().draw_partition(stream, labels);
    canonicalize(labels);
  }
  set(views);
}

double State::log_joint() const {
  std::vector<std::uint32_t> sizes;
  double total = 0.0;
  for (const std::unique_ptr<View>& view : views_) {
    sizes.push_back(static_cast<std::uint32_t>(view->cells().size()));
    total += view->log_joint();
  }
  return total + table_->column_prior().log_partition(sizes);
}

}  // namespace coppice::crosscat
