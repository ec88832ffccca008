#include "coppice/cluster/new_column.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/cluster/greedy_merging.hpp"
#include "coppice/cluster/row_forest.hpp"
#include "coppice/family/tied_copies.hpp"

namespace coppice {
namespace {

/// The family of the cells counts all copies of a row.
void add_row(const Family& family, const Rows& rows, std::size_t row, double* stats) {
  if (rows.has_copies)
    family.add_copies(stats, rows[row], rows.copies_of(row));
  else
    family.add(stats, rows[row]);
}

}  // namespace

double log_new_column(const Dendrogram& tree, const Family& family, const Rows& rows) {
  const std::size_t size = family.stats_size();
  std::vector<double> stats(tree.nodes() * size);
  std::vector<double> log_q(tree.nodes(), 0.0);
  double total = 0.0;
  for (Dendrogram::Node node = 0; node < tree.nodes(); ++node) {
    double* own = stats.data() + node * size;
    family.clear(own);
    if (tree.is_item(node)) {
      add_row(family, rows, node, own);
    } else if (tree.is_block(node)) {
      for (const std::uint32_t item : tree.block_items(node)) add_row(family, rows, item, own);
    } else {
      std::copy_n(stats.data() + tree.left(node) * size, size, own);
      family.merge(own, stats.data() + tree.right(node) * size);
    }
    log_q[node] = family.log_marginal(own);
    if (!tree.is_leaf(node))
      log_q[node] =
          log_add_exp(log_logistic(tree.log_odds(node)) + log_q[node],
                      log_logistic(-tree.log_odds(node)) + log_q[tree.left(node)] + log_q[tree.right(node)]);
    const bool is_root = tree.parent(node) == Dendrogram::kNone;
    if (is_root) total += log_q[node];
  }
  return total;
}

double log_bound_of_rows(const Family& family, const Rows& rows, double alpha) {
  const std::unique_ptr<Family> tied =
      rows.has_copies ? std::make_unique<TiedCopies>(family.clone()) : nullptr;
  const Family& of_rows = tied ? *tied : family;
  RowForest own(of_rows, rows, alpha);
  GreedyMerging(of_rows, own.prior(), own.trees(), own.plant(), true).run([&](RowForest::Node made) {
    own.record(made);
  });
  return own.log_bound();
}

double log_marginal_of_clusters(const Family& family, const Rows& rows, std::span<const Label> labels) {
  const std::size_t size = family.stats_size();
  std::vector<double> stats(cluster_sizes(labels).size() * size);
  for (std::size_t at = 0; at < stats.size(); at += size) family.clear(stats.data() + at);
  for (std::size_t row = 0; row < labels.size(); ++row)
    add_row(family, rows, row, stats.data() + static_cast<std::size_t>(labels[row]) * size);
  double total = 0.0;
  for (std::size_t at = 0; at < stats.size(); at += size) total += family.log_marginal(stats.data() + at);
  return total;
}

}  // namespace coppice
