#include "coppice/model/bhcc/cross_predictive.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coppice/base/math.hpp"
#include "coppice/cluster/new_column.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/family/tied_copies.hpp"

namespace coppice::bhcc {

CrossPredictive::View::View(const Family& table_family, const Rows& table, std::vector<std::size_t> cells,
                            double alpha_rows)
    : columns(std::move(cells)),
      family(family_of_cells(table_family, table, columns)),
      rows(cells_of_rows(table, columns)),
      empty(family->stats_size()),
      predictive(*family, rows, alpha_rows) {
  family->clear(empty.data());
}

CrossPredictive::CrossPredictive(const Family& family, const Rows& rows, const Options& options)
    : family_(&family), rows_(&rows), options_(options) {}

void CrossPredictive::set(CrossTree tree) {
  tree_ = std::move(tree);
  const Dendrogram& columns = tree_.columns;
  const TreePosterior posterior(columns);
  log_whole_.clear();
  log_apart_.clear();
  log_view_.clear();
  views_.clear();
  first_.assign(1, 0);
  for (Node node = 0; node < columns.nodes(); ++node) {
    const bool leaf = columns.is_leaf(node);
    log_whole_.push_back(leaf ? 0.0 : log_logistic(columns.log_odds(node)));
    log_apart_.push_back(leaf ? kMinusInfinity : log_logistic(-columns.log_odds(node)));
    log_view_.push_back(posterior.log_cluster(node));
    std::unique_ptr<View> view;
    if (tree_.rows[node]) {
      std::vector<std::size_t> cells;
      columns.for_each_item(node, [&](std::uint32_t column) { cells.push_back(column); });
      std::sort(cells.begin(), cells.end());
      view = std::make_unique<View>(*family_, *rows_, std::move(cells), options_.alpha_rows);
      view->predictive.set(*tree_.rows[node]);
    }
    first_.push_back(first_.back() + (view ? view->predictive.components() + 1 : 0));
    views_.push_back(std::move(view));
  }
}

std::vector<double> CrossPredictive::cells_of(Node node, const double* row) const {
  std::vector<double> cells;
  for (const std::size_t column : views_[node]->columns) cells.push_back(row[column]);
  cells.resize(views_[node]->rows.width, 1.0);  // of weighted rows also the number of copies: a row is one
  return cells;
}

std::vector<double> CrossPredictive::log_parts(const double* row) const {
  const Dendrogram& columns = tree_.columns;
  std::vector<double> log_f(columns.nodes(), kMinusInfinity);
  for (Node node = 0; node < columns.nodes(); ++node) {
    if (views_[node])
      log_f[node] = log_whole_[node] + views_[node]->predictive.log_density(cells_of(node, row).data());
    if (!columns.is_leaf(node))
      log_f[node] =
          log_add_exp(log_f[node], log_apart_[node] + log_f[columns.left(node)] + log_f[columns.right(node)]);
  }
  return log_f;
}

double CrossPredictive::log_density(const double* row) const {
  const std::vector<double> log_f = log_parts(row);
  double total = 0.0;
  for (const Node root : tree_.columns.roots()) total += log_f[root];
  return total;
}

void CrossPredictive::draw_row(Stream& stream, double* row) const {
  std::vector<Node> open = tree_.columns.roots();
  std::vector<double> terms;
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    const bool is_view = tree_.columns.is_leaf(node) || std::log(draw_uniform(stream)) < log_whole_[node];
    if (!is_view || !views_[node]) {
      open.push_back(tree_.columns.left(node));
      open.push_back(tree_.columns.right(node));
      continue;
    }
    const View& view = *views_[node];
    std::vector<double> cells(view.rows.width, kMissing);
    terms.resize(view.predictive.components() + 1);
    view.predictive.log_joint(cells.data(), terms);
    draw_member(*view.family, stats_of(first_[node] + draw_from_logs(stream, terms)), stream, cells.data());
    for (std::size_t j = 0; j < view.columns.size(); ++j) row[view.columns[j]] = cells[j];
  }
}

CrossPredictive::Node CrossPredictive::node_of(std::size_t component) const {
  return static_cast<Node>(std::upper_bound(first_.begin(), first_.end(), component) - first_.begin() - 1);
}

const double* CrossPredictive::stats_of(std::size_t component) const {
  const Node node = node_of(component);
  const View& view = *views_[node];
  const std::size_t own = component - first_[node];
  return own == view.predictive.components() ? view.empty.data() : view.predictive.stats(own);
}

std::size_t CrossPredictive::place_of(Node node, std::size_t cell) const {
  const std::vector<std::size_t>& columns = views_[node]->columns;
  return static_cast<std::size_t>(std::lower_bound(columns.begin(), columns.end(), cell) - columns.begin());
}

void CrossPredictive::normalize(std::vector<CellComponent>& parts) const {
  double total = 0.0;
  for (const CellComponent& part : parts) total += part.weight;
  for (CellComponent& part : parts) part.weight /= total;
}

void CrossPredictive::missing_cell(std::size_t row, std::size_t cell, std::vector<CellComponent>& out) const {
  out.clear();
  std::vector<std::pair<std::size_t, double>> parts;
  for (Node node = tree_.columns.leaf_of(static_cast<std::uint32_t>(cell)); node != Dendrogram::kNone;
       node = tree_.columns.parent(node)) {
    const double weight = std::exp(log_view_[node]);
    if (!views_[node] || weight < kNegligiblePart) continue;
    views_[node]->predictive.components_of(row, parts);
    for (const auto& [component, share] : parts)
      if (weight * share >= kNegligiblePart) out.push_back({first_[node] + component, weight * share});
  }
  normalize(out);
}

double CrossPredictive::conditional_cells(const double* row, std::span<const std::size_t> cells,
                                          std::vector<std::vector<CellComponent>>& mixtures) const {
  const std::vector<double> log_f = log_parts(row);
  mixtures.resize(cells.size());
  for (std::size_t k = 0; k < cells.size(); ++k) conditional_cell(row, cells[k], log_f, mixtures[k]);
  double total = 0.0;
  for (const Node root : tree_.columns.roots()) total += log_f[root];
  return total;
}

void CrossPredictive::conditional_cell(const double* row, std::size_t cell, std::span<const double> log_f,
                                       std::vector<CellComponent>& out) const {
  const Dendrogram& columns = tree_.columns;
  std::vector<Node> path;  // from the root
  for (Node node = columns.leaf_of(static_cast<std::uint32_t>(cell)); node != Dendrogram::kNone;
       node = columns.parent(node))
    path.push_back(node);
  std::reverse(path.begin(), path.end());
  out.clear();
  double log_above = 0.0;
  std::vector<double> terms;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Node node = path[i];
    if (views_[node]) {
      terms.resize(views_[node]->predictive.components() + 1);
      views_[node]->predictive.log_joint(cells_of(node, row).data(), terms);
      for (std::size_t k = 0; k < terms.size(); ++k) {
        const double weight = std::exp(log_above + log_whole_[node] + terms[k] - log_f[path.front()]);
        if (weight >= kNegligiblePart) out.push_back({first_[node] + k, weight});
      }
    }
    if (i + 1 == path.size()) break;
    const Node sibling = columns.left(node) == path[i + 1] ? columns.right(node) : columns.left(node);
    log_above += log_apart_[node] + log_f[sibling];
  }
  normalize(out);
}

CellPredictive CrossPredictive::predict_cell(std::size_t component, std::size_t cell) const {
  const Node node = node_of(component);
  return views_[node]->family->predict_cell(stats_of(component), place_of(node, cell));
}

double CrossPredictive::log_cell(std::size_t component, std::size_t cell, double value) const {
  const Node node = node_of(component);
  return views_[node]->family->cell_log_predictive(stats_of(component), place_of(node, cell), value);
}

std::vector<double> CrossPredictive::log_column_terms(const Family& family, const Rows& column,
                                                      bool by_size) const {
  std::vector<double> terms;
  for (Node node = 0; node < tree_.columns.nodes(); ++node)
    if (views_[node])
      terms.push_back(log_view_[node] + log_new_column(*tree_.rows[node], family, column) +
                      (by_size ? std::log(static_cast<double>(tree_.columns.size(node))) : 0.0));
  return terms;
}

double CrossPredictive::log_new_column_literal(const Family& family, const Rows& column) const {
  return log_sum_exp(log_column_terms(family, column, false));
}

NewColumn CrossPredictive::new_column(const Family& family, const Rows& column) const {
  std::vector<double> terms = log_column_terms(family, column, true);
  terms.push_back(std::log(options_.alpha_columns) + log_bound_of_rows(family, column, options_.alpha_rows));
  const double log_all = std::log(static_cast<double>(tree_.columns.items()) + options_.alpha_columns);
  return {log_sum_exp(terms) - log_all, terms.back() - log_all};
}

}  // namespace coppice::bhcc
