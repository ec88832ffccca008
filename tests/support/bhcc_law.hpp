// What trees of views are checked against: everything by enumeration, from cells and marginals alone.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "coppice/model/bhcc/cross_predictive.hpp"
#include "coppice/model/bhcc/inference.hpp"
#include "support/bhc_law.hpp"

namespace coppice::test {

/// Family and rows of some columns.
struct SomeColumns {
  SomeColumns(const Family& all, const Rows& table, const std::vector<std::size_t>& cells)
      : family(all.of_cells(cells)) {
    rows.width = cells.size();
    for (std::size_t row = 0; row < table.size(); ++row)
      for (const std::size_t cell : cells) rows.cells.push_back(table[row][cell]);
  }
  std::unique_ptr<Family> family;
  Rows rows;
};

inline double log_crp_constant(double alpha, std::size_t items) {
  return log_gamma(alpha) - log_gamma(alpha + static_cast<double>(items));
}

/// The lower bound of some columns' evidence under one view, by plain merging of the rows. `gap`: is lowered
/// to the smallest lead of a merge over the next best; where it is tiny, rounding decides and other trees are
/// right as well.
inline double plain_view_bound(const Family& all, const Rows& table, const std::vector<std::size_t>& cells,
                               double alpha_rows, double* gap = nullptr) {
  const SomeColumns view(all, table, cells);
  std::map<std::vector<std::uint32_t>, double> log_phi;
  const auto phi_of = [&](std::vector<std::uint32_t> rows) {
    std::sort(rows.begin(), rows.end());
    if (rows.size() == 1) return log_weight_of(*view.family, view.rows, rows, alpha_rows);
    return log_phi.at(rows);
  };
  double root = log_weight_of(*view.family, view.rows, {0}, alpha_rows);
  for (const PlainMerge& merge : merge_plainly(*view.family, view.rows, alpha_rows)) {
    std::vector<std::uint32_t> both = merge.left;
    both.insert(both.end(), merge.right.begin(), merge.right.end());
    std::sort(both.begin(), both.end());
    root = log_add_exp(merge.log_odds, 0.0) + phi_of(merge.left) + phi_of(merge.right);
    log_phi[both] = root;
    if (gap != nullptr) *gap = std::min(*gap, merge.gap);
  }
  return root + log_crp_constant(alpha_rows, table.size());
}

/// The same for a tree over the rows of any shape: the sum over the partitions that it can give.
inline double shape_view_bound(const Family& all, const Rows& table, const std::vector<std::size_t>& cells,
                               const Dendrogram& shape, double alpha_rows) {
  const SomeColumns view(all, table, cells);
  return log_sum_exp(log_weights_of_cuts(shape, cuts_of(shape), *view.family, view.rows, alpha_rows)) +
         log_crp_constant(alpha_rows, table.size());
}

inline std::vector<std::size_t> cells_of(const Dendrogram& columns, Dendrogram::Node node) {
  const std::vector<std::uint32_t> items = items_of(columns, node);
  return {items.begin(), items.end()};
}

/// log p(table) of the cross mixture, over all partitions of columns and rows: every set of columns is
/// weighed once.
inline double log_crosscat_evidence(const Family& family, const Rows& rows, double alpha_rows,
                                    double alpha_columns) {
  const std::size_t columns = family.width();
  std::vector<double> weight_of_set(std::size_t{1} << columns);
  for (std::size_t set = 1; set < weight_of_set.size(); ++set) {
    std::vector<std::size_t> cells;
    for (std::size_t cell = 0; cell < columns; ++cell)
      if ((set >> cell & 1) != 0) cells.push_back(cell);
    const SomeColumns view(family, rows, cells);
    weight_of_set[set] = std::log(alpha_columns) + log_gamma(static_cast<double>(cells.size())) +
                         log_evidence(*view.family, view.rows, alpha_rows);
  }
  std::vector<double> terms;
  for_each_partition(columns, [&](std::span<const Label> labels, std::size_t views) {
    std::vector<std::size_t> sets(views, 0);
    for (std::size_t cell = 0; cell < columns; ++cell)
      sets[static_cast<std::size_t>(labels[cell])] |= std::size_t{1} << cell;
    double term = 0.0;
    for (const std::size_t set : sets) term += weight_of_set[set];
    terms.push_back(term);
  });
  return log_sum_exp(terms) + log_crp_constant(alpha_columns, columns);
}

/// Every partition of the columns that cutting the tree can give, with its weight; bounds of views are sums
/// over the partitions of the rows that their trees can give.
struct BhccCuts {
  BhccCuts(const CrossTree& tree, const Family& family, const Rows& rows, double alpha_rows,
           double alpha_columns)
      : cuts(cuts_of(tree.columns)) {
    log_bound.assign(tree.columns.nodes(), kMinusInfinity);
    for (Dendrogram::Node node = 0; node < tree.columns.nodes(); ++node)
      if (tree.rows[node])
        log_bound[node] =
            shape_view_bound(family, rows, cells_of(tree.columns, node), *tree.rows[node], alpha_rows);
    for (const auto& cut : cuts) {
      double sum = log_crp_constant(alpha_columns, tree.columns.items());
      for (const Dendrogram::Node node : cut)
        sum += std::log(alpha_columns) + log_gamma(static_cast<double>(tree.columns.size(node))) +
               log_bound[node];
      log_weights.push_back(sum);
    }
    log_total = log_sum_exp(log_weights);
  }
  std::vector<std::vector<Dendrogram::Node>> cuts;
  std::vector<double> log_bound;  // of nodes
  std::vector<double> log_weights;
  double log_total = 0.0;
};

/// Merging by the definition: scores all pairs again for every merge.
struct PlainViewMerge {
  std::vector<std::size_t> cells;
  double log_odds, gap;
};
/// `reuse`: a pair is judged by the trees over the rows that the two views have in `found`, else by one of
/// its own. Odds of the views so far are those of `found`, whose merges are to be judged one by one.
inline std::vector<PlainViewMerge> merge_views_plainly(const Family& family, const Rows& rows,
                                                       double alpha_rows, double alpha_columns, bool reuse,
                                                       const CrossTree& found) {
  struct View {
    std::vector<std::size_t> cells;
    double log_phi;
    std::shared_ptr<const Dendrogram> tree;
  };
  std::vector<View> views;
  for (std::size_t cell = 0; cell < family.width(); ++cell)
    views.push_back(
        {{cell},
         std::log(alpha_columns) + shape_view_bound(family, rows, {cell}, *found.rows[cell], alpha_rows),
         found.rows[cell]});
  std::vector<PlainViewMerge> merges;
  while (views.size() > 1) {
    PlainViewMerge best{{}, kMinusInfinity, 0.0};
    double second = kMinusInfinity;
    double row_gap = std::numeric_limits<double>::infinity();
    std::size_t one = 0;
    std::size_t other = 0;
    for (std::size_t a = 0; a < views.size(); ++a)
      for (std::size_t b = a + 1; b < views.size(); ++b) {
        std::vector<std::size_t> both = views[a].cells;
        both.insert(both.end(), views[b].cells.begin(), views[b].cells.end());
        std::sort(both.begin(), both.end());
        const double bound = reuse
                                 ? std::max(shape_view_bound(family, rows, both, *views[a].tree, alpha_rows),
                                            shape_view_bound(family, rows, both, *views[b].tree, alpha_rows))
                                 : plain_view_bound(family, rows, both, alpha_rows, &row_gap);
        const double odds = std::log(alpha_columns) + log_gamma(static_cast<double>(both.size())) + bound -
                            views[a].log_phi - views[b].log_phi;
        if (odds > best.log_odds) {
          second = best.log_odds;
          best = {both, odds, 0.0};
          one = a;
          other = b;
        } else {
          second = std::max(second, odds);
        }
      }
    best.gap = std::min(best.log_odds - second, row_gap);
    const auto node = static_cast<Dendrogram::Node>(found.columns.items() + merges.size());
    views[one] = {best.cells,
                  log_add_exp(found.columns.log_odds(node), 0.0) + views[one].log_phi + views[other].log_phi,
                  found.rows[node]};
    views.erase(views.begin() + static_cast<std::ptrdiff_t>(other));
    merges.push_back(best);
  }
  return merges;
}

/// A fit of bhcc to its end or for so many steps.
class BhccFit {
 public:
  BhccFit(const Family& family, const Rows& rows, const std::vector<std::string>& settings,
          std::size_t steps = static_cast<std::size_t>(-1), std::uint64_t seed = 1, std::size_t threads = 1)
      : problem_{&family, &rows, ParameterValues(model_.parameters, settings_from(settings))},
        options_(problem_.parameters, rows.size(), family.width()),
        sampler_(model_.make_inference(problem_)) {
    run(steps, seed, threads);
  }
  /// With options that have no name on the command line.
  BhccFit(const Family& family, const Rows& rows, const std::vector<std::string>& settings,
          const std::function<void(bhcc::Options&)>& change)
      : problem_{&family, &rows, ParameterValues(model_.parameters, settings_from(settings))},
        options_(problem_.parameters, rows.size(), family.width()) {
    change(options_);
    sampler_ = bhcc::make_inference(problem_, options_);
    run(static_cast<std::size_t>(-1), 1, 1);
  }

  CrossTree tree() const { return model_.column_tree(problem_, sampler_->payload()); }
  Views views() const { return options_.views_of(tree()); }
  double bound() const { return sampler_->log_joint(); }
  Labels labels() const {
    Labels labels(problem_.rows->size());
    sampler_->labels(labels);
    return labels;
  }
  std::vector<double> traces() const {
    std::vector<double> traces(model_.traces(problem_.parameters).size());
    sampler_->traces(traces);
    return traces;
  }
  std::string payload() const { return sampler_->payload(); }
  std::unique_ptr<Predictor> predictor() const {
    std::unique_ptr<Predictor> made = model_.make_predictor(problem_);
    made->set_draw(labels(), traces(), sampler_->payload());
    return made;
  }
  bhcc::CrossPredictive predictive() const {
    bhcc::CrossPredictive made(*problem_.family, *problem_.rows, options_);
    made.set(tree());
    return made;
  }

 private:
  void run(std::size_t steps, std::uint64_t seed, std::size_t threads) {
    sampler_->use_threads(threads);
    sampler_->init({seed, 0, 0});
    for (std::size_t step = 1; step <= steps && !sampler_->finished(); ++step)
      sampler_->step({seed, 0, step});
  }

  const ModelEntry& model_ = model_by_name("bhcc");
  Problem problem_;
  bhcc::Options options_;
  std::unique_ptr<Inference> sampler_;
};

}  // namespace coppice::test
