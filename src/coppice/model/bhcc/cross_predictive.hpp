// Predictives under a tree over the columns whose nodes c have trees over the rows, with omega_c the
// probability that c is a view, r_c that it is one if nothing above it is, and p_c that of one view
// (TreePredictive):
//   a missing cell (i, j):  sum over the nodes c above j of omega_c p_c(x_ij)
//   a new row x:            F(c) = r_c p_c(x in c) + (1 - r_c) F(left) F(right);  p(x) = F(root)
//   a cell x_j of a new row given others x_O: a mixture over the nodes c above j of p_c(x_j | x_O), weighted
//   by
//     prod over strict ancestors e of (1 - r_e) F(sibling of the path's child of e) times r_c p_c(x_O)
//   a new column y:         S(c) = r_c N_c Q_c(y) + (1 - r_c) (S(left) + S(right)),
//                           p(y) = (S(root) + alpha_c Q_new(y)) / (J + alpha_c)
// with Q_c the probability of a column given a tree over the rows, and Q_new its own lower bound.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "coppice/cluster/tree_predictive.hpp"
#include "coppice/model/bhcc/options.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/shape/cross_tree.hpp"

namespace coppice::bhcc {

class CrossPredictive {
 public:
  /// Family and rows must outlive it.
  CrossPredictive(const Family& family, const Rows& rows, const Options& options);

  void set(CrossTree tree);
  const CrossTree& tree() const { return tree_; }

  /// log p(row); missing cells are integrated out.
  double log_density(const double* row) const;
  /// The nodes' own share, for the flat views.
  const TreePredictive& view(Dendrogram::Node node) const { return views_[node]->predictive; }
  TreePredictive& view(Dendrogram::Node node) { return views_[node]->predictive; }
  /// The cells of a new row that belong to a node, in the order of its family.
  std::vector<double> cells_of(Dendrogram::Node node, const double* row) const;

  /// Draws views from the top, a cluster in each, and cells of the cluster.
  void draw_row(Stream& stream, double* row) const;

  /// A component is a node of the tree over the rows in a node of the tree over the columns, or a new cluster
  /// there.
  std::size_t components() const { return first_.back(); }
  /// Mixture of a training row's missing cell.
  void missing_cell(std::size_t row, std::size_t cell, std::vector<CellComponent>& out) const;
  /// Mixtures of a new row's missing cells given its present ones; returns log p(the present ones).
  double conditional_cells(const double* row, std::span<const std::size_t> cells,
                           std::vector<std::vector<CellComponent>>& mixtures) const;
  CellPredictive predict_cell(std::size_t component, std::size_t cell) const;
  double log_cell(std::size_t component, std::size_t cell, double value) const;

  /// Of a family of one cell, one row of `column` for each row of the table.
  NewColumn new_column(const Family& family, const Rows& column) const;
  /// The published recursion, without sizes and without a new view; its mass is the expected number of views.
  double log_new_column_literal(const Family& family, const Rows& column) const;

 private:
  using Node = Dendrogram::Node;
  struct View {
    View(const Family& table_family, const Rows& table, std::vector<std::size_t> cells, double alpha_rows);

    std::vector<std::size_t> columns;
    std::unique_ptr<Family> family;
    Rows rows;
    std::vector<double> empty;
    TreePredictive predictive;
  };
  void conditional_cell(const double* row, std::size_t cell, std::span<const double> log_f,
                        std::vector<CellComponent>& out) const;
  /// log omega Q of the views, with the logs of their sizes if they count.
  std::vector<double> log_column_terms(const Family& family, const Rows& column, bool by_size) const;
  /// log F of every node; minus infinity where there is no view worth the name below.
  std::vector<double> log_parts(const double* row) const;
  Node node_of(std::size_t component) const;
  const double* stats_of(std::size_t component) const;
  std::size_t place_of(Node node, std::size_t cell) const;
  void normalize(std::vector<CellComponent>& parts) const;

  const Family* family_;
  const Rows* rows_;
  Options options_;
  CrossTree tree_;
  std::vector<double> log_whole_, log_apart_, log_view_;  // log r, log(1 - r), log omega by node
  std::vector<std::unique_ptr<View>> views_;              // by node
  std::vector<std::size_t> first_;                        // component of each node
};

}  // namespace coppice::bhcc
