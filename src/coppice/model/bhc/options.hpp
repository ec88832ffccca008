// The settings of Bayesian hierarchical clustering, read once from its parameters.
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/cluster/randomized_merging.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/model/model.hpp"

namespace coppice::bhc {

struct Options {
  Options(const ParameterValues& parameters, std::size_t rows);

  double alpha = 1.0;
  bool randomized = false;
  RandomizedOptions division;
  bool keeps_scores = true;

  /// The flat clusters of a tree.
  Labels clusters_of(const TreePosterior& posterior) const {
    return most_probable ? posterior.most_probable() : posterior.cut(threshold);
  }
  bool most_probable = false;
  double threshold = 0.5;
};

std::vector<Parameter> parameter_table();
/// Throws Error{configuration} if settings that were given exclude each other.
void check_given(const Settings& given);

}  // namespace coppice::bhc
