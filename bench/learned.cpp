// What learning hyper-parameters costs: CPU time of a sweep with and without, of nrmm for 2 to 100 real
// columns, of nrmm and crosscat for columns of four levels. Fixed hyper-parameters find other clusters than
// learned ones, so both kinds of time are also given for each row and cluster.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/cpu_time.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/model/registry.hpp"

namespace {

using namespace coppice;

/// Normal clusters with unit covariance whose centers are uniform in a box.
Table clusters(std::size_t n, std::size_t d, std::size_t k, double box) {
  Table table;
  Stream stream({11, d, n}, Purpose::test);
  std::vector<std::vector<double>> center(k, std::vector<double>(d));
  for (auto& point : center)
    for (double& x : point) x = box * (2.0 * draw_uniform(stream) - 1.0);
  for (std::size_t j = 0; j < d; ++j)
    table.columns.push_back({fmt::format("c{}", j + 1), Kind::real, {}, {}});
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = draw_index(stream, k);
    table.row_ids.push_back(fmt::format("{}", i + 1));
    for (std::size_t j = 0; j < d; ++j) table.columns[j].values.push_back(center[c][j] + draw_normal(stream));
  }
  return table;
}

/// Columns of four levels whose frequencies differ between clusters.
Table categories(std::size_t n, std::size_t d, std::size_t k) {
  constexpr std::size_t kLevels = 4;
  Table table;
  Stream stream({12, d, n}, Purpose::test);
  std::vector<std::vector<double>> frequencies(k * d, std::vector<double>(kLevels));
  for (std::vector<double>& own : frequencies)
    draw_dirichlet(stream, std::vector<double>{0.8, 0.4, 0.2, 0.1}, own);
  for (std::size_t j = 0; j < d; ++j)
    table.columns.push_back({fmt::format("c{}", j + 1), Kind::category, {}, {"a", "b", "c", "d"}});
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = draw_index(stream, k);
    table.row_ids.push_back(fmt::format("{}", i + 1));
    for (std::size_t j = 0; j < d; ++j)
      table.columns[j].values.push_back(
          static_cast<double>(draw_categorical(stream, frequencies[c * d + j])));
  }
  return table;
}

struct Measured {
  double sweep = 0.0;     // median, in seconds
  double clusters = 0.0;  // mean number
};

Measured measure(const char* name, const Table& table, bool learned, int sweeps) {
  const ModelEntry& model = model_by_name(name);
  // Real columns are modeled jointly in both cases.
  const char* family = table.columns.front().kind == Kind::real ? "gaussian" : "auto";
  const FamilyPlan plan =
      plan_family(table, {}, family, {}, false, {.learns_hyper = learned, .fills_missing = false});
  const Rows rows = encode(plan, table);
  const std::unique_ptr<Inference> chain =
      model.make_inference({plan.family.get(), &rows, ParameterValues(model.parameters, {})});
  Labels labels(table.rows());
  std::vector<double> times;
  Measured result;
  chain->init({1, 0, 0});
  for (int sweep = 1; sweep <= 2 * sweeps; ++sweep) {
    const double start = bench::cpu_time();
    chain->step({1, 0, static_cast<std::uint64_t>(sweep)});
    if (sweep <= sweeps) continue;
    times.push_back(bench::cpu_time() - start);
    chain->labels(labels);
    result.clusters += static_cast<double>(cluster_sizes(labels).size()) / sweeps;
  }
  std::nth_element(times.begin(), times.begin() + sweeps / 2, times.end());
  result.sweep = times[static_cast<std::size_t>(sweeps / 2)];
  return result;
}

void compare(const char* model, const Table& table, int sweeps) {
  const std::string name = fmt::format("{} {} x {} {}", model, table.rows(), table.columns.size(),
                                       table.columns.front().kind == Kind::real ? "real" : "levels");
  const Measured fixed = measure(model, table, false, sweeps);
  const Measured learned = measure(model, table, true, sweeps);
  const auto per_cluster = [&](const Measured& m) {
    return m.sweep / m.clusters / static_cast<double>(table.rows()) * 1e9;
  };
  fmt::print("{:<26} {:>10.3f} {:>7.1f} {:>8.2f} {:>12.3f} {:>9.1f} {:>8.2f} {:>7.2f} {:>13.2f}\n", name,
             fixed.sweep * 1e3, fixed.clusters, per_cluster(fixed), learned.sweep * 1e3, learned.clusters,
             per_cluster(learned), learned.sweep / fixed.sweep, per_cluster(learned) / per_cluster(fixed));
}

}  // namespace

int main() {
  fmt::print("{:<26} {:>10} {:>7} {:>8} {:>12} {:>9} {:>8} {:>7} {:>13}\n", "model, rows x columns",
             "fixed, ms", "K", "ns/r*c", "learned, ms", "K", "ns/r*c", "ratio", "per cluster");
  compare("nrmm", clusters(1000, 2, 10, 12.0), 300);
  compare("nrmm", clusters(2000, 10, 20, 5.0), 100);
  compare("nrmm", clusters(500, 30, 6, 3.0), 100);
  compare("nrmm", clusters(1000, 30, 6, 3.0), 60);
  compare("nrmm", clusters(500, 100, 5, 3.0), 30);
  compare("nrmm", clusters(5000, 20, 10, 4.0), 30);
  compare("nrmm", categories(1000, 20, 6), 100);
  compare("crosscat", categories(500, 20, 6), 100);
  return 0;
}
