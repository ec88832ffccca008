#include "coppice/post/run_tree.hpp"

#include "coppice/base/error.hpp"
#include "coppice/post/coclustering.hpp"

namespace coppice {

Linkage run_tree(const SavedRun& run, std::size_t level) {
  constexpr std::size_t kMostRows = 10'000;
  if (run.rows() > kMostRows)
    fail(ErrorCode::configuration,
         "a tree of co-clustering needs a matrix of rows x rows, and {} rows are more than {}: export "
         "labels, or fit fewer rows",
         run.rows(), kMostRows);
  if (level > 0) return coclustering_tree(coclustering(run.labels(level), 0), run.rows());
  std::vector<double> mean(run.rows() * run.rows(), 0.0);
  for (std::size_t l = 1; l <= run.levels(); ++l) {
    const std::vector<double> part = coclustering(run.labels(l), 0);
    for (std::size_t pair = 0; pair < mean.size(); ++pair)
      mean[pair] += part[pair] / static_cast<double>(run.levels());
  }
  return coclustering_tree(mean, run.rows());
}

}  // namespace coppice
