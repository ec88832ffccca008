// Draws numbers of clusters from the prior of a model whose concentration has the prior that
// --expect-clusters gives it: their mean and variance must be those that were asked for.
//
//   expected_clusters_mutant MODEL agrees|disagrees        (nrmm; nhcm and crosscat, where --learn is
//   implied)
#include <algorithm>
#include <cmath>

#include "coppice/family/plan.hpp"
#include "coppice/model/expected_clusters.hpp"
#include "coppice/model/registry.hpp"
#include "mutants/verdict.hpp"

namespace coppice::test {
namespace {

Agreement compare_counts(const std::string& name, std::uint64_t seed) {
  constexpr std::size_t kRows = 50;
  constexpr std::size_t kDraws = 40'000;
  constexpr double kMean = 5.0;
  constexpr double kVariance = 10.0;
  Table table;
  table.columns = {{"x", Kind::real, {}, {}}};
  for (std::size_t row = 0; row < kRows; ++row) {
    table.columns[0].values.push_back(std::sin(static_cast<double>(row)));
    table.row_ids.push_back(std::to_string(row));
  }
  const ModelEntry& model = model_by_name(name);
  const FamilyPlan plan = plan_family(table, {}, name == "crosscat" ? "gaussian-diagonal" : "gaussian", {});
  const Rows rows = encode(plan, table);
  Settings given{{kExpectClusters, Setting::vector({kMean, std::sqrt(kVariance)})}};
  if (name == "nhcm") given.emplace("nesting", Setting{Setting::Shape::text, {}, 0, "nested"});
  model.check_given(given);
  const Problem problem{plan.family.get(), &rows,
                        ParameterValues(model.parameters, with_expected_clusters(model, given, kRows))};
  const std::unique_ptr<Inference> inference = model.make_inference(problem);
  std::vector<double> counts, squares;
  Labels labels(kRows * model.levels(problem.parameters));
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    inference->draw_prior({seed, 0, draw});
    inference->labels(labels);
    const double count = 1.0 + *std::max_element(labels.begin(), labels.begin() + kRows);
    counts.push_back(count);
    squares.push_back((count - kMean) * (count - kMean));
  }
  Agreement agreement;
  agreement.check("mean", batch_estimate(counts), kMean);
  agreement.check("variance", batch_estimate(squares), kVariance);
  return agreement;
}

}  // namespace
}  // namespace coppice::test

int main(int argc, char** argv) { return coppice::test::judge(argc, argv, coppice::test::compare_counts); }
