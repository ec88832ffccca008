// Speed of clusters of sub-clusters next to the flat mixture of the same data in the same run, with its
// plain Gibbs sampler and with its default one: time of a sweep, its ratio, nanoseconds for one weight,
// effective draws per second of both numbers of clusters, and the log-log slope of the sweep's time in the
// number of rows. Usage: bench_two_level [SWEEPS].
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "bench/cpu_time.hpp"
#include "coppice/data/bananas.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/diagnostics.hpp"

namespace {

using namespace coppice;
using bench::cpu_time;

/// Eight clusters of three sub-clusters each.
Table clusters_of_clusters(std::size_t rows, std::size_t columns) {
  constexpr std::size_t kClusters = 8;
  constexpr std::size_t kParts = 3;
  Stream stream({7, columns, 0}, Purpose::test);
  std::vector<std::vector<double>> centers;
  for (std::size_t cluster = 0; cluster < kClusters; ++cluster) {
    std::vector<double> center(columns);
    for (double& x : center) x = 12.0 * draw_normal(stream);
    for (std::size_t part = 0; part < kParts; ++part) {
      centers.push_back(center);
      for (double& x : centers.back()) x += 3.0 * draw_normal(stream);
    }
  }
  Table table;
  for (std::size_t j = 0; j < columns; ++j)
    table.columns.push_back({fmt::format("c{}", j + 1), Kind::real, std::vector<double>(rows), {}});
  for (std::size_t i = 0; i < rows; ++i) {
    table.row_ids.push_back(fmt::format("{}", i));
    const std::vector<double>& center = centers[draw_index(stream, centers.size())];
    for (std::size_t j = 0; j < columns; ++j) table.columns[j].values[i] = center[j] + draw_normal(stream);
  }
  return table;
}

struct Result {
  double milliseconds = 0.0, clusters = 0.0, components = 0.0, clusters_per_second = 0.0;
};

/// `components`: the trace of the numbers over which a row's weights run.
Result measure(const std::string& name, const Problem& base, const std::vector<std::string>& texts,
               std::size_t sweeps, const std::string& clusters, const std::string& components) {
  const ModelEntry& model = model_by_name(name);
  Settings settings;
  for (const std::string& text : texts) parse_assignment(text, settings);
  const Problem problem{base.family, base.rows, ParameterValues(model.parameters, settings)};
  const std::unique_ptr<Inference> sampler = model.make_inference(problem);
  const std::vector<std::string> names = model.trace_names(problem.parameters);
  const auto place = [&](const std::string& trace) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), trace) - names.begin());
  };
  sampler->init({1, 0, 0});
  for (std::size_t sweep = 1; sweep <= sweeps; ++sweep) sampler->step({1, 0, sweep});
  std::vector<double> values(names.size()), times, counts;
  Result result;
  double seconds = 0.0;
  for (std::size_t sweep = sweeps + 1; sweep <= 2 * sweeps; ++sweep) {
    const double begin = cpu_time();
    sampler->step({1, 0, sweep});
    times.push_back(cpu_time() - begin);
    seconds += times.back();
    sampler->traces(values);
    counts.push_back(values[place(clusters)]);
    result.clusters += values[place(clusters)] / static_cast<double>(sweeps);
    result.components += values[place(components)] / static_cast<double>(sweeps);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  result.milliseconds = 1e3 * times[times.size() / 2];
  result.clusters_per_second =
      summarize_trace("", std::vector<std::vector<double>>{counts}).ess_bulk / seconds;
  return result;
}

/// Milliseconds of a sweep of nhcm.
double compare(const std::string& name, const Table& table, const std::vector<std::string>& hyper,
               std::size_t sweeps) {
  Settings family_settings;
  for (const std::string& text : hyper) parse_assignment(text, family_settings);
  const FamilyPlan plan = plan_family(table, {}, "gaussian", family_settings);
  const Rows rows = encode(plan, table);
  const Problem problem{plan.family.get(), &rows, {}};
  const Result flat =
      measure("nrmm", problem, {"sampler=\"gibbs\"", "alpha=1"}, sweeps, "clusters", "clusters");
  const Result automatic = measure("nrmm", problem, {"alpha=1"}, sweeps, "clusters", "clusters");
  const Result nested = measure("nhcm", problem, {}, sweeps, "clusters_1", "clusters_2");
  const double weights = (nested.components + nested.clusters) * static_cast<double>(rows.size());
  const double flat_weights = (flat.components + 1.0) * static_cast<double>(rows.size());
  fmt::print(
      "{:<16}{:>7}{:>4}{:>9.3f}{:>9.1f}{:>9.1f}{:>8.1f}{:>9.1f}{:>9.3f}{:>9.1f}{:>8.1f}{:>8.2f}{:>9.3f}{:>8."
      "2f}\n",
      name, rows.size(), rows.width, nested.milliseconds, nested.clusters, nested.components,
      1e6 * nested.milliseconds / weights, nested.clusters_per_second, flat.milliseconds, flat.clusters,
      1e6 * flat.milliseconds / flat_weights, nested.milliseconds / flat.milliseconds, automatic.milliseconds,
      nested.milliseconds / automatic.milliseconds);
  std::fflush(stdout);
  return nested.milliseconds;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t sweeps = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200;
  fmt::print("{:<16}{:>7}{:>4}{:>9}{:>9}{:>9}{:>8}{:>9}{:>9}{:>9}{:>8}{:>8}{:>9}{:>8}\n", "data", "rows", "D",
             "ms", "clusters", "subs", "ns", "ESS/s", "gibbs ms", "clusters", "ns", "ratio", "auto ms",
             "ratio");
  const std::vector<std::string> published{"mean_strength=1", "dof=5", "scale=1"};
  for (const double noise : {0.3, 1.0}) {
    Bananas bananas;
    bananas.noise = noise;
    Stream stream({1, 0, 0}, Purpose::test);
    compare(fmt::format("bananas {}", noise), bananas.draw(stream), published, 5 * sweeps);
  }
  for (const std::size_t columns : {2u, 10u}) {
    std::vector<double> times;
    for (const std::size_t rows : {5'000u, 20'000u, 80'000u})
      times.push_back(compare("eight clusters", clusters_of_clusters(rows, columns), {},
                              rows > 20'000 ? std::max<std::size_t>(sweeps / 10, 5) : sweeps));
    fmt::print("log-log slope in rows, {} columns: {:.2f}\n", columns,
               std::log(times.back() / times.front()) / std::log(16.0));
  }
  return 0;
}
