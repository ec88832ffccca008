// The moves of nrmm that a guide tree leads, beside Gibbs and split-merge.
//   bench_guided race SECONDS SEEDS INIT DATA.csv...   log joint against CPU time, as CSV on stdout
//   bench_guided moves [MOST_ROWS]                     cost of single moves and of an inserted row against N
// In a race every sampler starts from the same kind of state (INIT: single, sequential, guide). Names of data
// may be toy1300 and toy10000: mixtures drawn here. Columns called label or class are not data but the known
// classes, with which the partition of highest log joint is compared (adjusted Rand index).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "coppice/cluster/gibbs_sweep.hpp"
#include "coppice/data/read.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/model/nrmm/block_gibbs.hpp"
#include "coppice/model/nrmm/guide.hpp"
#include "coppice/model/nrmm/guided_split_merge.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/scores.hpp"
#include "coppice/prior/crp.hpp"
#include "coppice/run/diagnostics.hpp"

namespace {

using namespace coppice;

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Gaussian clusters: centers far apart in relation to their own spread, which differs from cluster to
/// cluster.
Table mixture(std::size_t n, std::size_t d, std::size_t k, double box, Labels* truth) {
  Stream stream({11, d, n}, Purpose::test);
  std::vector<std::vector<double>> center(k, std::vector<double>(d));
  std::vector<double> spread(k);
  for (std::size_t c = 0; c < k; ++c) {
    for (double& x : center[c]) x = box * draw_normal(stream);
    spread[c] = 0.5 + draw_uniform(stream);
  }
  Table table;
  for (std::size_t j = 0; j < d; ++j)
    table.columns.push_back({fmt::format("c{}", j + 1), Kind::real, {}, {}});
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = draw_index(stream, k);
    if (truth != nullptr) truth->push_back(static_cast<Label>(c));
    table.row_ids.push_back(fmt::format("{}", i + 1));
    for (std::size_t j = 0; j < d; ++j)
      table.columns[j].values.push_back(center[c][j] + spread[c] * draw_normal(stream));
  }
  return table;
}

/// `truth` stays empty where no classes are known.
Table load(const std::string& name, Labels& truth) {
  if (name == "toy1300") return mixture(1300, 2, 10, 10.0, &truth);
  if (name == "toy10000") return mixture(10'000, 2, 30, 20.0, &truth);
  ReadOptions options;
  for (const char* label : {"label", "class"}) {
    options.truth = {label};
    try {
      Dataset data = read_dataset(name, options);
      for (const double value : data.truth.columns.at(0).values) truth.push_back(static_cast<Label>(value));
      return std::move(data.table);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::configuration && error.code() != ErrorCode::usage) throw;
    }
  }
  options.truth.clear();
  return read_dataset(name, options).table;
}

struct Prepared {
  FamilyPlan plan;
  Rows rows;
  explicit Prepared(const Table& table)
      : plan(plan_family(table, {}, "auto", {})), rows(encode(plan, table)) {}
};

void race(double seconds, std::uint64_t seeds, const std::string& init, const std::string& name) {
  Labels truth;
  const Prepared data(load(name, truth));
  const ModelEntry& model = model_by_name("nrmm");
  for (const char* sampler : {"gibbs", "split-merge", "tree-guided", "auto", "tree-guided-published"})
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Settings settings;
      parse_assignment(fmt::format("sampler=\"{}\"", sampler), settings);
      parse_assignment(fmt::format("init=\"{}\"", init), settings);
      parse_assignment("alpha=1", settings);
      const Problem problem{data.plan.family.get(), &data.rows, ParameterValues(model.parameters, settings)};
      const double begin = cpu_seconds();
      const std::unique_ptr<Inference> chain = model.make_inference(problem);
      chain->init({seed, 0, 0});
      std::vector<double> traces(model.traces(problem.parameters).size());
      double spent = cpu_seconds() - begin;
      double next = 0.0;
      std::vector<double> times;
      std::vector<double> values[2];
      Labels best(data.rows.size());
      double best_traces[2] = {-HUGE_VAL, 0.0};
      // The start counts, even if it takes all the time there is.
      for (std::uint64_t sweep = 0; sweep == 0 || spent < seconds; ++sweep) {
        if (sweep > 0) {
          const double start = cpu_seconds();
          chain->step({seed, 0, sweep});
          spent += cpu_seconds() - start;
        }
        chain->traces(traces);
        times.push_back(spent);
        for (std::size_t i = 0; i < 2; ++i) values[i].push_back(traces[i]);
        const bool is_best = traces[0] > best_traces[0];
        if (is_best) {
          std::copy_n(traces.begin(), 2, best_traces);
          chain->labels(best);
        }
        if (spent < next && sweep > 20 && !is_best) continue;
        fmt::print("{},{},{},{},{:.6f},{},{:.4f},{},,,,,\n", name, init, sampler, seed, spent, sweep,
                   traces[0], traces[1]);
        next = spent + seconds / 200.0;
      }
      // Effective draws for each second of the second half.
      double rate[2] = {0.0, 0.0};
      const auto half = std::lower_bound(times.begin(), times.end(), 0.5 * spent) - times.begin();
      for (std::size_t i = 0; i < 2; ++i) {
        const std::vector<double> late(values[i].begin() + half, values[i].end());
        if (late.size() > 8)
          rate[i] = ess_bulk(std::span(&late, 1)) / (spent - times[static_cast<std::size_t>(half)]);
      }
      fmt::print("{},{},{},{},{:.6f},{},{:.4f},{},{:.2f},{:.2f},{:.4f},{},{}\n", name, init, sampler, seed,
                 spent, times.size() - 1, values[0].back(), values[1].back(), rate[0], rate[1],
                 best_traces[0], best_traces[1],
                 truth.empty() ? std::string() : fmt::format("{:.4f}", adjusted_rand_index(truth, best)));
      std::fflush(stdout);
    }
}

void moves(std::size_t most) {
  fmt::print(
      "| rows | guide, ms | block move, us | guided split-merge, us | row update, us | inserted row, us |\n"
      "|---|---|---|---|---|---|\n");
  const ModelEntry& model = model_by_name("nrmm");
  for (std::size_t n = 1000; n <= most; n *= 10) {
    Labels truth;
    const Prepared data(mixture(n, 10, 20, 5.0, &truth));
    const Family& family = *data.plan.family;
    canonicalize(truth);
    const Crp prior(1.0, n);
    double start = cpu_seconds();
    Stream stream({1, 0, 0}, Purpose::guide);
    const nrmm::Guide guide =
        nrmm::build_guide(family, data.rows, n, prior, nrmm::GuideKind::ibhc_bisect, stream);
    const double building = cpu_seconds() - start;
    Clusters clusters(family, data.rows, prior.log_join_table());
    clusters.assign(truth);
    nrmm::BlockGibbs blocks(family, data.rows, prior);
    nrmm::GuidedSplitMerge guided(family, data.rows, prior, 1);
    const auto time_of = [&](std::size_t times, auto&& move) {
      start = cpu_seconds();
      for (std::size_t i = 0; i < times; ++i) move();
      return 1e6 * (cpu_seconds() - start) / static_cast<double>(times);
    };
    const double block = time_of(300, [&] { blocks.step(clusters, guide.tree, stream); });
    const double split = time_of(40, [&] { guided.step(clusters, guide.tree, stream); });
    std::vector<double> alone(n);
    std::vector<double> empty(family.stats_size());
    family.clear(empty.data());
    for (std::size_t i = 0; i < n; ++i) alone[i] = family.log_predictive(empty.data(), data.rows[i]);
    GibbsSweep gibbs;
    std::uint64_t sweep = 0;
    const double row =
        time_of(20, [&] { gibbs.step_some(clusters, {1, 0, ++sweep}, alone, prior.log_open(), 500); }) /
        500.0;

    // The last rows, one by one, into a state of the others.
    const std::size_t added = std::min<std::size_t>(n / 10, 20'000);
    Settings settings;
    parse_assignment("alpha=1", settings);
    Rows fewer = data.rows;
    fewer.cells.resize((n - added) * fewer.width);
    const Problem old{&family, &fewer, ParameterValues(model.parameters, settings)};
    const std::unique_ptr<Inference> before = model.make_inference(old);
    before->init({1, 0, 0});
    const Problem problem{&family, &data.rows, ParameterValues(model.parameters, settings)};
    const std::unique_ptr<Inference> chain = model.make_inference(problem);
    chain->load_first(before->save(), n - added);
    chain->insert(1, {1, 0, 0});  // builds the tree
    start = cpu_seconds();
    chain->insert(added - 2, {1, 0, 0});  // the last one would rebuild everything
    const double inserted = 1e6 * (cpu_seconds() - start) / static_cast<double>(added - 2);
    fmt::print("| {} | {:.0f} | {:.1f} | {:.0f} | {:.2f} | {:.1f} |\n", n, 1e3 * building, block, split, row,
               inserted);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 5 && arguments[0] == "race") {
    fmt::print(
        "data,init,sampler,seed,seconds,sweep,log_joint,clusters,ess_log_joint,ess_clusters,"
        "best_log_joint,best_clusters,best_ari\n");
    for (std::size_t i = 4; i < arguments.size(); ++i)
      race(std::stod(arguments[1]), std::stoull(arguments[2]), arguments[3], arguments[i]);
    return 0;
  }
  if (!arguments.empty() && arguments[0] == "moves") {
    moves(arguments.size() > 1 ? std::stoull(arguments[1]) : 100'000);
    return 0;
  }
  if (arguments.empty()) {
    moves(10'000);
    return 0;
  }
  fmt::print(stderr, "usage: bench_guided race SECONDS SEEDS INIT DATA... | moves [MOST_ROWS]\n");
  return 2;
}
