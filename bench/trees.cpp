// Seconds of exact greedy and randomized trees: bench_trees DATA.npy FAMILY HOW REPEATS [THREADS [LABELS]].
// Prints the best processor time of a whole fit, the lower bound, the number of clusters (trees of views: of
// views) and the best time by the clock; writes the clusters of the rows to LABELS. Without arguments: a
// small table of its own.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
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

/// keep, recompute and randomized are ways of bhc, search chooses the concentration first; after "cross-"
/// auto, full, reuse and randomized of bhcc.
Settings settings_of(const std::string& how) {
  Settings given;
  if (how == "search")
    parse_assignment("alpha-rows=\"auto\"", given);
  else if (how == "randomized" || how == "cross-randomized")
    parse_assignment("randomized=true", given);
  else if (how.starts_with("cross-"))
    parse_assignment(fmt::format("inner=\"{}\"", how.substr(6)), given);
  else
    parse_assignment(fmt::format("pair-scores=\"{}\"", how), given);
  return given;
}

void run(Table table, const std::string& family, const std::string& how, int repeats, std::size_t threads,
         const char* labels_path = nullptr) {
  Settings settings;
  if (family == "gaussian-diagonal") parse_assignment("within_fraction=0.05", settings);
  if (family == "binomial") {
    parse_assignment("trials=50", settings);
    for (Column& column : table.columns) column.kind = Kind::count;
  }
  const FamilyPlan plan = plan_family(table, {}, family, settings);
  const Rows rows = encode(plan, table);
  const ModelEntry& model = model_by_name(how.starts_with("cross-") ? "bhcc" : "bhc");
  Problem problem{plan.family.get(), &rows, ParameterValues(model.parameters, settings_of(how))};
  double best = std::numeric_limits<double>::infinity();
  double best_wall = best;
  double bound = 0.0;
  std::size_t groups = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const std::clock_t begin = std::clock();
    const auto begin_wall = std::chrono::steady_clock::now();
    if (how == "search") {
      Settings chosen = settings_of(how);
      problem.parameters = ParameterValues(model.parameters, chosen);
      for (const auto& [name, value] : model.resolve(problem, chosen, 1, threads).settings)
        chosen.insert_or_assign(name, value);
      problem.parameters = ParameterValues(model.parameters, chosen);
    }
    const std::unique_ptr<Inference> fit = model.make_inference(problem);
    fit->use_threads(threads);
    std::uint64_t step = 0;
    while (!fit->finished()) fit->step({1, 0, ++step});
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    best_wall = std::min(
        best_wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_wall).count());
    bound = fit->log_joint();
    Labels labels(rows.size());
    fit->labels(labels);
    groups = model.has_views() ? model.views(problem, fit->payload()).count() : cluster_sizes(labels).size();
    if (labels_path != nullptr) {
      std::ofstream out(labels_path);
      for (const Label label : labels) out << label << '\n';
    }
  }
  fmt::print("{:.6f} {:.6f} {} {:.6f}\n", best, bound, groups, best_wall);
}

}  // namespace
}  // namespace coppice

int main(int argc, char** argv) {
  using namespace coppice;
  if (argc < 5) {
    for (const char* how : {"keep", "recompute", "randomized"})
      run(own_table(), "gaussian-diagonal", how, 3, 1);
    return 0;
  }
  run(read_dataset(argv[1], {}).table, argv[2], argv[3], std::stoi(argv[4]),
      argc > 5 ? std::stoul(argv[5]) : 1, argc > 6 ? argv[6] : nullptr);
  return 0;
}
