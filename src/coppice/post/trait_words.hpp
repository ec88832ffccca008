// A difference between a cluster and the other rows, in numbers and in words: "has_feathers (96 % against 3
// %)", "no has_fur", "visits higher: 12.3 against 4.1", "color mostly red (88 % against 21 %)".
#pragma once

#include <string>
#include <vector>

#include "coppice/data/table.hpp"

namespace coppice {

/// Inside is the cluster, outside the rows it is compared with. Numbers are in the units of the data as read.
struct Trait {
  std::string column;
  Kind kind = Kind::real;
  std::string words;        // "has_feathers (96 % against 3 %)", "visits higher: 12.3 against 4.1"
  std::string short_words;  // "has_feathers", "visits higher": for names
  double divergence = 0.0;
  double inside =
      0.0;  // mean of numbers, probability of 1 of binary columns, probability of `level` of categories
  double outside = 0.0;
  double inside_sd = 0.0;  // of the predictive
  double outside_sd = 0.0;
  std::string level;                         // of category columns, the level the words are about
  std::vector<double> inside_probabilities;  // of each level of binary and category columns
  std::vector<double> outside_probabilities;
};

/// "96 %"; "<1 %" and ">99 %" where rounding would claim certainty.
std::string percent(double probability);

/// Fills in words, short_words and, for a category, level, inside and outside, from the trait's numbers.
/// `by_spread`: a column of numbers differs more by its spread than by its mean.
void put_into_words(Trait& trait, const Column& column, bool by_spread);

}  // namespace coppice
