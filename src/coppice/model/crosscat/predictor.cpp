#include "coppice/model/crosscat/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "coppice/base/error.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/cluster/draw_weights.hpp"
#include "coppice/cluster/new_column.hpp"
#include "coppice/cluster/predictive_cache.hpp"
#include "coppice/model/crosscat/inference.hpp"
#include "coppice/model/crosscat/options.hpp"
#include "coppice/model/learned_draw.hpp"
#include "coppice/model/left_out.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/model/pair_densities.hpp"
#include "coppice/model/trace_table.hpp"

namespace coppice::crosscat {
namespace {

/// Components are the clusters of the views, one view after the other, and a new cluster, the same in all
/// views. Each view has a family and statistics of its own columns alone.
class ViewsPredictor final : public Predictor,
                             public NewCells,
                             public LeaveOneOut,
                             public PairDensities,
                             public LearnedDraw {
 public:
  explicit ViewsPredictor(const Problem& problem)
      : problem_(&problem),
        options_(problem.parameters),
        own_family_(problem.family->hyper_size() != 0 ? problem.family->clone() : nullptr),
        family_(own_family_ ? own_family_.get() : problem.family),
        alpha_rows_(options_.alpha_rows.start()),
        alpha_columns_(options_.alpha_columns.start()),
        place_of_(problem.rows->data_width()) {
    if (!options_.learns()) return;
    const std::vector<TraceInfo> traces = crosscat::traces(problem.parameters);
    alpha_rows_trace_ = trace_place(traces, "alpha_rows");
    alpha_columns_trace_ = trace_place(traces, "alpha_columns");
  }

  void set_draw(std::span<const Label> labels, std::span<const double> traces,
                std::string_view payload) override {
    if (options_.learns()) {
      alpha_rows_ = traces[alpha_rows_trace_];
      alpha_columns_ = traces[alpha_columns_trace_];
    }
    views_ = views_of(*problem_, payload);
    largest_ = views_.largest();
    parts_.clear();  // they share the tables that are to be changed
    if (own_family_) own_family_->set_hyper(hyper_of(*problem_, payload).data());
    if (!std::equal(labels.begin(), labels.end(), views_.rows[largest_].begin()))
      fail(ErrorCode::bad_data, "the run file is damaged: the clusters of a draw are not those of its views");
    parts_.resize(views_.count());
    for (std::size_t cell = 0; cell < place_of_.size(); ++cell) {
      std::vector<std::size_t>& cells = parts_[static_cast<std::size_t>(views_.columns[cell])].cells;
      place_of_[cell] = cells.size();
      cells.push_back(cell);
    }
    first_.assign(1, 0);
    for (std::size_t view = 0; view < parts_.size(); ++view) {
      parts_[view].set(*family_, *problem_->rows, views_.rows[view], alpha_rows_);
      first_.push_back(first_.back() + parts_[view].clusters);
    }
  }

  std::vector<double> learned_values() const override {
    std::vector<double> values(own_family_ ? own_family_->hyper_size() : 0);
    if (own_family_) own_family_->get_hyper(values.data());
    return values;
  }

  std::size_t clusters(std::size_t) const override { return parts_[largest_].clusters; }

  void log_weights(const double* row, std::size_t level, std::span<double> out) const override {
    log_weights_of_rows({row, place_of_.size()}, place_of_.size(), level, out.size(), out);
  }
  /// View after view, so that what a view knows of its clusters is at hand for all rows.
  void log_weights_of_rows(std::span<const double> rows, std::size_t width, std::size_t, std::size_t stride,
                           std::span<double> out) const override {
    const std::size_t count = rows.size() / width;
    const std::size_t padded = (count + kLanes - 1) / kLanes * kLanes;
    Room room;
    AlignedVector others(padded, 0.0);
    AlignedVector sums(padded, 1.0);  // of the weights of a view, relative to the largest
    for (std::size_t view = 0; view < parts_.size(); ++view) {
      if (view == largest_) continue;
      for (std::size_t i = 0; i < count; ++i) {
        parts_[view].weigh_clusters(rows.data() + i * width, room);
        const RelativeSum sum = relative_sum(room.terms.data(), room.terms.size());
        others[i] += sum.log_largest;
        sums[i] = sum.sum;
      }
      for (std::size_t i = 0; i < padded; i += kLanes)
        store_lanes(others.data() + i, load_lanes(others.data() + i) + log(load_lanes(sums.data() + i)));
    }
    const Part& part = parts_[largest_];
    for (std::size_t i = 0; i < count; ++i) {
      part.weigh_clusters(rows.data() + i * width, room);
      for (std::size_t cluster = 0; cluster <= part.clusters; ++cluster)
        out[i * stride + cluster] = room.terms[cluster] + others[i];
    }
  }

  void cell_components(std::size_t row, std::size_t cell, std::vector<CellComponent>& out) const override {
    const std::size_t view = view_of(cell);
    out.assign(1, {first_[view] + static_cast<std::size_t>(views_.rows[view][row]), 1.0});
  }
  double condition_cells(const double* row, std::span<const std::size_t> cells,
                         std::vector<std::vector<CellComponent>>& mixtures) const override {
    std::vector<std::vector<CellComponent>> of_view(views_.count());
    Room room;
    double log_density = 0.0;
    for (std::size_t view = 0; view < views_.count(); ++view) {
      parts_[view].weigh_clusters(row, room);
      log_density += make_mixture(parts_[view].without_pads(room), first_[view], of_view[view]);
      for (CellComponent& part : of_view[view])
        if (part.component == first_[view + 1]) part.component = first_.back();
    }
    mixtures.clear();
    for (const std::size_t cell : cells) mixtures.push_back(of_view[view_of(cell)]);
    return log_density;
  }
  void log_densities_without(std::size_t row, std::span<const double> variants,
                             std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t view = 0; view < views_.count(); ++view)
      parts_[view].add_log_densities_without(*problem_->rows, views_.rows[view], alpha_rows_, row, variants,
                                             out);
  }
  bool pair_densities(const CellValues& a, const CellValues& b, std::span<double> out) const override {
    std::vector<double> of_a = densities_of(a);
    std::vector<double> of_b = densities_of(b);
    const std::span<const double> log_prior = parts_[view_of(a.cell)].prior_of_clusters();
    if (view_of(a.cell) == view_of(b.cell)) {
      mix_pairs(log_prior, of_a, of_b, out);
      return true;
    }
    // Columns of different views are independent.
    const auto marginal = [](std::span<const double> weights, const std::vector<double>& logs) {
      std::vector<double> sums;
      std::vector<double> terms(weights.size());
      for (std::size_t i = 0; i < logs.size(); i += weights.size()) {
        for (std::size_t k = 0; k < weights.size(); ++k) terms[k] = weights[k] + logs[i + k];
        sums.push_back(log_sum_exp(terms));
      }
      return sums;
    };
    std::vector<double> all_of_a = marginal(log_prior, of_a);
    std::vector<double> all_of_b = marginal(parts_[view_of(b.cell)].prior_of_clusters(), of_b);
    constexpr double kWhole[] = {0.0};
    mix_pairs(kWhole, all_of_a, all_of_b, out);
    return true;
  }
  NewColumn new_column(const Family& family, const Rows& column) const override {
    const std::vector<std::size_t> sizes = cluster_sizes(views_.columns);
    std::vector<double> terms;
    for (std::size_t view = 0; view < views_.count(); ++view)
      terms.push_back(std::log(static_cast<double>(sizes[view])) +
                      log_marginal_of_clusters(family, column, views_.rows[view]));
    terms.push_back(std::log(alpha_columns_) + log_bound_of_rows(family, column, alpha_rows_));
    const double log_all = std::log(static_cast<double>(problem_->rows->data_width()) + alpha_columns_);
    return {log_sum_exp(terms) - log_all, terms.back() - log_all};
  }
  void draw_row(Stream& stream, double* row) const override {
    std::vector<double> drawn;
    std::vector<double> terms;
    for (const Part& part : parts_) {
      drawn.resize(part.cells.size());
      terms.assign(part.prior_of_clusters().begin(), part.prior_of_clusters().end());
      draw_member(*part.family, part.stats_of(draw_from_logs(stream, terms)), stream, drawn.data());
      for (std::size_t place = 0; place < drawn.size(); ++place) row[part.cells[place]] = drawn[place];
    }
  }
  std::size_t component_count() const override { return first_.back() + 1; }
  CellPredictive predict_cell(std::size_t component, std::size_t cell) const override {
    return parts_[view_of(cell)].family->predict_cell(stats_of(component, cell), place_of_[cell]);
  }
  double log_cell(std::size_t component, std::size_t cell, double value) const override {
    return parts_[view_of(cell)].family->cell_log_predictive(stats_of(component, cell), place_of_[cell],
                                                             value);
  }

 private:
  /// Room for the weights of one row, eight at a time.
  struct Room {
    std::vector<double> chosen;  // cells of the row in a view
    AlignedVector terms;         // log weights of its clusters, a new one, and pads of minus infinity
  };

  /// One view of the draw.
  struct Part {
    std::vector<std::size_t> cells;  // ascending
    // Of these. Statistics count the copies of rows, new rows are single ones.
    std::unique_ptr<Family> family;
    std::size_t clusters = 0;
    std::vector<double> stats;  // of the clusters and, behind them, of a new one
    AlignedVector log_prior;    // of the same, and pads of minus infinity
    PredictiveCache cache;

    const double* stats_of(std::size_t cluster) const {
      return stats.data() + cluster * family->stats_size();
    }

    std::span<const double> prior_of_clusters() const { return {log_prior.data(), clusters + 1}; }
    std::span<double> without_pads(Room& room) const { return {room.terms.data(), clusters + 1}; }

    void set(const Family& of_table, const Rows& rows, const Labels& labels, double alpha) {
      family = of_table.of_cells(cells);
      clusters = cluster_sizes(labels).size();
      const std::size_t size = family->stats_size();
      stats.resize((clusters + 1) * size);
      for (std::size_t cluster = 0; cluster <= clusters; ++cluster)
        family->clear(stats.data() + cluster * size);
      std::vector<double> chosen(cells.size());
      for (std::size_t row = 0; row < rows.size(); ++row) {
        choose(rows[row], chosen);
        add(rows, row, chosen.data(), stats.data() + static_cast<std::size_t>(labels[row]) * size);
      }
      const double log_all = std::log(rows.copies() + alpha);
      log_prior.clear();
      for (std::size_t cluster = 0; cluster < clusters; ++cluster)
        log_prior.push_back(std::log(count_of(stats_of(cluster))) - log_all);
      log_prior.push_back(std::log(alpha) - log_all);
      log_prior.resize((clusters + kLanes) / kLanes * kLanes, kMinusInfinity);
      cache.fill(*family, clusters + 1, [this](std::size_t cluster) { return stats_of(cluster); });
    }

    /// All copies of a row, of which these are the cells.
    void add(const Rows& rows, std::size_t row, const double* chosen, double* to) const {
      if (rows.has_copies)
        family->add_copies(to, chosen, rows.copies_of(row));
      else
        family->add(to, chosen);
    }
    bool remove(const Rows& rows, std::size_t row, const double* chosen, double* from) const {
      return rows.has_copies ? family->remove_copies(from, chosen, rows.copies_of(row))
                             : family->remove(from, chosen);
    }

    void choose(const double* row, std::vector<double>& chosen) const {
      chosen.resize(cells.size());
      for (std::size_t place = 0; place < cells.size(); ++place) chosen[place] = row[cells[place]];
    }

    /// out[k] += log p(variant k's cells in the view | the rows but for this one).
    void add_log_densities_without(const Rows& rows, const Labels& labels, double alpha, std::size_t row,
                                   std::span<const double> variants, std::span<double> out) const {
      const auto own = static_cast<std::size_t>(labels[row]);
      std::vector<double> chosen(cells.size());
      std::vector<double> others(stats_of(own), stats_of(own) + family->stats_size());
      choose(rows[row], chosen);
      if (!remove(rows, row, chosen.data(), others.data())) {
        family->clear(others.data());
        for (std::size_t other = 0; other < rows.size(); ++other) {
          if (other == row || labels[other] != labels[row]) continue;
          choose(rows[other], chosen);
          add(rows, other, chosen.data(), others.data());
        }
      }
      PredictiveCache own_cache;
      own_cache.fill(*family, 1, [&](std::size_t) { return others.data(); });
      // All copies of a row leave together.
      const double all = rows.copies();
      const double shift = std::log(all + alpha) - std::log(all - rows.copies_of(row) + alpha);
      Room room;
      AlignedVector own_predictive;
      std::vector<double> first;  // cells of the first variant, whose answer serves all that have the same
      double log_density = 0.0;
      for (std::size_t k = 0; k < out.size(); ++k) {
        const double* variant = variants.data() + k * rows.width;
        choose(variant, chosen);
        const bool is_known = k > 0 && std::equal(chosen.begin(), chosen.end(), first.begin(), same_cell);
        if (is_known) {
          out[k] += log_density;
          continue;
        }
        weigh_clusters(variant, room);
        own_cache.log_predictives(chosen.data(), own_predictive);
        const double members = count_of(others.data());
        room.terms[own] =
            members > 0.5 ? std::log(members) - std::log(all + alpha) + own_predictive[0] : kMinusInfinity;
        const double own_density = log_sum_exp_lanes(room.terms.data(), room.terms.size()) + shift;
        out[k] += own_density;
        if (k > 0) continue;
        first = chosen;
        log_density = own_density;
      }
    }
    static bool same_cell(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

    /// Log weights of the clusters and of a new one, for the row's cells in the view.
    void weigh_clusters(const double* row, Room& room) const {
      choose(row, room.chosen);
      cache.log_predictives(room.chosen.data(), room.terms);
      for (std::size_t i = 0; i < room.terms.size(); i += kLanes)
        store_lanes(room.terms.data() + i,
                    load_lanes(room.terms.data() + i) + load_lanes(log_prior.data() + i));
    }
  };

  /// log p(value | cluster) of each value and cluster of the cell's view, a new cluster last.
  std::vector<double> densities_of(const CellValues& cell) const {
    const Part& part = parts_[view_of(cell.cell)];
    std::vector<double> logs;
    std::vector<double> chosen(part.cells.size(), kMissing);
    AlignedVector log_predictive;
    for (const double value : cell.values) {
      chosen[place_of_[cell.cell]] = value;
      part.cache.log_predictives(chosen.data(), log_predictive);
      logs.insert(logs.end(), log_predictive.begin(),
                  log_predictive.begin() + static_cast<std::ptrdiff_t>(part.clusters + 1));
    }
    return logs;
  }
  std::size_t view_of(std::size_t cell) const { return static_cast<std::size_t>(views_.columns[cell]); }
  const double* stats_of(std::size_t component, std::size_t cell) const {
    const std::size_t view = view_of(cell);
    const Part& part = parts_[view];
    return part.stats_of(component == first_.back() ? part.clusters : component - first_[view]);
  }

  const Problem* problem_;
  Options options_;
  std::unique_ptr<Family> own_family_;  // if hyper-parameters are learned: with those of the draw
  const Family* family_;
  double alpha_rows_, alpha_columns_;                           // of the draw
  std::size_t alpha_rows_trace_ = 0, alpha_columns_trace_ = 0;  // their places
  Views views_;
  std::size_t largest_ = 0;            // view
  std::vector<Part> parts_;            // by view
  std::vector<std::size_t> first_;     // component of each view
  std::vector<std::size_t> place_of_;  // of each cell in its view
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<ViewsPredictor>(problem);
}

}  // namespace coppice::crosscat
