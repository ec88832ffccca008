#include "coppice/model/bhcc/predictor.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/model/bhcc/cross_predictive.hpp"
#include "coppice/model/bhcc/inference.hpp"

namespace coppice::bhcc {
namespace {

class CrossPredictor final : public Predictor, public NewCells {
 public:
  explicit CrossPredictor(const Problem& problem)
      : problem_(&problem),
        options_(problem.parameters, problem.rows->size(), problem.rows->data_width()),
        predictive_(*problem.family, *problem.rows, options_) {}

  void set_draw(std::span<const Label> labels, std::span<const double>, std::string_view payload) override {
    predictive_.set(column_tree(*problem_, payload));
    const Views views = options_.views_of(predictive_.tree());
    if (!std::equal(labels.begin(), labels.end(), views.rows[views.largest()].begin()))
      fail(ErrorCode::bad_data, "the run file is damaged: the clusters of a draw are not those of its views");
    largest_ = nodes_of_views(predictive_.tree().columns, views.columns)[views.largest()];
    predictive_.view(largest_).set_clusters(labels);
  }

  std::size_t clusters(std::size_t) const override { return predictive_.view(largest_).clusters(); }

  void log_weights(const double* row, std::size_t, std::span<double> out) const override {
    const std::span<double> weights = out.first(clusters(1) + 1);
    predictive_.view(largest_).log_weights(predictive_.cells_of(largest_, row).data(), weights);
    const double others = predictive_.log_density(row) - log_sum_exp(weights);
    for (double& weight : weights) weight += others;
  }

  void cell_components(std::size_t row, std::size_t cell, std::vector<CellComponent>& out) const override {
    predictive_.missing_cell(row, cell, out);
  }
  double condition_cells(const double* row, std::span<const std::size_t> cells,
                         std::vector<std::vector<CellComponent>>& mixtures) const override {
    return predictive_.conditional_cells(row, cells, mixtures);
  }
  NewColumn new_column(const Family& family, const Rows& column) const override {
    return predictive_.new_column(family, column);
  }
  void draw_row(Stream& stream, double* row) const override { predictive_.draw_row(stream, row); }
  std::size_t component_count() const override { return predictive_.components(); }
  CellPredictive predict_cell(std::size_t component, std::size_t cell) const override {
    return predictive_.predict_cell(component, cell);
  }
  double log_cell(std::size_t component, std::size_t cell, double value) const override {
    return predictive_.log_cell(component, cell, value);
  }

 private:
  const Problem* problem_;
  Options options_;
  CrossPredictive predictive_;
  Dendrogram::Node largest_ = 0;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<CrossPredictor>(problem);
}

}  // namespace coppice::bhcc
