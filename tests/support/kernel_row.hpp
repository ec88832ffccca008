// A row of the transition matrix of one move: where it leads from one partition, against exact probabilities.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/shape/partition.hpp"
#include "support/monte_carlo.hpp"
#include "support/sampling_error.hpp"

namespace coppice::test {

/// Makes `count` moves from `start` (canonical) and compares with the row, by partition_key; partitions that
/// the row does not have must not be met. `number` names the row, for the random numbers.
template <typename Move>
void expect_kernel_row(Clusters& clusters, const Labels& start, const std::map<std::string, double>& row,
                       std::size_t count, std::uint64_t seed, std::uint64_t number, Move&& move) {
  std::map<std::string, double> seen;
  Labels labels(start.size());
  clusters.assign(start);
  for (std::size_t i = 0; i < count; ++i) {
    Stream stream({seed, number, i}, Purpose::split_merge);
    move(stream);
    std::copy(clusters.labels().begin(), clusters.labels().end(), labels.begin());
    canonicalize(labels);
    seen[partition_key(labels)] += 1.0;
    if (labels != start) clusters.assign(start);
  }
  SCOPED_TRACE("from " + partition_key(start) + ", seed " + std::to_string(seed));
  std::vector<double> counts;
  std::vector<double> probabilities;
  for (const auto& [target, p] : row) {
    const auto n = static_cast<double>(count);
    counts.push_back(seen[target]);
    probabilities.push_back(p);
    seen.erase(target);
    // Rarer targets are left to the chi-square test, which puts them together.
    if (n * p >= 10.0) {
      EXPECT_NEAR(counts.back() / n, p, (error_limit() + 0.5) * std::sqrt(p * (1.0 - p) / n))
          << "to " << target;
    }
  }
  expect_frequencies(counts, probabilities);
  for (const auto& [target, times] : seen)
    ADD_FAILURE() << times << " times to " << target << ", which cannot be";
}

}  // namespace coppice::test
