#include "coppice/model/crosscat/state.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/base/slice.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/model/drawn_views.hpp"

namespace coppice::crosscat {
namespace {

SplitMergeOptions with_power(SplitMergeOptions options, double power) {
  options.power = power;
  return options;
}

void add(MoveCount& total, const MoveCount& more) {
  total.proposed += more.proposed;
  total.accepted += more.accepted;
}

}  // namespace

State::State(Columns& table, const Options& options, double power, const std::atomic<bool>* stop)
    : table_(&table),
      options_(options),
      power_(power),
      stop_(stop),
      row_prior_(std::make_unique<Crp>(options.alpha_rows.start(), table.rows())),
      column_prior_(std::make_unique<Crp>(options.alpha_columns.start(), table.count())),
      home_(table.count()),
      column_order_(table.count()),
      row_order_(table.rows()),
      offered_(options.auxiliaries),
      offered_sets_(table.rows()),
      launching_(power) {
  launching_.stop_at(stop);
  sweeps_.reserve(table.count() + 1);
  // One view may open before the one that its column leaves is found to be empty.
  views_.reserve(table.count() + 1);
  spare_.reserve(table.count() + 1);
  log_weights_.reserve(table.count() + 1 + options.auxiliaries);
  constexpr std::size_t kUsual = 32;  // clusters; more of them allocate when they come
  for (Allocation& made : offered_) {
    made.labels.resize(table.rows());
    made.place.reserve(table.rows());
    made.sizes.reserve(kUsual);
    made.weights.resize(kUsual);
  }
}

void State::set(const Views& views) {
  while (views_.size() > views.count()) {
    retire(std::move(views_.back()));
    views_.pop_back();
  }
  std::vector<std::size_t> cells;
  for (std::size_t v = 0; v < views.count(); ++v) {
    if (v == views_.size()) open_view();
    cells.clear();
    for (std::size_t column = 0; column < views.columns.size(); ++column)
      if (views.columns[column] == static_cast<Label>(v)) cells.push_back(column);
    views_[v]->set(cells, views.rows[v]);
  }
}

void State::set_concentrations(const Concentrations& values) {
  row_prior_->set_alpha(values.rows);
  column_prior_->set_alpha(values.columns);
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
    views.rows.emplace_back(view->labels().begin(), view->labels().end());
    canonicalize(views.rows.back());
  }
  return views;
}

void State::exchange(State& other) {
  const Views mine = views();
  const Views others = other.views();
  const std::vector<double> own_hyper(hyper().begin(), hyper().end());
  set_hyper(other.hyper());
  other.set_hyper(own_hyper);
  set(others);
  other.set(mine);
  const Concentrations own = concentrations();
  set_concentrations(other.concentrations());
  other.set_concentrations(own);
}

MoveCounts State::counts() const {
  MoveCounts counts = counts_;
  for (const std::unique_ptr<View>& view : views_) {
    add(counts.splits, view->splits());
    add(counts.merges, view->merges());
  }
  return counts;
}

void State::set_counts(const MoveCounts& counts) {
  counts_ = counts;
  for (const std::unique_ptr<View>& view : views_) view->clear_counts();
}

/// Moves of a view that ends are not forgotten.
void State::retire(std::unique_ptr<View> view) {
  add(counts_.splits, view->splits());
  add(counts_.merges, view->merges());
  view->clear_counts();
  spare_.push_back(std::move(view));
}

std::size_t State::open_view() {
  for (std::size_t v = 0; v < views_.size(); ++v)
    if (views_[v]->cells().empty()) return v;
  if (spare_.empty()) {
    views_.push_back(std::make_unique<View>(*table_, *row_prior_, with_power(options_.split_merge, power_)));
  } else {
    views_.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  return views_.size() - 1;
}

void State::begin_columns(Stream& stream) {
  for (std::size_t v = 0; v < views_.size(); ++v) {
    views_[v]->note_rows();
    for (const std::size_t cell : views_[v]->cells()) home_[cell] = v;
  }
  // Rows come into new views in random order: the proposal then does not depend on how they are numbered.
  std::iota(row_order_.begin(), row_order_.end(), 0U);
  shuffle(stream, row_order_);
}

template <typename Body>
void State::for_each_view(Body&& body) {
  // Below, what the threads cost is more than they save. By reference: nothing is allocated for it.
  constexpr std::size_t kLeastRows = 2'000;
  parallel_for(views_.size(), table_->rows() < kLeastRows ? 1 : threads_, std::ref(body));
}

void State::end_columns() {
  for_each_view([&](std::size_t v) {
    if (!views_[v]->cells().empty()) views_[v]->refresh();
  });
  std::size_t kept = 0;
  for (std::size_t v = 0; v < views_.size(); ++v) {
    if (views_[v]->cells().empty()) {
      retire(std::move(views_[v]));
      continue;
    }
    if (kept != v) views_[kept] = std::move(views_[v]);
    ++kept;
  }
  views_.resize(kept);
}

void State::column_sweep(Stream& stream, double new_view_share) {
  begin_columns(stream);
  std::iota(column_order_.begin(), column_order_.end(), 0U);
  shuffle(stream, column_order_);
  for (const std::uint32_t column : column_order_) {
    throw_if_stopped(stop_);
    update_column(column, draw_uniform(stream) < new_view_share, stream);
  }
  end_columns();
}

void State::update_column(std::size_t column, bool is_offered, Stream& stream) {
  ++counts_.columns.proposed;
  const std::size_t from = home_[column];
  const bool is_alone = views_[from]->cells().size() == 1;
  // Without an offer a column chooses among the views that would be there without it, which one in a view of
  // its own cannot do.
  if (is_alone && !is_offered) return;
  weigh_views(column);
  const std::size_t known = log_weights_.size();
  if (is_offered) {
    const double log_known = log_sum_exp(log_weights_);
    // A number drawn beforehand says how much new views must weigh to be chosen; most weigh far less, which
    // shows after a part of the rows.
    const double uniform = draw_uniform(stream);
    const double log_enough = log_known + std::log1p(-uniform) - std::log(uniform);
    if (weigh_new_views(column, log_enough, stream)) {
      const std::size_t slot = draw_from_logs(stream, std::span(log_weights_).subspan(known));
      if (is_alone && slot == 0) return;  // back to where it was
      const std::size_t to = open_view();
      views_[to]->begin(offered_[slot].labels);
      move_column(column, to);
      ++counts_.columns.accepted;
      return;
    }
  }
  log_weights_.resize(known);
  const std::size_t to = draw_from_logs(stream, log_weights_);
  if (to == from) return;
  move_column(column, to);
  ++counts_.columns.accepted;
}

void State::move_column(std::size_t column, std::size_t to) {
  views_[home_[column]]->remove_column(column);
  views_[to]->add_column(column);
  home_[column] = to;
}

void State::weigh_views(std::size_t column) {
  log_weights_.clear();
  for (std::size_t v = 0; v < views_.size(); ++v) {
    const std::size_t others = views_[v]->cells().size() - (home_[column] == v ? 1 : 0);
    log_weights_.push_back(others == 0 ? kMinusInfinity
                                       : power_ * (column_prior_->log_join(others) +
                                                   (*table_)[column].log_marginal(views_[v]->sets())));
  }
}

bool State::weigh_new_views(std::size_t column, double log_enough, Stream& stream) {
  const View& home = *views_[home_[column]];
  const CellColumn& cells = (*table_)[column];
  const double log_open = column_prior_->log_open();
  const std::size_t first = log_weights_.size();
  const double log_slots = std::log(static_cast<double>(offered_.size()));
  AllocationRule rule{row_order_, row_prior_->alpha()};
  // At power 1 the weight of one by itself is log_joint - log_q and constants. Their mean reaches only as far
  // as the largest does, so that most need not be made to their end. Each has numbers of its own: if another
  // one is large enough, it is made again to its end.
  if (power_ == 1.0) rule.log_stop = log_enough - log_open;
  const StreamName name{stream(), stream(), 0};
  bool is_enough = false;
  const auto make_slot = [&](std::size_t slot) {
    rule.given = slot == 0 && home.cells().size() == 1 ? home.labels().data() : nullptr;
    Stream numbers(name, Purpose::structure, slot);
    if (!options_.auxiliary_from_prior) return cells.allocate(rule, numbers, offered_[slot]);
    draw_from_prior(column, rule.given, numbers, offered_[slot]);
    return true;
  };
  const auto weight = [&](std::size_t slot) {
    return power_ * (log_open + offered_[slot].log_joint) - log_slots - offered_[slot].log_q;
  };
  for (std::size_t slot = 0; slot < offered_.size(); ++slot) {
    const bool is_made = make_slot(slot);
    log_weights_.push_back(is_made ? weight(slot) : kMinusInfinity);
    is_enough = is_enough || is_made;
  }
  if (!is_enough) return false;
  rule.log_stop = AllocationRule{}.log_stop;
  for (std::size_t slot = 0; slot < offered_.size(); ++slot)
    if (log_weights_[first + slot] == kMinusInfinity) {
      make_slot(slot);
      log_weights_[first + slot] = weight(slot);
    }
  return !(log_sum_exp(std::span(log_weights_).subspan(first)) < log_enough);
}

void State::draw_from_prior(std::size_t column, const Label* given, Stream& stream, Allocation& made) {
  const double alpha = row_prior_->alpha();
  made.labels.resize(table_->rows());
  if (given != nullptr) {
    std::copy_n(given, made.labels.size(), made.labels.begin());
  } else {
    made.sizes.assign(1, alpha);  // the last one opens a cluster
    for (Label& label : made.labels) {
      const std::size_t drawn = draw_categorical(stream, made.sizes);
      label = static_cast<Label>(drawn);
      if (drawn + 1 == made.sizes.size()) {
        made.sizes.back() = 1.0;
        made.sizes.push_back(alpha);
      } else {
        made.sizes[drawn] += 1.0;
      }
    }
  }
  made.log_q = 0.0;
  offered_sets_.assign(made.labels);
  for (std::size_t c = 0; c < offered_sets_.clusters(); ++c)
    if (const std::size_t size = offered_sets_.members(c).size(); size != 0)
      made.log_q += row_prior_->log_kappa(size);
  made.log_q += log_gamma(alpha) - log_gamma(alpha + static_cast<double>(table_->rows()));
  made.log_joint = made.log_q + (*table_)[column].log_marginal(offered_sets_);
}

void State::row_sweep(const StreamName& name, std::uint64_t first_index) {
  while (sweeps_.size() < views_.size()) sweeps_.emplace_back(power_).stop_at(stop_);
  for (GibbsSweep& sweep : sweeps_) sweep.set_count({});
  for_each_view([&](std::size_t v) {
    Stream stream(name, Purpose::gibbs, first_index + v);
    views_[v]->gibbs(sweeps_[v], stream);
  });
  for (const GibbsSweep& sweep : sweeps_) add(counts_.rows, sweep.count());
}

void State::split_merge(const StreamName& name, std::uint64_t first_index) {
  for_each_view([&](std::size_t v) {
    throw_if_stopped(stop_);
    Stream stream(name, Purpose::split_merge, first_index + v);
    views_[v]->split_merge(stream);
  });
}

void State::update_concentrations(Stream& stream) {
  const auto views = static_cast<double>(views_.size());
  if (options_.alpha_rows.is_learned()) {
    double clusters = 0.0;
    for (const std::unique_ptr<View>& view : views_)
      for (const std::uint32_t size : view->clusters().sizes()) clusters += size > 0 ? 1.0 : 0.0;
    row_prior_->set_alpha(options_.alpha_rows.update_tempered(stream, row_prior_->alpha(), power_,
                                                              {views, clusters, table_->copies()}));
  }
  if (options_.alpha_columns.is_learned())
    column_prior_->set_alpha(options_.alpha_columns.update_tempered(
        stream, column_prior_->alpha(), power_, {1.0, views, static_cast<double>(table_->count())}));
}

void State::update_hyper(const StreamName& name, std::uint64_t first_index) {
  if (hyper().empty()) return;
  for_each_view([&](std::size_t v) {
    throw_if_stopped(stop_);
    Stream stream(name, Purpose::hyper, first_index + v);
    views_[v]->update_hyper(*table_, power_, stream);
  });
}

void State::draw_prior(Stream& stream) {
  row_prior_->set_alpha(options_.alpha_rows.draw_prior(stream));
  column_prior_->set_alpha(options_.alpha_columns.draw_prior(stream));
  set(draw_views(*column_prior_, table_->count(), *row_prior_, table_->rows(), stream));
}

double State::log_tempered() const {
  std::vector<std::uint32_t> sizes;
  double total = 0.0;
  for (const std::unique_ptr<View>& view : views_) {
    sizes.push_back(static_cast<std::uint32_t>(view->cells().size()));
    total += view->log_joint();
  }
  total += options_.alpha_rows.log_prior(row_prior_->alpha());
  total += options_.alpha_columns.log_prior(column_prior_->alpha());
  return total + column_prior_->log_partition(sizes);
}

}  // namespace coppice::crosscat
