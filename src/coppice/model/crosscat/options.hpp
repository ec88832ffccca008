// The settings of the cross Dirichlet process mixture, read once from its parameters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/cluster/split_merge.hpp"
#include "coppice/prior/concentration.hpp"

namespace coppice::crosscat {

struct Options {
  explicit Options(const ParameterValues& parameters);

  Concentration alpha_rows, alpha_columns;
  bool learns() const { return alpha_rows.is_learned() || alpha_columns.is_learned(); }
  /// Powers of the target, one for each coupled replica; the first is 1.
  std::vector<double> temperatures;
  /// The split-merge moves of a sweep are shared by its views.
  static constexpr auto kByViews = static_cast<std::size_t>(-1);
  /// How often each kernel is applied in a sweep; 0: never.
  std::size_t column_sweeps = 1, view_moves = 2, row_sweeps = 1, split_merge_moves = kByViews;
  std::size_t split_merge_moves_in_each(std::size_t views) const {
    constexpr std::size_t kShared = 5;
    return split_merge_moves == kByViews ? (kShared + views - 1) / views : split_merge_moves;
  }
  SplitMergeOptions split_merge;
  std::size_t auxiliaries = 4;
  double new_view_share = 1.0;  // of the columns that are offered new views in a sweep after the early ones
  bool auxiliary_from_prior = false;
  bool starts_single = false;
};

std::vector<Parameter> parameter_table();
void check_given(const Settings& given);
/// See ModelEntry::refuses_weights.
std::string refuses_weights(const ParameterValues& parameters);

}  // namespace coppice::crosscat
