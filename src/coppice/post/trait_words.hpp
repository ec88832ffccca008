// A difference between a cluster and the other rows, in numbers and in words: "has_feathers (96 % against 3
// %)", "no has_fur", "visits higher: 12.3 against 4.1", "color mostly red (88 % against 21 %)".
#pragma once

#include <string>
#include <vector>

#include "coppice/data/table.hpp"

namespace coppice {

struct Range {
  double low = kMissing, high = kMissing;
};

/// Inside is the cluster, outside the rows it is compared with. Numbers are in the units of the data as read.
struct Trait {
  std::string column;
  Kind kind = Kind::real;
  std::string words;        // "has_feathers (96 % against 3 %)", "visits higher: 12.3 against 4.1"
  std::string short_words;  // "has_feathers", "visits higher": for names
  double divergence = 0.0;
  double inside =
      0.0;  // mean of numbers (median on the log scale; of columns with a hurdle that of the other
            // numbers), probability of 1 of binary columns, probability of `level` of categories
  double outside = 0.0;
  double inside_sd = 0.0;  // of the predictive; none on the log scale
  double outside_sd = 0.0;
  Range inside_range, outside_range;  // of numbers: the 5 % and 95 % quantiles of the predictive
  double inside_spike = kMissing;     // of columns with a hurdle: the probability to be at it
  double outside_spike = kMissing;
  std::string level;                         // of category columns, the level the words are about
  std::vector<double> inside_probabilities;  // of each level of binary and category columns
  std::vector<double> outside_probabilities;
};

/// "96 %"; "<1 %" and ">99 %" where rounding would claim certainty.
std::string percent(double probability);

/// The words of a column with a hurdle that clusters differ in most by how often they are at it.
void put_spike_into_words(Trait& trait, double spike);

/// Fills in words, short_words and, for a category, level, inside and outside, from the trait's numbers.
/// `by_spread`: a column of numbers differs more by its spread than by its mean.
void put_into_words(Trait& trait, const Column& column, bool by_spread);

}  // namespace coppice
