#include "coppice/model/crosscat/predictor.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/cluster/new_column.hpp"
#include "coppice/model/crosscat/inference.hpp"
#include "coppice/model/crosscat/options.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/model/stats_predictor.hpp"
#include "coppice/model/trace_table.hpp"

namespace coppice::crosscat {
namespace {

class ViewsPredictor final : public StatsPredictor, public NewCells {
 public:
  explicit ViewsPredictor(const Problem& problem)
      : StatsPredictor(problem),
        problem_(&problem),
        options_(problem.parameters),
        alpha_rows_(options_.alpha_rows.start()),
        alpha_columns_(options_.alpha_columns.start()),
        empty_(problem.family->stats_size()) {
    problem.family->clear(empty_.data());
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
    const Family& family = this->family();
    const Rows& rows = *problem_->rows;
    views_ = views_of(*problem_, payload);
    set_hyper(hyper_of(*problem_, payload));
    if (!std::equal(labels.begin(), labels.end(), views_.rows[views_.largest()].begin()))
      fail(ErrorCode::bad_data, "the run file is damaged: the clusters of a draw are not those of its views");
    first_.assign(1, 0);
    for (const Labels& of_view : views_.rows) first_.push_back(first_.back() + cluster_sizes(of_view).size());
    stats_.assign(first_.back() * family.stats_size(), 0.0);
    for (std::size_t component = 0; component < first_.back(); ++component)
      family.clear(mutable_stats(component));
    // Cells of other views are left out: each column is counted in its own view alone.
    std::vector<double> masked(family.width());
    for (std::size_t view = 0; view < views_.count(); ++view)
      for (std::size_t row = 0; row < rows.size(); ++row) {
        mask(rows[row], view, masked);
        family.add(mutable_stats(first_[view] + static_cast<std::size_t>(views_.rows[view][row])),
                   masked.data());
      }
  }

  std::size_t clusters(std::size_t) const override {
    return first_[views_.largest() + 1] - first_[views_.largest()];
  }

  void log_weights(const double* row, std::size_t, std::span<double> out) const override {
    std::vector<double> terms;
    double others = 0.0;
    for (std::size_t view = 0; view < views_.count(); ++view) {
      weigh_clusters(row, view, terms);
      if (view == views_.largest())
        std::copy(terms.begin(), terms.end(), out.begin());
      else
        others += log_sum_exp(terms);
    }
    for (double& weight : out.subspan(0, clusters(1) + 1)) weight += others;
  }

  void cell_components(std::size_t row, std::size_t cell, std::vector<CellComponent>& out) const override {
    const auto view = static_cast<std::size_t>(views_.columns[cell]);
    out.assign(1, {first_[view] + static_cast<std::size_t>(views_.rows[view][row]), 1.0});
  }
  double condition_cells(const double* row, std::span<const std::size_t> cells,
                         std::vector<std::vector<CellComponent>>& mixtures) const override {
    std::vector<std::vector<CellComponent>> of_view(views_.count());
    std::vector<double> terms;
    double log_density = 0.0;
    for (std::size_t view = 0; view < views_.count(); ++view) {
      weigh_clusters(row, view, terms);
      log_density += make_mixture(terms, first_[view], of_view[view]);
      for (CellComponent& part : of_view[view])
        if (part.component == first_[view + 1]) part.component = first_.back();
    }
    mixtures.clear();
    for (const std::size_t cell : cells)
      mixtures.push_back(of_view[static_cast<std::size_t>(views_.columns[cell])]);
    return log_density;
  }
  NewColumn new_column(const Family& family, const Rows& column) const override {
    const std::vector<std::size_t> sizes = cluster_sizes(views_.columns);
    std::vector<double> terms;
    for (std::size_t view = 0; view < views_.count(); ++view)
      terms.push_back(std::log(static_cast<double>(sizes[view])) +
                      log_marginal_of_clusters(family, column, views_.rows[view]));
    terms.push_back(std::log(alpha_columns_) + log_bound_of_rows(family, column, alpha_rows_));
    const double log_all = std::log(static_cast<double>(problem_->family->width()) + alpha_columns_);
    return {log_sum_exp(terms) - log_all, terms.back() - log_all};
  }
  void draw_row(Stream& stream, double* row) const override {
    const std::size_t width = problem_->family->width();
    const std::vector<double> nothing(width, kMissing);
    std::vector<double> drawn(width);
    std::vector<double> terms;
    for (std::size_t view = 0; view < views_.count(); ++view) {
      weigh_clusters(nothing.data(), view, terms);
      const std::size_t component = first_[view] + draw_from_logs(stream, terms);
      draw_member(family(), component == first_[view + 1] ? empty_.data() : stats(component), stream,
                  drawn.data());
      for (std::size_t cell = 0; cell < width; ++cell)
        if (static_cast<std::size_t>(views_.columns[cell]) == view) row[cell] = drawn[cell];
    }
  }
  /// The last one is a new cluster, the same in all views.
  std::size_t component_count() const override { return first_.back() + 1; }
  const double* stats(std::size_t component) const override {
    return component == first_.back() ? empty_.data()
                                      : stats_.data() + component * problem_->family->stats_size();
  }

 private:
  /// Log weights of the clusters of a view and of a new one there, for the row's cells in the view.
  void weigh_clusters(const double* row, std::size_t view, std::vector<double>& terms) const {
    const Family& family = this->family();
    const double log_all = std::log(static_cast<double>(problem_->rows->size()) + alpha_rows_);
    std::vector<double> masked(family.width());
    mask(row, view, masked);
    terms.clear();
    for (std::size_t component = first_[view]; component < first_[view + 1]; ++component)
      terms.push_back(std::log(count_of(stats(component))) +
                      family.log_predictive(stats(component), masked.data()) - log_all);
    terms.push_back(std::log(alpha_rows_) + family.log_predictive(empty_.data(), masked.data()) - log_all);
  }
  double* mutable_stats(std::size_t component) {
    return stats_.data() + component * problem_->family->stats_size();
  }
  void mask(const double* row, std::size_t view, std::vector<double>& out) const {
    for (std::size_t cell = 0; cell < out.size(); ++cell)
      out[cell] = static_cast<std::size_t>(views_.columns[cell]) == view ? row[cell] : kMissing;
  }

  const Problem* problem_;
  Options options_;
  double alpha_rows_, alpha_columns_;                           // of the draw
  std::size_t alpha_rows_trace_ = 0, alpha_columns_trace_ = 0;  // their places
  std::vector<double> empty_;
  Views views_;
  std::vector<std::size_t> first_;  // component of each view
  std::vector<double> stats_;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<ViewsPredictor>(problem);
}

}  // namespace coppice::crosscat
