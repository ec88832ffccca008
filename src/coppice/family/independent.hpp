// The family of rows whose columns are independent given the cluster: a Cell per column (its prior, its
// statistics), missing cells skipped. bernoulli, binomial, categorical, poisson, gaussian-diagonal and
// gaussian-known are this template with their own Cell.
//
// A Cell has: stats_size, theta_size, cache_size, origin; clear, add, remove, merge, log_marginal,
// log_predictive, draw_theta, draw, log_likelihood; fill_cache, lane_log_predictive (eight clusters),
// own_log_predictive (the predictive of x under a cluster that holds x, with x taken out, from the cluster's
// cache), or in place of these two, if the cache is a table of log predictives, entry and own_entry (where
// that of x is, or a zero for a missing cell); predictive; union_size, fill_union, lane_log_marginal (of one
// cluster with each of eight). It may have single_size, fill_single and lane_log_marginal_of_singles: the
// same bits, faster, where those eight are single rows; or, in place of the last, single_words, set_single
// and add_singles: single rows as bits, 32 of them at a time; or codes, code and fill_single: single rows as
// one of a few numbers (no codes: too many), and the log marginal for each. If it has_tables,
// log_marginal_of_one gives the bits of lane_log_marginal for one cluster and an empty one. One that learns
// its hyper-parameters has what hyper.hpp says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coppice/family/cell_likelihoods.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/independent_column.hpp"
#include "coppice/family/learned_cells.hpp"
#include "coppice/family/row_batches.hpp"
#include "coppice/family/tied_column.hpp"

namespace coppice {

template <typename Cell>
class IndependentColumns final : public Family, public RowBatches {
 public:
  /// The columns' names are those of learned hyper-parameters; there may be none.
  IndependentColumns(std::string name, std::vector<Cell> cells, std::vector<std::string> column_names = {})
      : name_(std::move(name)), cells_(std::move(cells)), column_names_(std::move(column_names)) {
    column_names_.resize(cells_.size());
    std::size_t stats = 1;
    std::size_t theta = 0;
    std::size_t cache = 0;
    std::size_t joint = 1;  // the number of rows comes first
    for (const Cell& cell : cells_) {
      const auto place = [](std::size_t at) { return static_cast<std::uint32_t>(at); };
      all_.push_back({&cell, place(all_.size()), place(stats), place(theta), place(cache * kLanes),
                      place(joint * kLanes), place(single_size_), place(single_words_)});
      single_size_ += single_size_of(cell);
      single_words_ += single_words_of(cell);
      stats += cell.stats_size();
      theta += cell.theta_size();
      cache += cell.cache_size();
      joint += cell.union_size();
    }
    stats_size_ = stats;
    theta_size_ = theta;
    cache_size_ = cache;
    union_size_ = joint;
    active_ = all_;
  }

  std::string_view name() const override { return name_; }
  std::size_t width() const override { return cells_.size(); }
  std::size_t stats_size() const override { return stats_size_; }
  std::size_t theta_size() const override { return theta_size_; }
  std::size_t cache_size() const override { return cache_size_; }
  double origin(std::size_t column) const override { return cells_[column].origin(); }

  void clear(double* stats) const override {
    stats[0] = 0.0;
    for (const Place& at : active_) at.cell->clear(stats + at.stats);
  }
  void add(double* stats, const double* row) const override {
    stats[0] += 1.0;
    for (const Place& at : active_)
      if (!is_missing(row[at.column])) at.cell->add(stats + at.stats, row[at.column]);
  }
  bool remove(double* stats, const double* row) const override {
    stats[0] -= 1.0;
    bool accurate = true;
    for (const Place& at : active_)
      if (!is_missing(row[at.column])) accurate &= at.cell->remove(stats + at.stats, row[at.column]);
    return accurate;
  }
  void add_copies(double* stats, const double* row, double copies) const override {
    stats[0] += copies;
    for (const Place& at : active_)
      if (!is_missing(row[at.column])) at.cell->add(stats + at.stats, row[at.column], copies);
  }
  bool remove_copies(double* stats, const double* row, double copies) const override {
    stats[0] -= copies;
    bool accurate = true;
    for (const Place& at : active_)
      if (!is_missing(row[at.column])) accurate &= at.cell->remove(stats + at.stats, row[at.column], copies);
    return accurate;
  }
  void merge(double* stats, const double* other) const override {
    stats[0] += other[0];
    for (const Place& at : active_) at.cell->merge(stats + at.stats, other + at.stats);
  }

  double log_marginal(const double* stats) const override {
    double total = 0.0;
    for (const Place& at : active_) total += at.cell->log_marginal(stats + at.stats);
    return total;
  }
  double log_predictive(const double* stats, const double* row) const override {
    double total = 0.0;
    for (const Place& at : active_)
      if (!is_missing(row[at.column])) total += at.cell->log_predictive(stats + at.stats, row[at.column]);
    return total;
  }

  /// Cells with entries have few values: what each of them says is found once for all rows.
  void log_marginals_alone(const double* rows, std::size_t count, double* out) const override {
    if constexpr (kHasEntries) {
      std::vector<double> none(stats_size_);
      clear(none.data());
      std::fill_n(out, count, 0.0);
      std::vector<double> of_entry;  // NaN: not yet found
      for (const Place& at : active_) {
        of_entry.clear();
        for (std::size_t i = 0; i < count; ++i) {
          const double x = rows[i * width() + at.column];
          if (is_missing(x)) continue;
          const std::size_t entry = at.cell->entry(x);
          if (entry >= of_entry.size()) of_entry.resize(entry + 1, kMissing);
          double& found = of_entry[entry];
          if (is_missing(found)) found = at.cell->log_predictive(none.data() + at.stats, x);
          out[i] += found;
        }
      }
    } else {
      Family::log_marginals_alone(rows, count, out);
    }
  }

  void draw_theta(const double* stats, Stream& stream, double* theta) const override {
    for (const Place& at : active_) at.cell->draw_theta(stats + at.stats, stream, theta + at.theta);
  }
  void draw(const double* theta, Stream& stream, double* row) const override {
    for (const Place& at : active_) row[at.column] = at.cell->draw(theta + at.theta, stream);
  }
  double log_likelihood(const double* theta, const double* row) const override {
    double total = 0.0;
    for (const Place& at : active_)
      if (!is_missing(row[at.column])) total += at.cell->log_likelihood(theta + at.theta, row[at.column]);
    return total;
  }

  std::unique_ptr<Likelihoods> likelihoods(std::span<const double> thetas) const override {
    return std::make_unique<CellLikelihoods<Cell, Place>>(active_, thetas, theta_size_);
  }
  void add_rows(double* stats, const double* rows, std::size_t stride,
                std::span<const std::uint32_t> which) const override {
    stats[0] += static_cast<double>(which.size());
    std::vector<double> room;
    for (const Place& at : active_)
      add_cells(*at.cell, stats + at.stats, rows + at.column, stride, which, room);
  }

  void fill_cache(const double* stats, double* cache) const override {
    for (const Place& at : active_) at.cell->fill_cache(stats + at.stats, cache + at.cache);
  }
  void add_log_predictive(const double* row, const double* cache, std::size_t stride, std::size_t chunks,
                          const OwnCluster& own, double* out) const override {
    const std::size_t own_chunk = own.slot / kLanes;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const double* caches = cache + chunk * stride;
      double* sums = out + chunk * kLanes;
      const double own_weight = chunk == own_chunk ? out[own.slot] : 0.0;
      store_lanes(sums, load_lanes(sums) + lane_log_predictive(row, caches));
      if (chunk == own_chunk)
        out[own.slot] = own_weight + own_log_predictive(row, caches + own.slot % kLanes);
    }
  }

  CellPredictive predict_cell(const double* stats, std::size_t column) const override {
    return cells_[column].predictive(stats + all_[column].stats);
  }

  double cell_log_predictive(const double* stats, std::size_t column, double value) const override {
    return cells_[column].log_predictive(stats + all_[column].stats, value);
  }

  std::size_t union_size() const override { return union_size_; }
  void fill_union(const double* stats, double* cache) const override {
    cache[0] = stats[0];
    for (const Place& at : active_) at.cell->fill_union(stats + at.stats, cache + at.joint);
  }
  void add_log_marginals(const double* one, const double* cache, std::size_t stride, std::size_t chunks,
                         double* out) const override {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const double* others = cache + chunk * stride;
      Lanes total = load_lanes(out + chunk * kLanes);
      for (const Place& at : active_) total += at.cell->lane_log_marginal(one + at.joint, others + at.joint);
      store_lanes(out + chunk * kLanes, total);
    }
  }

  /// Of the first column; families of several columns have no use for it.
  void log_marginals_upwards(const double* items, std::size_t count, std::span<const MadeNode> nodes,
                             const double* none, double* made, double* values, double* out) const override {
    if (cells_.size() != 1)
      return Family::log_marginals_upwards(items, count, nodes, none, made, values, out);
    const Cell& cell = cells_.front();
    const std::size_t size = 1 + cell.stats_size();
    const auto stats_of = [&](std::uint32_t node) {
      return node < count ? items + node * size : made + (node - count) * size;
    };
    const auto make_stats = [&](std::size_t i) {
      const MadeNode& node = nodes[i];
      double* stats = made + i * size;
      if (node.block.empty()) {
        std::copy_n(stats_of(node.left), size, stats);
        add_stats(cell, stats, stats_of(node.right));
      } else {
        stats[0] = 0.0;
        cell.clear(stats + 1);
        for (const std::uint32_t item : node.block) add_stats(cell, stats, stats_of(item));
      }
      return stats + 1;
    };
    if constexpr (requires { cell.log_marginal_of_one(items); }) {
      if (cell.has_tables()) {
        for (std::size_t i = 0; i < nodes.size(); ++i) out[i] = cell.log_marginal_of_one(make_stats(i));
        return;
      }
    }
    for (std::size_t begin = 0; begin < nodes.size(); begin += kLanes) {
      const std::size_t used = std::min(kLanes, nodes.size() - begin);
      if (used < kLanes)  // unused lanes hold something finite
        for (std::size_t value = 0; value < union_size_ * kLanes; ++value)
          values[value] = none[value / kLanes * kLanes];
      for (std::size_t lane = 0; lane < used; ++lane)
        cell.fill_union(make_stats(begin + lane), values + kLanes + lane);
      const Lanes found = cell.lane_log_marginal(none + kLanes, values + kLanes);
      if (used == kLanes)
        store_lanes(out + begin, Lanes{} + found);
      else
        for (std::size_t lane = 0; lane < used; ++lane) out[begin + lane] = 0.0 + found[lane];
    }
  }

  std::size_t single_size() const override { return single_size_; }
  std::size_t single_words() const override { return single_words_; }
  void fill_single(const double* one, double* values) const override {
    if constexpr (kHasSingles || kHasCodes)
      for (const Place& at : active_)
        if (single_size_of(*at.cell) != 0) at.cell->fill_single(one + at.joint, values + at.single);
  }
  void set_single(const double* stats, std::size_t place, std::uint64_t* words) const override {
    if constexpr (kHasSingleBits)
      for (const Place& at : active_) at.cell->set_single(stats + at.stats, place, words + at.words);
    if constexpr (kHasCodes)
      for (const Place& at : active_)
        if (at.cell->codes() != 0)
          reinterpret_cast<std::uint8_t*>(words + at.words)[place] =
              static_cast<std::uint8_t>(at.cell->code(stats + at.stats));
  }
  void add_log_marginals_of_singles(const double* one, const double* values, const std::uint64_t* words,
                                    const double* cache, std::size_t stride, unsigned chunks,
                                    double* out) const override {
    if constexpr (kHasSingleBits) {
      constexpr std::size_t kChunks = 4;  // as many sums at a time: additions need not wait for each other
      for (std::size_t first = 0; first < kLanes; first += kChunks) {
        if ((chunks >> first & 15U) == 0) continue;
        Lanes totals[kChunks];
        for (std::size_t i = 0; i < kChunks; ++i) totals[i] = load_lanes(out + (first + i) * kLanes);
        for (const Place& at : active_)
          at.cell->add_singles(values + at.single, words + at.words, first * kLanes, totals);
        for (std::size_t i = 0; i < kChunks; ++i) store_lanes(out + (first + i) * kLanes, totals[i]);
      }
      return;
    }
    for (std::size_t chunk = 0; chunk < kLanes; ++chunk) {
      if ((chunks >> chunk & 1U) == 0) continue;
      const double* others = cache + chunk * stride;
      Lanes total = load_lanes(out + chunk * kLanes);
      for (const Place& at : active_) {
        if constexpr (kHasCodes) {
          if (at.cell->codes() != 0) {
            const auto* codes = reinterpret_cast<const std::uint8_t*>(words + at.words) + chunk * kLanes;
            const double* of_code = values + at.single;
            total += Lanes{of_code[codes[0]], of_code[codes[1]], of_code[codes[2]], of_code[codes[3]],
                           of_code[codes[4]], of_code[codes[5]], of_code[codes[6]], of_code[codes[7]]};
            continue;
          }
        }
        if constexpr (kHasSingles && !kHasSingleBits)
          total +=
              at.cell->lane_log_marginal_of_singles(one + at.joint, others + at.joint, values + at.single);
        else
          total += at.cell->lane_log_marginal(one + at.joint, others + at.joint);
      }
      store_lanes(out + chunk * kLanes, total);
    }
  }

  std::unique_ptr<Family> of_cells(std::span<const std::size_t> cells) const override {
    std::vector<Cell> chosen;
    std::vector<std::string> names;
    for (const std::size_t j : cells) {
      chosen.push_back(cells_[j]);
      names.push_back(column_names_[j]);
    }
    return std::make_unique<IndependentColumns>(name_, std::move(chosen), std::move(names));
  }
  bool restrict_to(std::span<const std::size_t> cells) override {
    active_.clear();
    for (const std::size_t j : cells) active_.push_back(all_[j]);
    return true;
  }
  std::unique_ptr<CellColumn> make_column(std::span<const double> cells,
                                          std::span<const double> copies) const override {
    if (!copies.empty()) return std::make_unique<TiedColumn>(clone(), cells, copies);
    return std::make_unique<IndependentColumn<Cell>>(cells_.front(), cells);
  }

  std::unique_ptr<Family> clone() const override {
    auto copy = std::make_unique<IndependentColumns>(name_, cells_, column_names_);
    copy->active_.clear();
    for (const Place& at : active_) copy->active_.push_back(copy->all_[at.column]);
    return copy;
  }
  std::size_t bytes() const override {
    std::size_t total =
        sizeof *this + cells_.size() * (sizeof(Cell) + sizeof(std::string) + 2 * sizeof(Place));
    for (const std::string& name : column_names_)
      if (name.size() >= sizeof(std::string) / 2) total += name.size();
    return total;
  }
  std::size_t table_bytes() const override { return Learned::table_bytes(cells_); }
  std::size_t hyper_size() const override { return Learned::size(cells_); }
  void get_hyper(double* values) const override { Learned::get(cells_, values); }
  void set_hyper(const double* values) override { Learned::set(cells_, values, name_); }
  void set_cell_hyper(std::size_t cell, const double* values) override {
    Learned::set(cells_[cell], values, name_);
  }
  std::vector<std::string> hyper_names() const override { return Learned::names(cells_, column_names_); }
  double log_hyper_prior() const override { return Learned::log_prior(cells_); }
  void draw_hyper_prior(Stream& stream) override { Learned::draw_prior(cells_, stream); }
  /// Of some columns, drawn by the stream, if all of them would take long against a sweep over the rows.
  void update_hyper_at_power(std::span<const double* const> clusters, Stream& stream, double power) override {
    if (active_.empty() || hyper_size() == 0) return;
    const std::size_t count = Learned::updates_per_call(active_, clusters, stream);
    std::size_t next = count < active_.size() ? draw_index(stream, active_.size()) : 0;
    for (std::size_t i = 0; i < count; ++i, next = (next + 1) % active_.size()) {
      const Place& at = active_[next];
      clusters_of_cell_.clear();
      for (const double* stats : clusters) clusters_of_cell_.push_back(stats + at.stats);
      Learned::update(cells_[at.column], clusters_of_cell_, stream, power);
    }
  }

 private:
  using Learned = LearnedCells<Cell>;

  static void add_stats(const Cell& cell, double* stats, const double* other) {
    stats[0] += other[0];
    cell.merge(stats + 1, other + 1);
  }

  static constexpr bool kHasSingles = requires { Cell::single_size(); };
  static constexpr bool kHasSingleBits = requires { Cell::single_words(); };
  static constexpr bool kHasCodes = requires(const Cell& cell) { cell.codes(); };
  static std::size_t single_size_of(const Cell& cell) {
    if constexpr (kHasCodes)
      return cell.codes();
    else if constexpr (kHasSingles)
      return Cell::single_size();
    else
      return 0;
  }
  /// Of 64 rows; a code takes a byte.
  static std::size_t single_words_of(const Cell& cell) {
    if constexpr (kHasCodes)
      return cell.codes() != 0 ? 8 : 0;
    else if constexpr (kHasSingleBits)
      return Cell::single_words();
    else
      return 0;
  }
  static constexpr bool kHasEntries = requires(const Cell& cell) { cell.entry(0.0); };

  /// Sum over the columns of term(place, value), in four parts so that additions need not wait for each
  /// other.
  template <typename Sum, typename Term>
  Sum sum_over_columns(const double* row, Term&& term) const {
    Sum parts[4] = {};
    const std::size_t whole = active_.size() / 4 * 4;
    for (std::size_t i = 0; i < whole; i += 4)
      for (std::size_t part = 0; part < 4; ++part) {
        const Place& at = active_[i + part];
        parts[part] += term(at, row[at.column]);
      }
    for (std::size_t i = whole; i < active_.size(); ++i)
      parts[i - whole] += term(active_[i], row[active_[i].column]);
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
  }
  Lanes lane_log_predictive(const double* row, const double* caches) const {
    if constexpr (kHasEntries) {
      return sum_over_columns<Lanes>(row, [&](const Place& at, double x) {
        return load_lanes(caches + at.cache + at.cell->entry(x) * kLanes);
      });
    } else {
      Lanes total{};
      for (const Place& at : active_)
        if (const double x = row[at.column]; !is_missing(x))
          total += at.cell->lane_log_predictive(caches + at.cache, x);
      return total;
    }
  }
  double own_log_predictive(const double* row, const double* caches) const {
    if constexpr (kHasEntries) {
      return sum_over_columns<double>(
          row, [&](const Place& at, double x) { return caches[at.cache + at.cell->own_entry(x) * kLanes]; });
    } else {
      double total = 0.0;
      for (const Place& at : active_)
        if (const double x = row[at.column]; !is_missing(x))
          total += at.cell->own_log_predictive(caches + at.cache, x);
      return total;
    }
  }

  struct Place {
    const Cell* cell;
    std::uint32_t column, stats, theta, cache, joint, single, words;  // where its parts begin
  };
  std::string name_;
  std::vector<Cell> cells_;
  std::vector<std::string> column_names_;
  std::vector<const double*> clusters_of_cell_;  // room for update_hyper
  std::vector<Place> all_, active_;
  std::size_t stats_size_ = 0, theta_size_ = 0, cache_size_ = 0, union_size_ = 0, single_size_ = 0,
              single_words_ = 0;
};

}  // namespace coppice
