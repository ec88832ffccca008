// The assignment of rows by itself: no cluster appears or vanishes, so its law is the posterior given the
// number of clusters.
#pragma once

#include <string>

#include "coppice/base/engine.hpp"
#include "coppice/cluster/filled_rows.hpp"
#include "coppice/model/nrmm/data_parallel.hpp"
#include "coppice/model/nrmm/data_parallel_blocks.hpp"
#include "coppice/prior/crp.hpp"
#include "coppice/prior/ngg.hpp"
#include "support/nrmm_enumeration.hpp"

namespace coppice::test {

/// Every partition into `clusters` clusters, against the frequencies of sweeps that only assign rows; `law`
/// is a fixed prior whose partitions are those of `partitions`.
inline Agreement compare_fixed_births(const Family& family, const Rows& rows,
                                      const ProductPartition& partitions, const MixtureLaw& law,
                                      std::size_t clusters, std::uint64_t seed, std::size_t draws) {
  const ExactPosterior exact(family, rows, law);
  FilledRows filled(family, rows);
  nrmm::DataParallelOptions options;
  options.block_size = 2;
  nrmm::DataParallelBlocks blocks(family, nullptr, filled, options.block_size, TablePart{});
  nrmm::DataParallel sampler(family, partitions, blocks, rows.size(), options);
  ThreadEngine engine;
  Labels labels(rows.size());
  for (std::size_t row = 0; row < labels.size(); ++row) labels[row] = static_cast<Label>(row % clusters);
  blocks.keep_labels(labels);
  sampler.keep_labels(engine, {seed, 0, 1});
  constexpr std::size_t kWarmup = 200;
  Visits visits(exact.size(), draws);
  for (std::size_t sweep = 1; sweep <= kWarmup + draws; ++sweep) {
    sampler.assign(engine, {seed, 0, sweep});
    if (sweep <= kWarmup) continue;
    std::copy(blocks.labels().begin(), blocks.labels().end(), labels.begin());
    canonicalize(labels);
    visits.add(exact.index(labels));
  }
  double total = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (exact.clusters(i) == clusters) total += exact.probability(i);
  Agreement agreement;
  visits.check(agreement, "K stays", 1.0, [&](std::size_t i) { return exact.clusters(i) == clusters; });
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (const double truth = exact.probability(i) / total; exact.clusters(i) == clusters && truth > 1e-3)
      visits.check(agreement, "partition " + partition_key(exact.partition(i)), truth,
                   [&](std::size_t j) { return j == i; });
  return agreement;
}

}  // namespace coppice::test
