// Fitting a table that is in memory, with nothing but the library: no files, no printing inside.
#include <cstdio>

#include "coppice/coppice.hpp"

int main() {
  using namespace coppice;
  Table table;
  table.row_ids = {"a", "b", "c", "d", "e", "f"};
  table.columns = {{"height", Kind::real, {1.0, 1.1, 0.9, 5.0, 5.2, 4.9}, {}},
                   {"width", Kind::real, {2.0, 2.1, 1.8, 7.1, 7.0, 6.8}, {}}};

  const FamilyPlan plan = plan_family(table, {}, "gaussian", {});
  const Rows rows = encode(plan, table);
  const ModelEntry& model = model_by_name("nrmm");
  const Problem problem{plan.family.get(), &rows, ParameterValues(model.parameters, {})};

  const auto inference = model.make_inference(problem);
  const std::uint64_t seed = 1;
  inference->init({seed, 0, 0});
  LabelMatrix draws;
  Labels labels(table.rows());
  for (std::uint64_t sweep = 1; sweep <= 2000; ++sweep) {
    inference->step({seed, 0, sweep});
    if (sweep <= 500) continue;
    inference->labels(labels);
    draws.push_back(labels);
  }
  const Consensus estimate = consensus(draws);
  for (std::size_t row = 0; row < table.rows(); ++row)
    std::printf("%s: cluster %d (%.0f %% sure)\n", table.row_ids[row].c_str(), estimate.labels[row],
                100.0 * estimate.row_confidence[row]);
  return 0;
}
