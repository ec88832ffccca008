// Workload W8: from 500 draws of 1,000 rows to the co-clustering matrix, its tree, and the VI and Binder
// estimates. The draws move a tenth of the rows of a truth with ten clusters to random clusters.
#include "coppice/post/consensus.hpp"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "coppice/base/rng.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/linkage.hpp"
#include "coppice/run/diagnostics.hpp"
#include "coppice/shape/partition_traces.hpp"

namespace {

using namespace coppice;

LabelMatrix perturbed_truth(std::size_t rows, std::size_t draws, std::uint64_t clusters, double moved) {
  LabelMatrix matrix;
  matrix.values.reserve(rows * draws);
  Labels labels(rows);
  for (std::size_t d = 0; d < draws; ++d) {
    Stream stream({1, 0, d}, Purpose::test);
    for (std::size_t i = 0; i < rows; ++i) {
      const bool is_moved = draw_uniform(stream) < moved;
      labels[i] = static_cast<Label>(is_moved ? draw_index(stream, clusters + 2) : i % clusters);
    }
    matrix.push_back(labels);
  }
  return matrix;
}

const LabelMatrix& workload() {
  static const LabelMatrix draws = perturbed_truth(1000, 500, 10, 0.1);
  return draws;
}

void similarity(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(coclustering(workload()));
}
BENCHMARK(similarity)->Unit(benchmark::kMillisecond);

void tree_of_similarity(benchmark::State& state) {
  const std::vector<double> matrix = coclustering(workload());
  for (auto _ : state) benchmark::DoNotOptimize(coclustering_tree(matrix, workload().rows));
}
BENCHMARK(tree_of_similarity)->Unit(benchmark::kMillisecond);

void estimate(benchmark::State& state, Loss loss) {
  Consensus found;
  for (auto _ : state) found = consensus(workload(), {.loss = loss});
  state.counters["loss"] = found.expected_loss;
  state.counters["best_draw"] = found.best_draw_loss;
  state.counters["best_cut"] = found.best_linkage_loss;
  state.counters["clusters"] = static_cast<double>(found.clusters);
}
BENCHMARK_CAPTURE(estimate, vi, Loss::vi)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(estimate, binder, Loss::binder)->Unit(benchmark::kMillisecond);

/// What the process has used at most, in MB; it only grows, so the largest workload comes last.
double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// 100,000 rows: an n x n matrix would have 40 GB. The draws themselves are 4 bytes a label; `beside_draws`
/// is what the estimate needed besides them.
void estimate_of_100_000_rows(benchmark::State& state) {
  const LabelMatrix draws = perturbed_truth(100'000, 200, 20, 0.1);
  const double before = peak_memory();
  Consensus found;
  for (auto _ : state) found = consensus(draws);
  state.counters["draws_MB"] = static_cast<double>(draws.values.size() * sizeof(Label)) / 1048576.0;
  state.counters["beside_draws_MB"] = peak_memory() - before;
  state.counters["loss"] = found.expected_loss;
  state.counters["best_draw"] = found.best_draw_loss;
  state.counters["clusters"] = static_cast<double>(found.clusters);
}

void summary_of_a_trace(benchmark::State& state) {
  std::vector<std::vector<double>> chains(4, std::vector<double>(1000));
  for (std::size_t c = 0; c < chains.size(); ++c) {
    Stream stream({2, c, 0}, Purpose::test);
    double value = 0.0;
    for (double& draw : chains[c]) draw = value = 0.8 * value + draw_normal(stream);
  }
  for (auto _ : state) benchmark::DoNotOptimize(summarize_trace("trace", chains));
}
BENCHMARK(summary_of_a_trace)->Unit(benchmark::kMillisecond);

/// What the verdict adds: traces of who is with whom for 4,000 draws of a sample of 2,000 rows.
void traces_of_partitions(benchmark::State& state) {
  const std::vector<LabelMatrix> chains(4, perturbed_truth(2000, 1000, 20, 0.1));
  for (auto _ : state) benchmark::DoNotOptimize(partition_traces(chains));
}
BENCHMARK(traces_of_partitions)->Unit(benchmark::kMillisecond);
BENCHMARK(estimate_of_100_000_rows)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
