// What greedy trees are checked against: everything by enumeration, from rows and marginals alone.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/model/registry.hpp"
#include "laws/law_case.hpp"
#include "support/chains.hpp"

namespace coppice::test {

/// log alpha Gamma(n) m(rows).
inline double log_weight_of(const Family& family, const Rows& rows, const std::vector<std::uint32_t>& members,
                            double alpha) {
  Stats stats(family);
  for (const std::uint32_t row : members) stats.add(rows[row]);
  return std::log(alpha) + log_gamma(static_cast<double>(members.size())) + stats.log_marginal();
}

/// log p(rows) under a Dirichlet process mixture, over all partitions; every set of rows is weighed once.
inline double log_evidence(const Family& family, const Rows& rows, double alpha) {
  std::vector<double> weight_of_set(std::size_t{1} << rows.size());
  for (std::size_t set = 1; set < weight_of_set.size(); ++set) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t row = 0; row < rows.size(); ++row)
      if ((set >> row & 1) != 0) members.push_back(row);
    weight_of_set[set] = log_weight_of(family, rows, members, alpha);
  }
  std::vector<double> terms;
  std::vector<std::size_t> sets;
  for_each_partition(rows.size(), [&](std::span<const Label> labels, std::size_t clusters) {
    sets.assign(clusters, 0);
    for (std::size_t row = 0; row < labels.size(); ++row)
      sets[static_cast<std::size_t>(labels[row])] |= std::size_t{1} << row;
    double term = 0.0;
    for (const std::size_t set : sets) term += weight_of_set[set];
    terms.push_back(term);
  });
  return log_sum_exp(terms) + log_gamma(alpha) - log_gamma(alpha + static_cast<double>(rows.size()));
}

/// Every partition that cutting the forest can give, as lists of its nodes.
inline std::vector<std::vector<Dendrogram::Node>> cuts_of(const Dendrogram& forest) {
  std::function<std::vector<std::vector<Dendrogram::Node>>(Dendrogram::Node)> below =
      [&](Dendrogram::Node node) -> std::vector<std::vector<Dendrogram::Node>> {
    std::vector<std::vector<Dendrogram::Node>> all{{node}};
    if (forest.is_leaf(node)) return all;
    for (const auto& left : below(forest.left(node)))
      for (const auto& right : below(forest.right(node))) {
        all.push_back(left);
        all.back().insert(all.back().end(), right.begin(), right.end());
      }
    return all;
  };
  std::vector<std::vector<Dendrogram::Node>> all{{}};
  for (const Dendrogram::Node root : forest.roots()) {
    std::vector<std::vector<Dendrogram::Node>> longer;
    for (const auto& some : all)
      for (const auto& more : below(root)) {
        longer.push_back(some);
        longer.back().insert(longer.back().end(), more.begin(), more.end());
      }
    all = std::move(longer);
  }
  return all;
}

inline std::vector<std::uint32_t> items_of(const Dendrogram& forest, Dendrogram::Node node) {
  std::vector<std::uint32_t> items;
  forest.for_each_item(node, [&](std::uint32_t item) { items.push_back(item); });
  std::sort(items.begin(), items.end());
  return items;
}

/// Log weight of each cut: the sum over its nodes.
inline std::vector<double> log_weights_of_cuts(const Dendrogram& forest,
                                               const std::vector<std::vector<Dendrogram::Node>>& cuts,
                                               const Family& family, const Rows& rows, double alpha) {
  std::map<Dendrogram::Node, double> known;
  std::vector<double> weights;
  for (const auto& cut : cuts) {
    double sum = 0.0;
    for (const Dendrogram::Node node : cut) {
      const auto [place, fresh] = known.try_emplace(node, 0.0);
      if (fresh) place->second = log_weight_of(family, rows, items_of(forest, node), alpha);
      sum += place->second;
    }
    weights.push_back(sum);
  }
  return weights;
}

/// Merging by the definition: scores all pairs again for every merge. A merge is uncertain if another pair is
/// nearly as good.
struct PlainMerge {
  std::vector<std::uint32_t> left, right;
  double log_odds = 0.0;
  double gap = 0.0;
};
inline std::vector<PlainMerge> merge_plainly(const Family& family, const Rows& rows, double alpha) {
  struct Tree {
    std::vector<std::uint32_t> rows;
    double log_phi;
  };
  std::vector<Tree> trees;
  for (std::uint32_t row = 0; row < rows.size(); ++row)
    trees.push_back({{row}, log_weight_of(family, rows, {row}, alpha)});
  std::vector<PlainMerge> merges;
  while (trees.size() > 1) {
    double best = kMinusInfinity;
    double second = kMinusInfinity;
    std::size_t first_tree = 0;
    std::size_t second_tree = 0;
    for (std::size_t a = 0; a < trees.size(); ++a)
      for (std::size_t b = a + 1; b < trees.size(); ++b) {
        std::vector<std::uint32_t> both = trees[a].rows;
        both.insert(both.end(), trees[b].rows.begin(), trees[b].rows.end());
        const double odds = log_weight_of(family, rows, both, alpha) - trees[a].log_phi - trees[b].log_phi;
        if (odds > best) {
          second = best;
          best = odds;
          first_tree = a;
          second_tree = b;
        } else {
          second = std::max(second, odds);
        }
      }
    Tree& left = trees[first_tree];
    const Tree right = trees[second_tree];
    merges.push_back({left.rows, right.rows, best, best - second});
    left.log_phi = log_add_exp(best, 0.0) + left.log_phi + right.log_phi;
    left.rows.insert(left.rows.end(), right.rows.begin(), right.rows.end());
    trees.erase(trees.begin() + static_cast<std::ptrdiff_t>(second_tree));
  }
  return merges;
}

/// A fit of bhc to its end or for so many steps.
class TreeFit {
 public:
  TreeFit(const Family& family, const Rows& rows, const std::vector<std::string>& settings,
          std::size_t steps = static_cast<std::size_t>(-1), std::uint64_t seed = 1)
      : model_(model_by_name("bhc")),
        problem_{&family, &rows, ParameterValues(model_.parameters, settings_from(settings))},
        sampler_(model_.make_inference(problem_)) {
    sampler_->init({seed, 0, 0});
    for (std::size_t step = 1; step <= steps && !sampler_->finished(); ++step)
      sampler_->step({seed, 0, step});
  }
  Dendrogram tree() const { return model_.row_tree(problem_, sampler_->payload()); }
  double bound() const { return sampler_->log_joint(); }
  Labels labels() const {
    Labels labels(problem_.rows->size());
    sampler_->labels(labels);
    return labels;
  }
  Inference& sampler() { return *sampler_; }
  std::unique_ptr<Predictor> predictor() const {
    std::unique_ptr<Predictor> made = model_.make_predictor(problem_);
    std::vector<double> traces(model_.traces(problem_.parameters).size());
    sampler_->traces(traces);
    made->set_draw(labels(), traces, sampler_->payload());
    return made;
  }
  const Problem& problem() const { return problem_; }

 private:
  const ModelEntry& model_;
  Problem problem_;
  std::unique_ptr<Inference> sampler_;
};

/// log p(new row) as a predictor says it.
inline double log_density(const Predictor& predictor, const double* row) {
  std::vector<double> weights(predictor.clusters(1) + 1);
  predictor.log_weights(row, 1, weights);
  return log_sum_exp(weights);
}

/// log p(value) of a missing cell of a training row.
inline double log_missing_cell(const Predictor& predictor, std::size_t row, std::size_t cell, double value) {
  std::vector<CellComponent> parts;
  predictor.cell_components(row, cell, parts);
  double total = kMinusInfinity;
  for (const CellComponent& part : parts)
    total = log_add_exp(total, std::log(part.weight) + predictor.log_cell(part.component, cell, value));
  return total;
}

}  // namespace coppice::test
