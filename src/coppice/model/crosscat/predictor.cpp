#include "coppice/model/crosscat/predictor.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/model/crosscat/options.hpp"
#include "coppice/model/crosscat/sampler.hpp"
#include "coppice/model/stats_predictor.hpp"

namespace coppice::crosscat {
namespace {

class ViewsPredictor final : public StatsPredictor {
 public:
  explicit ViewsPredictor(const Problem& problem)
      : StatsPredictor(problem),
        problem_(&problem),
        options_(problem.parameters),
        empty_(problem.family->stats_size()) {
    problem.family->clear(empty_.data());
  }

  void set_draw(std::span<const Label> labels, std::span<const double>, std::string_view details) override {
    const Family& family = *problem_->family;
    const Rows& rows = *problem_->rows;
    views_ = views_of(*problem_, details);
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
    const Family& family = *problem_->family;
    const double log_all = std::log(static_cast<double>(problem_->rows->size()) + options_.alpha_rows);
    std::vector<double> masked(family.width());
    std::vector<double> terms;
    double others = 0.0;
    for (std::size_t view = 0; view < views_.count(); ++view) {
      mask(row, view, masked);
      terms.clear();
      for (std::size_t component = first_[view]; component < first_[view + 1]; ++component)
        terms.push_back(std::log(count_of(stats(component))) +
                        family.log_predictive(stats(component), masked.data()) - log_all);
      terms.push_back(std::log(options_.alpha_rows) + family.log_predictive(empty_.data(), masked.data()) -
                      log_all);
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
  std::size_t component_count() const override { return first_.back(); }
  const double* stats(std::size_t component) const override {
    return stats_.data() + component * problem_->family->stats_size();
  }

 private:
  double* mutable_stats(std::size_t component) {
    return stats_.data() + component * problem_->family->stats_size();
  }
  void mask(const double* row, std::size_t view, std::vector<double>& out) const {
    for (std::size_t cell = 0; cell < out.size(); ++cell)
      out[cell] = static_cast<std::size_t>(views_.columns[cell]) == view ? row[cell] : kMissing;
  }

  const Problem* problem_;
  Options options_;
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
