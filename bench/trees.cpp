// Processor seconds of exact greedy and randomised trees: bench_trees DATA.npy FAMILY keep|recompute|randomized
// REPEATS. Prints the best time of a whole fit, the lower bound and the number of clusters. Without
// arguments: a small table of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <limits>

#include "coppice/base/rng.hpp"
#include "coppice/data/read.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/model/registry.hpp"

namespace coppice {
namespace {

Table own_table() {
  Table table;
  Stream stream({1, 0, 0}, Purpose::test);
  for (int row = 0; row < 1000; ++row) table.row_ids.push_back(fmt::format("{}", row));
  for (int j = 0; j < 10; ++j) {
    Column column{fmt::format("v{}", j), Kind::real, {}, {}};
    for (int row = 0; row < 1000; ++row) column.values.push_back(6.0 * (row % 8 == j) + draw_normal(stream));
    table.columns.push_back(column);
  }
  return table;
}

void run(const Table& table, const std::string& family, const std::string& how, int repeats) {
  Settings settings;
  if (family == "gaussian-diagonal") parse_assignment("share=0.05", settings);
  const FamilyPlan plan = plan_family(table, {}, family, settings);
  const Rows rows = encode(plan, table);
  const ModelEntry& model = model_by_name("bhc");
  Settings given;
  parse_assignment(how == "randomized" ? "randomized=true" : fmt::format("pair-scores=\"{}\"", how), given);
  const Problem problem{plan.family.get(), &rows, ParameterValues(model.parameters, given)};
  double best = std::numeric_limits<double>::infinity();
  double bound = 0.0;
  Labels labels(rows.size());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const std::clock_t begin = std::clock();
    const std::unique_ptr<Sampler> fit = model.make_sampler(problem);
    std::uint64_t step = 0;
    while (!fit->finished()) fit->step({1, 0, ++step});
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    bound = fit->log_joint();
    fit->shape(labels);
  }
  fmt::print("{:.6f} {:.6f} {}\n", best, bound, cluster_sizes(labels).size());
}

}  // namespace
}  // namespace coppice

int main(int argc, char** argv) {
  using namespace coppice;
  if (argc != 5) {
    for (const char* how : {"keep", "recompute", "randomized"}) run(own_table(), "gaussian-diagonal", how, 3);
    return 0;
  }
  run(read_dataset(argv[1], {}).table, argv[2], argv[3], std::atoi(argv[4]));
  return 0;
}
