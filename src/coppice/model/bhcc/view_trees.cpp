#include "coppice/model/bhcc/view_trees.hpp"

#include <numeric>
#include <optional>

#include "coppice/base/parallel.hpp"
#include "coppice/cluster/greedy_merging.hpp"
#include "coppice/cluster/randomized_merging.hpp"
#include "coppice/cluster/row_forest.hpp"
#include "coppice/family/tied_copies.hpp"

namespace coppice::bhcc {
namespace {

/// Up to this many rows the scores of all pairs are kept.
constexpr std::size_t kMostRowsWithScores = 4000;

ViewTree taken_from(const RowForest& forest) {
  return {std::make_shared<const Dendrogram>(forest.dendrogram()), forest.log_bound()};
}

}  // namespace

ViewTree ViewTrees::grow(std::span<const std::size_t> columns, const Beside& beside) const {
  const std::unique_ptr<Family> family = table_->family_of(columns);
  const Rows rows = table_->rows_of(columns);
  RowForest forest(*family, rows, options_.alpha_rows);
  const auto record = [&](RowForest::Node made) { forest.record(made); };
  // Scoring all pairs is shared by the threads; the merges that follow are one after the other, with the work
  // beside them.
  std::optional<GreedyMerging> greedy;
  if (!options_.divides_rows) {
    greedy.emplace(*family, forest.prior(), forest.trees(), forest.plant(),
                   rows.size() <= kMostRowsWithScores, threads_);
    greedy->start_together();
  }
  const auto finish = [&] {
    if (greedy) return greedy->run(record);
    RandomizedMerging division(*family, rows, forest.prior(), forest.trees(), options_.row_division);
    std::vector<std::uint32_t> all(rows.size());
    std::iota(all.begin(), all.end(), 0U);
    division.start(all);
    while (!division.finished()) division.step(name_, record);
  };
  parallel_for(1 + beside.count, threads_, [&](std::size_t i) {
    if (i == 0)
      finish();
    else
      beside.body(i - 1);
  });
  return taken_from(forest);
}

ViewTree ViewTrees::reshape(std::span<const std::size_t> columns, const Dendrogram& shape) const {
  const std::unique_ptr<Family> family = table_->family_of(columns);
  const Rows rows = table_->rows_of(columns);
  RowForest forest(*family, rows, options_.alpha_rows);
  forest.rebuild(shape);
  return taken_from(forest);
}

ViewTree ViewTrees::grow_or_take(std::span<const std::size_t> columns, const Dendrogram& shape,
                                 double log_bound, const Beside& beside) const {
  ViewTree grown = grow(columns, beside);
  return grown.log_bound >= log_bound ? grown : reshape(columns, shape);
}

ViewTree ViewTrees::best(std::span<const std::size_t> columns, const Dendrogram& one,
                         const Dendrogram& other) const {
  ViewTree candidates[3];
  parallel_for(3, threads_, [&](std::size_t i) {
    candidates[i] = i == 0 ? grow(columns) : reshape(columns, i == 1 ? one : other);
  });
  ViewTree* best = candidates;
  for (ViewTree& candidate : candidates)
    if (candidate.log_bound > best->log_bound) best = &candidate;
  return std::move(*best);
}

std::vector<ViewTree> ViewTrees::of_one_cluster() const {
  const std::size_t rows = table_->rows();
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), 0U);
  auto tree = std::make_shared<Dendrogram>(rows);
  if (rows > 1) tree->block(all);
  const Crp prior(options_.alpha_rows, rows);
  const std::uint32_t sizes[] = {static_cast<std::uint32_t>(rows)};
  const double copies = table_->table().copies();
  const double log_prior = prior.log_partition(sizes) + log_more_seats(static_cast<double>(rows), copies) -
                           log_more_seats(prior.alpha() + static_cast<double>(rows), prior.alpha() + copies);
  TableColumns::Workspace work;
  TableColumns::take_tree(*tree, work);
  std::vector<ViewTree> views;
  for (std::size_t column = 0; column < table_->count(); ++column) {
    double log_marginal = table_->alone(column)[0];
    if (rows > 1) table_->log_marginals(column, work, &log_marginal);
    views.push_back({tree, log_prior + log_marginal});
  }
  return views;
}

}  // namespace coppice::bhcc
