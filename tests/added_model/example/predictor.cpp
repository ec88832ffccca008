#include "added_model/example/predictor.hpp"

#include <cmath>

#include "coppice/model/stats_predictor.hpp"

namespace coppice::example {
namespace {

class ExamplePredictor final : public StatsPredictor {
 public:
  explicit ExamplePredictor(const Problem& problem)
      : StatsPredictor(problem), rows_(*problem.rows), alpha_(problem.parameters.real("alpha")) {}

  void set_draw(std::span<const Label> labels, std::span<const double>, std::string_view) override {
    labels_.assign(labels.begin(), labels.end());
    const std::vector<std::size_t> sizes = cluster_sizes(labels_);
    clusters_ = sizes.size();
    stats_.resize((clusters_ + 1) * family().stats_size());
    for (std::size_t component = 0; component <= clusters_; ++component) family().clear(place(component));
    for (std::size_t row = 0; row < labels_.size(); ++row)
      family().add(place(static_cast<std::size_t>(labels_[row])), rows_[row]);
    log_prior_.clear();
    const double all = static_cast<double>(labels_.size()) + alpha_;
    for (const std::size_t size : sizes) log_prior_.push_back(std::log(static_cast<double>(size) / all));
    log_prior_.push_back(std::log(alpha_ / all));
  }

  std::size_t clusters(std::size_t) const override { return clusters_; }
  void log_weights(const double* row, std::size_t, std::span<double> out) const override {
    for (std::size_t component = 0; component <= clusters_; ++component)
      out[component] = log_prior_[component] + family().log_predictive(stats(component), row);
  }
  void cell_components(std::size_t row, std::size_t, std::vector<CellComponent>& out) const override {
    out.assign(1, {static_cast<std::size_t>(labels_[row]), 1.0});
  }
  /// The last one is a new cluster.
  std::size_t component_count() const override { return clusters_ + 1; }
  const double* stats(std::size_t component) const override {
    return stats_.data() + component * family().stats_size();
  }

 private:
  double* place(std::size_t component) { return stats_.data() + component * family().stats_size(); }

  const Rows& rows_;
  double alpha_;
  Labels labels_;
  std::size_t clusters_ = 0;
  std::vector<double> stats_, log_prior_;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<ExamplePredictor>(problem);
}

}  // namespace coppice::example
