// Nested partitions for tests: random ones, and all of them for small n.
#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "coppice/post/hierarchy.hpp"
#include "coppice/post/select_hierarchy.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// Labels of all levels, coarsest first: every cluster is split at random, or not at all.
inline Labels random_tree(std::mt19937& engine, std::size_t rows, std::size_t levels, double branching) {
  const auto uniform = [&] { return static_cast<double>(engine()) / 4294967296.0; };
  Labels labels;
  Labels above(rows, 0);
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t clusters = static_cast<std::size_t>(*std::max_element(above.begin(), above.end())) + 1;
    std::vector<Label> parts(clusters);
    for (Label& part : parts) part = uniform() < branching ? 2 + static_cast<Label>(uniform() * 3.0) : 1;
    Labels here(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      const Label part = parts[static_cast<std::size_t>(above[i])];
      here[i] = above[i] * 5 + static_cast<Label>(uniform() * part);
    }
    canonicalize(here);
    labels.insert(labels.end(), here.begin(), here.end());
    above = here;
  }
  return labels;
}

/// Calls visit(labels of both levels) for every tree of two levels.
inline void for_each_two_level_tree(std::size_t rows, const std::function<void(const Labels&)>& visit) {
  for_each_partition(rows, [&](std::span<const Label> coarse, std::size_t) {
    const Labels above(coarse.begin(), coarse.end());
    for_each_partition(rows, [&](std::span<const Label> fine, std::size_t clusters) {
      std::vector<Label> parent(clusters, -1);
      for (std::size_t i = 0; i < rows; ++i) {
        Label& known = parent[static_cast<std::size_t>(fine[i])];
        if (known >= 0 && known != above[i]) return;
        known = above[i];
      }
      Labels both = above;
      both.insert(both.end(), fine.begin(), fine.end());
      visit(both);
    });
  });
}

inline void push_tree(TreeDraws& draws, const Labels& labels, std::size_t rows) {
  draws.levels.resize(labels.size() / rows);
  for (std::size_t level = 1; level <= draws.levels.size(); ++level) {
    draws.levels[level - 1].rows = rows;
    draws.levels[level - 1].push_back(level_of(labels, rows, level));
  }
  draws.origins.push_back({0, draws.origins.size()});
}

inline TreeDraws random_tree_draws(unsigned seed, std::size_t rows, std::size_t levels, std::size_t count) {
  std::mt19937 engine(seed);
  TreeDraws draws;
  // Few different trees, so that they repeat as those of a real run do.
  std::vector<Labels> trees;
  for (std::size_t t = 0; t < 1 + count / 3; ++t) trees.push_back(random_tree(engine, rows, levels, 0.6));
  for (std::size_t d = 0; d < count; ++d) push_tree(draws, trees[engine() % trees.size()], rows);
  return draws;
}

}  // namespace coppice
