#include "coppice/model/bhc/predictor.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/cluster/new_column.hpp"
#include "coppice/cluster/tree_predictive.hpp"
#include "coppice/model/bhc/inference.hpp"
#include "coppice/model/bhc/options.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/model/stats_predictor.hpp"

namespace coppice::bhc {
namespace {

class TreePredictor final : public StatsPredictor, public NewCells {
 public:
  explicit TreePredictor(const Problem& problem)
      : StatsPredictor(problem),
        problem_(&problem),
        options_(problem.parameters, problem.rows->size()),
        predictive_(*problem.family, *problem.rows, options_.alpha),
        empty_(problem.family->stats_size()) {
    problem.family->clear(empty_.data());
  }

  void set_draw(std::span<const Label> labels, std::span<const double>, std::string_view payload) override {
    const Dendrogram tree = row_tree(*problem_, payload);
    if (const Labels cut = options_.clusters_of(TreePosterior(tree));
        !std::equal(labels.begin(), labels.end(), cut.begin()))
      fail(ErrorCode::bad_data, "the run file is damaged: the clusters of a draw are not those of its tree");
    predictive_.set(tree);
    predictive_.set_clusters(labels);
  }

  std::size_t clusters(std::size_t) const override { return predictive_.clusters(); }

  void log_weights(const double* row, std::size_t, std::span<double> out) const override {
    predictive_.log_weights(row, out);
  }

  void cell_components(std::size_t row, std::size_t, std::vector<CellComponent>& out) const override {
    std::vector<std::pair<std::size_t, double>> parts;
    predictive_.components_of(row, parts);
    out.clear();
    for (const auto& [component, weight] : parts) out.push_back({component, weight});
  }
  /// The last one is a new cluster.
  std::size_t component_count() const override { return predictive_.components() + 1; }
  const double* stats(std::size_t component) const override {
    return component == predictive_.components() ? empty_.data() : predictive_.stats(component);
  }
  double condition_cells(const double* row, std::span<const std::size_t> cells,
                         std::vector<std::vector<CellComponent>>& mixtures) const override {
    std::vector<double> log_joint(component_count());
    predictive_.log_joint(row, log_joint);
    mixtures.resize(1);
    const double log_density = make_mixture(log_joint, 0, mixtures.front());
    mixtures.resize(cells.size(), mixtures.front());
    return log_density;
  }
  NewColumn new_column(const Family& family, const Rows& column) const override {
    return {log_new_column(predictive_.tree(), family, column), kMinusInfinity};
  }
  void draw_row(Stream& stream, double* row) const override {
    std::vector<double> log_joint(component_count());
    predictive_.log_shares(log_joint);
    draw_member(*problem_->family, stats(draw_from_logs(stream, log_joint)), stream, row);
  }

 private:
  const Problem* problem_;
  Options options_;
  TreePredictive predictive_;
  std::vector<double> empty_;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<TreePredictor>(problem);
}

}  // namespace coppice::bhc
