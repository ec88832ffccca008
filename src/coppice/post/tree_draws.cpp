#include "coppice/post/tree_draws.hpp"

#include <algorithm>

#include "coppice/post/hierarchy.hpp"

namespace coppice {

Labels TreeDraws::tree(std::size_t draw) const {
  Labels labels;
  labels.reserve(levels.size() * rows());
  for (const LabelMatrix& level : levels) labels.insert(labels.end(), level[draw].begin(), level[draw].end());
  return labels;
}

TreeDraws tree_draws(const SavedRun& run, std::size_t label_budget) {
  TreeDraws draws;
  draws.levels.resize(run.levels());
  for (LabelMatrix& level : draws.levels) level.rows = run.rows();
  const std::size_t most = std::max(label_budget / (run.rows() * run.levels()), run.config().chains);
  run.for_each_draw(most, [&](const SavedDraw& saved) {
    draws.origins.push_back({saved.chain, saved.draw});
    for (std::size_t level = 1; level <= run.levels(); ++level)
      draws.levels[level - 1].push_back(level_of(saved.labels, run.rows(), level));
  });
  return draws;
}

}  // namespace coppice
