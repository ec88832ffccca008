// The settings of Bayesian hierarchical cross-clustering, read once from its parameters.
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/cluster/division.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/shape/cross_tree.hpp"
#include "coppice/shape/views.hpp"

namespace coppice::bhcc {

struct Options {
  Options(const ParameterValues& parameters, std::size_t rows, std::size_t columns);

  double alpha_rows = 1.0, alpha_columns = 1.0;
  /// Pairs of views are scored by the trees over the rows that the two have, not by one of their own.
  bool reuses_trees = false;
  bool randomized = false;
  RandomizedOptions division;      // of the columns
  bool divides_rows = false;       // trees over the rows are randomized too
  RandomizedOptions row_division;  // of the rows
  bool filters_as_published = false;
  /// Memory up to which what views say of each other's trees is kept; the trees do not depend on it.
  std::size_t most_profile_bytes = std::size_t{512} << 20;
  bool consolidates = true;

  /// The flat clusters of a tree, over columns or rows.
  Labels clusters_of(const TreePosterior& posterior) const {
    return most_probable ? posterior.most_probable() : posterior.cut(threshold);
  }
  /// The views of a tree over columns, and the clusters of the rows in each.
  Views views_of(const CrossTree& tree) const;
  bool most_probable = false;
  double threshold = 0.5;
};

std::vector<Parameter> parameter_table();
/// Throws Error{configuration} if settings that were given exclude each other.
void check_given(const Settings& given);

}  // namespace coppice::bhcc
