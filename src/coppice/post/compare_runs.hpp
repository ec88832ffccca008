// Two runs of the same data by the same model: do they agree? They do if their traces mix like chains of one
// run and no typical pair of rows is together much more often in one than in the other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "coppice/post/analysis.hpp"

namespace coppice {

/// A trace that both runs have.
struct TraceComparison {
  std::string name;
  double first_mean = 0.0;
  double second_mean = 0.0;
  double rhat = 0.0;  // over the chains of both; NaN for traces that need not agree
};

struct LevelComparison {
  std::size_t level = 0;  // 1 = coarsest
  std::size_t first_clusters = 0;
  std::size_t second_clusters = 0;
  double ari = 0.0;  // of the two consensus partitions
  double vi = 0.0;
  /// Mean over pairs of rows that a run ever puts together; none of runs with too many rows for a matrix.
  std::optional<double> coclustering_difference;
};

struct RunComparison {
  bool same = false;
  std::string verdict;  // a sentence
  std::vector<TraceComparison> traces;
  std::vector<LevelComparison> levels;
};

/// Error{configuration} if the runs learned labels, were fitted to different rows or by different models, or
/// have different numbers of levels.
RunComparison compare_runs(const Analysis& first, const Analysis& second);

}  // namespace coppice
