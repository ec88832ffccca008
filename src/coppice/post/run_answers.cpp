#include "coppice/post/run_answers.hpp"

#include "coppice/base/error.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/row_trees.hpp"
#include "coppice/post/run_tree.hpp"

namespace coppice {

std::vector<Prediction> predict_rows(const Analysis& analysis, const Table& rows, std::size_t level,
                                     Selection selection, std::size_t threads) {
  const SavedRun& saved = analysis.run();
  saved.check_level(level);
  const Rows encoded = encode(saved.setup().plan, rows);
  std::vector<Labels> estimates;
  std::vector<std::vector<Prediction>> levels;
  for (std::size_t l = 1; l <= level; ++l) {
    estimates.push_back(analysis.consensus(l, selection).labels);
    levels.push_back(predict(saved, encoded, estimates.back(), {0, threads, l}));
  }
  follow_paths(levels, estimates);
  return levels.back();
}

std::vector<Membership> memberships(const Analysis& analysis, std::size_t level,
                                    std::span<const Label> groups) {
  constexpr std::size_t kMostLabels = 100'000'000;
  return analysis.is_greedy() ? tree_membership(analysis.row_tree(), groups)
                              : membership(analysis.run().labels(level, kMostLabels), groups);
}

std::vector<double> coclustering_matrix(const Analysis& analysis, std::size_t level, std::size_t threads) {
  analysis.run().check_level(level);
  return analysis.is_greedy() ? TreePosterior(analysis.row_tree()).coclustering()
                              : coclustering(analysis.run().labels(level), threads);
}

std::vector<double> linkage_matrix(const Analysis& analysis, std::size_t level) {
  if (!analysis.is_greedy()) return to_scipy(run_tree(analysis.run(), level));
  const std::vector<TreeLinkage> trees = tree_linkages(analysis.row_tree());
  if (trees.size() > 1)
    fail(ErrorCode::configuration,
         "the fit is not finished: it has {} trees, but a linkage describes one; continue with resume()",
         trees.size());
  return to_scipy(trees.front().linkage);
}

}  // namespace coppice
