#include "coppice/model/bhc/predictor.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/cluster/tree_predictive.hpp"
#include "coppice/model/bhc/fit.hpp"
#include "coppice/model/bhc/options.hpp"
#include "coppice/model/stats_predictor.hpp"

namespace coppice::bhc {
namespace {

class TreePredictor final : public StatsPredictor {
 public:
  explicit TreePredictor(const Problem& problem)
      : StatsPredictor(problem),
        problem_(&problem),
        options_(problem.parameters, problem.rows->size()),
        predictive_(*problem.family, *problem.rows, options_.alpha) {}

  void set_draw(std::span<const Label> labels, std::span<const double>, std::string_view details) override {
    const Dendrogram tree = row_tree(*problem_, details);
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
  std::size_t component_count() const override { return predictive_.components(); }
  const double* stats(std::size_t component) const override { return predictive_.stats(component); }

 private:
  const Problem* problem_;
  Options options_;
  TreePredictive predictive_;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<TreePredictor>(problem);
}

}  // namespace coppice::bhc
