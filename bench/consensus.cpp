// Workload W8: from 500 draws of 1,000 rows to the co-clustering matrix, its tree, and the VI and Binder
// estimates. The draws move a tenth of the rows of a truth with ten clusters to random clusters.
#include "coppice/post/consensus.hpp"

#include <benchmark/benchmark.h>

#include "coppice/base/rng.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/diagnostics.hpp"
#include "coppice/post/linkage.hpp"

namespace {

using namespace coppice;

LabelMatrix perturbed_truth(std::size_t rows, std::size_t draws, std::uint64_t clusters, double moved) {
  LabelMatrix matrix;
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

}  // namespace

BENCHMARK_MAIN();
