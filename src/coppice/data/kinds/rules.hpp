// Every threshold by which the kind of a column is decided, in one place. The defaults are what docs/data.md
// says, with how much real tables depend on them.
#pragma once

#include <cstddef>
#include <string>

namespace coppice {

struct KindRules {
  /// A column with at least this many cells, all equal, is constant.
  std::size_t constant_cells = 3;
  /// At most this many distinct values are categories (two: binary), if each occurs this often on average.
  std::size_t category_values = 5;
  double category_repeats = 3.0;
  /// At most this many distinct whole numbers are categories if that raises their penalized log likelihood
  /// above that of the best distribution of counts by so much.
  std::size_t code_values = 12;
  double code_evidence = 5.0;
  /// As many distinct numbers far apart that would be real are categories by the same evidence against
  /// rounded measurements, if each occurs so often on average.
  double bracket_repeats = 10.0;
  /// Whole numbers from 0 are counts below this mean and with at most this many distinct values, unless they
  /// vary much less than a Poisson variable.
  double count_mean = 20.0;
  std::size_t count_values = 30;
  double least_dispersion = 0.25;
  /// Counts are overdispersed if the variance exceeds the mean by more than this many standard errors.
  double dispersion_errors = 3.0;
  /// The family of overdispersed counts; empty: the default family of counts.
  std::string overdispersed_family = {};
  /// Log scale: positive, skewness above the first, and |skewness| falls by more than the second.
  double log_skewness = 0.5;
  double log_gain = 0.25;
  /// A spike has this share of the rows and is this many times as frequent as the next value.
  double spike_share = 0.1;
  double spike_ratio = 5.0;
  /// Rounded: the standard deviation is less than this many smallest gaps.
  double rounded_gaps = 60.0;
  /// Texts are numbers or dates if this fraction of at least this many cells are.
  double numeric_share = 0.9;
  std::size_t numeric_cells = 10;
  /// A scale runs from 1 to at most this number.
  std::size_t scale_values = 7;
  /// Texts are identifiers if there are more than this many, and more than half as many as rows; numbers only
  /// if there are at least this many rows.
  std::size_t identifier_values = 20;
  /// Two columns are one if their correlation is above this in size; a column is collinear if the others
  /// leave less than this share of its variance.
  double duplicate_correlation = 0.999999;
  double collinear_residual = 1e-4;
  /// More real columns than this are not searched for collinear ones.
  std::size_t collinear_columns = 256;
};

}  // namespace coppice
