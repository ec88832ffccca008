// Speed of the data-parallel sampler. Usage:
//   bench_data_parallel [ROWS]        CPU seconds of a sweep on one thread for ROWS x 10 with 20 clusters and
//   full
//                                     covariance, and, up to 10^6 rows, 100 sweeps of ROWS x 2 with 6
//   bench_data_parallel narrow ROWS   only the latter
//   bench_data_parallel threads ROWS  wall-clock seconds of a sweep on one thread and on two
//   bench_data_parallel slope         seconds of a sweep from 10^5 to 10^7 rows
//   bench_data_parallel start ROWS    time from a cold start to an ARI of 0.95
//   bench_data_parallel merge         seconds to merge the statistics of two blocks, for one cluster of 10
//   columns bench_data_parallel against ROWS  beside the samplers that move rows one by one, by time
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include "bench/cpu_time.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/scores.hpp"

namespace {

using namespace coppice;
using bench::cpu_time;
using Clock = std::chrono::steady_clock;

double wall() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

/// Gaussian clusters with covariances of their own, and centers in a box.
struct Workload {
  Table table;
  Labels truth;
  FamilyPlan plan;
  Rows rows;

  Workload(std::size_t n, std::size_t d, std::size_t k, double box) {
    Stream stream({11, d, k}, Purpose::test);
    std::vector<double> center(k * d), root(k * d * d);
    for (double& x : center) x = box * (2.0 * draw_uniform(stream) - 1.0);
    for (std::size_t c = 0; c < k; ++c)
      for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j <= i; ++j)
          root[(c * d + i) * d + j] = i == j ? 0.6 + 0.8 * draw_uniform(stream) : 0.25 * draw_normal(stream);
    for (std::size_t j = 0; j < d; ++j)
      table.columns.push_back({fmt::format("c{}", j + 1), Kind::real, std::vector<double>(n), {}});
    table.row_ids.resize(n);
    std::vector<double> noise(d);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t c = draw_index(stream, k);
      truth.push_back(static_cast<Label>(c));
      for (double& x : noise) x = draw_normal(stream);
      for (std::size_t j = 0; j < d; ++j) {
        double x = center[c * d + j];
        for (std::size_t l = 0; l <= j; ++l) x += root[(c * d + j) * d + l] * noise[l];
        table.columns[j].values[i] = x;
      }
    }
    plan = plan_family(table, {}, "gaussian", {});
    rows = encode(plan, table);
  }

  std::unique_ptr<Inference> sampler(const std::string& kind,
                                     const std::vector<std::string>& more = {}) const {
    Settings settings{{"sampler", {Setting::Shape::text, {}, 0, kind}}};
    for (const std::string& assignment : more) parse_assignment(assignment, settings);
    const ModelEntry& model = model_by_name("nrmm");
    return model.make_inference({plan.family.get(), &rows, ParameterValues(model.parameters, settings)});
  }
};

struct Seen {
  double clusters, log_joint, ari;
};

Seen look(const Workload& work, const Inference& sampler) {
  std::vector<double> traces(8 + work.plan.family->hyper_trace_names().size());
  sampler.traces(traces);
  Labels labels(work.rows.size());
  sampler.labels(labels);
  return {traces[1], traces[0], adjusted_rand_index(work.truth, labels)};
}

void measure_sweeps(std::size_t n, std::size_t d, std::size_t k, double box, std::uint64_t sweeps) {
  const Workload work(n, d, k, box);
  const std::unique_ptr<Inference> sampler = work.sampler("data-parallel");
  sampler->use_threads(1);
  double begin = cpu_time();
  sampler->init({1, 0, 0});
  const double start = cpu_time() - begin;
  // From sweep 51 on: the number of split-merge moves is that of a long run.
  begin = cpu_time();
  for (std::uint64_t sweep = 51; sweep <= 50 + sweeps; ++sweep) sampler->step({1, 0, sweep});
  const double seconds = cpu_time() - begin;
  const Seen seen = look(work, *sampler);
  fmt::print(
      "{:>9} x {:<2} {:>3} clusters: start {:6.2f} s, {} sweeps {:7.2f} s, a sweep {:.4f} s; {:.0f} "
      "clusters, ARI {:.3f}\n",
      n, d, k, start, sweeps, seconds, seconds / static_cast<double>(sweeps), seen.clusters, seen.ari);
}

void measure_threads(std::size_t n) {
  const Workload work(n, 10, 20, 6.0);
  double seconds[2];
  for (std::size_t threads = 1; threads <= 2; ++threads) {
    const std::unique_ptr<Inference> sampler = work.sampler("data-parallel");
    sampler->use_threads(threads);
    sampler->init({1, 0, 0});
    double best = 1e300;
    for (std::uint64_t sweep = 51; sweep <= 65; ++sweep) {
      const double begin = wall();
      sampler->step({1, 0, sweep});
      best = std::min(best, wall() - begin);
    }
    seconds[threads - 1] = best;
    const Seen seen = look(work, *sampler);
    fmt::print("{} threads: the fastest of 15 sweeps {:.4f} s; log joint {:.6f}\n", threads, best,
               seen.log_joint);
  }
  fmt::print("two threads are {:.2f} times as fast as one\n", seconds[0] / seconds[1]);
}

void measure_merge() {
  const Workload work(10'000, 10, 20, 6.0);
  const Family& family = *work.plan.family;
  std::vector<double> all(family.stats_size()), more(family.stats_size());
  family.clear(all.data());
  family.clear(more.data());
  for (std::size_t row = 0; row < work.rows.size(); ++row)
    family.add(row % 2 == 0 ? all.data() : more.data(), work.rows[row]);
  constexpr std::size_t kMerges = 200'000;
  const double begin = cpu_time();
  for (std::size_t i = 0; i < kMerges; ++i) family.merge(all.data(), more.data());
  fmt::print("{:.3g} s to merge the statistics of a cluster of 10 columns\n",
             (cpu_time() - begin) / static_cast<double>(kMerges));
}

void measure_start(std::size_t n) {
  const Workload work(n, 10, 20, 6.0);
  const std::unique_ptr<Inference> sampler = work.sampler("data-parallel");
  sampler->use_threads(1);
  const double begin = cpu_time();
  sampler->init({1, 0, 0});
  for (std::uint64_t sweep = 1; sweep <= 100; ++sweep) {
    const double spent = cpu_time() - begin;
    const Seen seen = look(work, *sampler);
    fmt::print("after {:7.2f} s ({} sweeps): {:.0f} clusters, log joint {:.1f}, ARI {:.4f}\n", spent,
               sweep - 1, seen.clusters, seen.log_joint, seen.ari);
    if (seen.ari >= 0.95) return;
    sampler->step({1, 0, sweep});
  }
}

/// Both samplers for the same CPU time: where they are, and how fast their traces forget.
void measure_against(std::size_t n, double box, double limit) {
  const Workload work(n, 4, 12, box);
  for (const std::string kind : {"auto", "data-parallel"}) {
    const std::unique_ptr<Inference> sampler = work.sampler(kind);
    sampler->use_threads(1);
    const double begin = cpu_time();
    sampler->init({1, 0, 0});
    double next = limit / 8.0;
    for (std::uint64_t sweep = 1; cpu_time() - begin < limit; ++sweep) {
      sampler->step({1, 0, sweep});
      if (cpu_time() - begin < next) continue;
      const Seen seen = look(work, *sampler);
      fmt::print(
          "{:>8} rows, {:<13} {:7.2f} s, {:>5} sweeps: {:>3.0f} clusters, log joint {:.1f}, ARI {:.4f}\n", n,
          kind, cpu_time() - begin, sweep, seen.clusters, seen.log_joint, seen.ari);
      next *= 2.0;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "1000000";
  const std::size_t rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000;
  if (what == "narrow") {
    measure_sweeps(rows, 2, 6, 6.0, 100);
  } else if (what == "threads") {
    measure_threads(rows);
  } else if (what == "slope") {
    for (const std::size_t n : {100'000UL, 1'000'000UL, 10'000'000UL}) measure_sweeps(n, 10, 20, 6.0, 10);
  } else if (what == "start") {
    measure_start(rows);
  } else if (what == "merge") {
    measure_merge();
  } else if (what == "against") {
    const double limit = argc > 3 ? std::strtod(argv[3], nullptr) : 20.0;
    measure_against(rows, 3.0, limit);
  } else {
    const std::size_t n = std::strtoull(what.c_str(), nullptr, 10);
    measure_sweeps(n, 10, 20, 6.0, n > 1'000'000 ? 6 : 20);
    if (n <= 1'000'000) measure_sweeps(n, 2, 6, 6.0, 100);
  }
  return 0;
}
