// Speed of the Dirichlet-process samplers, as one table: time of a sweep, nanoseconds for each (row x
// cluster) next to the bare density arithmetic, time to a good partition from a cold start, effective draws
// per second, allocations. Usage: bench_sweeps [DIR]. With DIR, w1_1k.csv, w1_10k.csv and w2.csv (and their
// .lab files) are read from there; otherwise mixtures of the same shape are generated.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>

#include "coppice/base/aligned.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/data/read.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/consensus.hpp"
#include "coppice/post/scores.hpp"
#include "coppice/prior/crp.hpp"
#include "coppice/run/diagnostics.hpp"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* pointer = std::malloc(size)) return pointer;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto align = static_cast<std::size_t>(alignment);
  if (void* pointer = std::aligned_alloc(align, (size + align - 1) / align * align)) return pointer;
  throw std::bad_alloc();
}
void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { std::free(pointer); }

namespace {

using namespace coppice;
/// CPU time of this thread, which other programs on the machine disturb least.
struct Clock {
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
};

double seconds_since(double start) { return Clock::now() - start; }

struct Workload {
  std::string name, family;
  Table table;
  Labels truth;
  double target;  // ARI of a good partition
  Settings settings = {};
};

/// A mixture: Gaussian clusters with centers in a box, or binary columns with Beta(1/2, 1/2) probabilities.
Workload generate(const std::string& name, const std::string& family, std::size_t n, std::size_t d,
                  std::size_t k, double box, double target) {
  Workload work{name, family, {}, {}, target};
  Stream stream({7, d, n}, Purpose::test);
  std::vector<std::vector<double>> center(k, std::vector<double>(d));
  for (auto& point : center)
    for (double& x : point)
      x = family == "bernoulli" ? draw_beta(stream, 0.5, 0.5) : box * (2.0 * draw_uniform(stream) - 1.0);
  for (std::size_t j = 0; j < d; ++j)
    work.table.columns.push_back(
        {fmt::format("c{}", j + 1), family == "bernoulli" ? Kind::binary : Kind::real, {}, {}});
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = draw_index(stream, k);
    work.truth.push_back(static_cast<Label>(c));
    work.table.row_ids.push_back(fmt::format("{}", i + 1));
    for (std::size_t j = 0; j < d; ++j)
      work.table.columns[j].values.push_back(family == "bernoulli"
                                                 ? (draw_uniform(stream) < center[c][j] ? 1.0 : 0.0)
                                                 : center[c][j] + draw_normal(stream));
  }
  return work;
}

Workload load(const std::string& folder, const std::string& name, double target) {
  ReadOptions options;
  options.header = Header::no;
  Workload work{name, "gaussian", read_dataset(folder + "/" + name + ".csv", options).table, {}, target};
  std::ifstream labels(folder + "/" + name + ".lab");
  for (Label label = 0; labels >> label;) work.truth.push_back(label);
  return work;
}

struct Prepared {
  FamilyPlan plan;
  Rows rows;
  const ModelEntry* model = &model_by_name("nrmm");
  explicit Prepared(const Workload& work)
      : plan(plan_family(work.table, {}, work.family, work.settings)), rows(encode(plan, work.table)) {}
  std::unique_ptr<Inference> sampler(const std::string& kind) const {
    const Settings settings{{"sampler", {Setting::Shape::text, {}, 0, kind}}};
    return model->make_inference({plan.family.get(), &rows, ParameterValues(model->parameters, settings)});
  }
};

/// Seconds for the predictive of every row under every cluster, and nothing else.
double bare_density(const Prepared& data, const Labels& labels) {
  const Crp prior(1.0, data.rows.size());
  Clusters clusters(*data.plan.family, data.rows, prior.log_join_table());
  clusters.assign(labels);
  const Family& family = *data.plan.family;
  const std::size_t chunks = clusters.weights_size() / kLanes;
  const std::size_t stride = family.cache_size() * kLanes;
  AlignedVector cache(chunks * stride);
  AlignedVector out(chunks * kLanes);
  for (std::size_t slot = 0; slot < clusters.weights_size(); ++slot)
    family.fill_cache(clusters.stats(static_cast<Label>(std::min(slot, clusters.clusters() - 1))),
                      cache.data() + slot / kLanes * stride + slot % kLanes);
  double best = 1e9;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const auto start = Clock::now();
    for (std::size_t row = 0; row < data.rows.size(); ++row)
      family.add_log_predictive(data.rows[row], cache.data(), stride, chunks, {}, out.data());
    best = std::min(best, seconds_since(start));
  }
  return best;
}

void measure(const Workload& work, const std::string& kind, int sweeps, int seeds) {
  const Prepared data(work);
  std::vector<double> sweep_times;
  std::vector<double> to_target;
  std::vector<std::vector<double>> clusters, log_joint;
  double ari = 0.0;
  std::size_t allocated = 0;
  double sampling_seconds = 0.0;
  Labels labels(data.rows.size());
  std::vector<double> values(data.model->traces(ParameterValues(data.model->parameters, {})).size());
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::unique_ptr<Inference> sampler = data.sampler(kind);
    const auto name = [&](int sweep) {
      return StreamName{static_cast<std::uint64_t>(seed), 0, static_cast<std::uint64_t>(sweep)};
    };
    auto start = Clock::now();
    sampler->init(name(0));
    double spent = seconds_since(start);
    double reached = std::nan("");
    clusters.emplace_back();
    log_joint.emplace_back();
    for (int sweep = 1; sweep <= sweeps; ++sweep) {
      const std::size_t before = allocations;
      start = Clock::now();
      sampler->step(name(sweep));
      const double took = seconds_since(start);
      const bool settled = sweep > sweeps / 2;
      spent += took;
      if (settled) {
        sweep_times.push_back(took);
        allocated += allocations - before;
        sampling_seconds += took;
      }
      sampler->labels(labels);
      if (std::isnan(reached) && adjusted_rand_index(work.truth, labels) >= work.target) reached = spent;
      if (settled) {
        sampler->traces(values);
        log_joint.back().push_back(values[0]);
        clusters.back().push_back(values[1]);
      }
    }
    to_target.push_back(reached);
    ari += adjusted_rand_index(work.truth, labels) / seeds;
  }
  std::nth_element(sweep_times.begin(),
                   sweep_times.begin() + static_cast<std::ptrdiff_t>(sweep_times.size() / 2),
                   sweep_times.end());
  const double sweep = sweep_times[sweep_times.size() / 2];
  const double per_row = sweep / static_cast<double>(data.rows.size());
  double mean_clusters = 0.0;
  for (const auto& chain : clusters)
    for (const double k : chain) mean_clusters += k / static_cast<double>(chain.size()) / seeds;
  const double bare = bare_density(data, labels) / static_cast<double>(data.rows.size());
  std::size_t found = 0;
  std::vector<double> times;
  for (const double time : to_target)
    if (!std::isnan(time)) {
      ++found;
      times.push_back(time);
    }
  std::sort(times.begin(), times.end());
  fmt::print(
      "{:<14} {:<12} {:>8.3f} {:>8.2f} {:>8.2f} {:>6.2f} {:>7.1f} {:>6.3f} {:>9} {:>6}/{:<3} {:>9.0f} "
      "{:>9.0f} {:>7.2f}\n",
      work.name, kind, sweep * 1e3, per_row / mean_clusters * 1e9, bare / mean_clusters * 1e9, per_row / bare,
      mean_clusters, ari, times.empty() ? "never" : fmt::format("{:.1f} ms", times[times.size() / 2] * 1e3),
      found, seeds, ess_bulk(clusters) / sampling_seconds, ess_bulk(log_joint) / sampling_seconds,
      static_cast<double>(allocated) / static_cast<double>(sweep_times.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  std::vector<Workload> list;
  if (!folder.empty()) {
    list = {load(folder, "w1_1k", 0.94), load(folder, "w1_10k", 0.95), load(folder, "w2", 0.97)};
  } else {
    list.push_back(generate("2d-1k", "gaussian", 1000, 2, 10, 12.0, 0.94));
    list.push_back(generate("2d-10k", "gaussian", 10000, 2, 10, 12.0, 0.95));
    list.push_back(generate("10d-2k", "gaussian", 2000, 10, 20, 5.0, 0.97));
  }
  list.push_back(generate("binary-2k", "bernoulli", 2000, 50, 10, 0.0, 0.97));
  list.push_back(generate("50d-2k", "gaussian", 2000, 50, 10, 5.0, 0.97));
  // With 40 rows for each column of a cluster, a vague prior would rather merge clusters than pay for
  // covariances.
  list.back().settings = {{"dof", Setting::number(150.0)}};
  fmt::print("{:<14} {:<12} {:>8} {:>8} {:>8} {:>6} {:>7} {:>6} {:>9} {:>10} {:>9} {:>9} {:>7}\n", "workload",
             "sampler", "ms/sweep", "ns/r*c", "bare", "ratio", "K", "ARI", "to ARI", "found", "ESS(K)/s",
             "ESS(lj)/s", "alloc");
  for (const Workload& work : list)
    for (const char* sampler : {"gibbs", "split-merge"})
      measure(work, sampler, work.table.rows() > 5000 || work.table.columns.size() > 20 ? 200 : 600, 10);
  return 0;
}
