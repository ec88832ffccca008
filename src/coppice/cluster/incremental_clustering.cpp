#include "coppice/cluster/incremental_clustering.hpp"

#include <algorithm>
#include <limits>

namespace coppice {
namespace {

/// Subtrees that may come in again, for each row; then trees are no longer cut open. Nothing else guarantees
/// an end.
constexpr std::size_t kReinsertionsPerRow = 20;

}  // namespace

IncrementalClustering incremental_clustering(const Family& family, const Rows& rows,
                                             std::span<const std::uint32_t> order,
                                             const ProductPartition& prior) {
  IncrementalClustering result{MergeTree(family, rows, prior), {}};
  MergeTree& forest = result.forest;
  std::vector<MergeTree::Node>& roots = result.roots;
  forest.reserve(2 * order.size());
  std::vector<MergeTree::Node> queue;
  queue.reserve(2 * order.size());
  for (const std::uint32_t row : order) queue.push_back(forest.leaf(row));

  std::size_t reinsertions_left = kReinsertionsPerRow * order.size();
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const MergeTree::Node x = queue[next];
    std::size_t nearest = roots.size();
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const double log_d = forest.log_d(roots[i], x);
      if (log_d < smallest) {
        smallest = log_d;
        nearest = i;
      }
    }
    if (smallest > 0.0) {
      roots.push_back(x);
      continue;
    }
    const auto [root, above] = forest.seq_insert(roots[nearest], x);
    roots[nearest] = root;
    if (reinsertions_left == 0) continue;
    MergeTree::Node top = above;
    while (top != root && forest.log_d(forest.parent(top)) <= 0.0) top = forest.parent(top);
    if (top == root) continue;
    const std::size_t before = queue.size();
    forest.cut(top, queue);
    roots[nearest] = top;
    reinsertions_left -= std::min(reinsertions_left, queue.size() - before);
  }
  std::sort(roots.begin(), roots.end(),
            [&](MergeTree::Node a, MergeTree::Node b) { return forest.first_row(a) < forest.first_row(b); });
  return result;
}

}  // namespace coppice
