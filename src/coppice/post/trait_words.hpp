// A difference between a cluster and the other rows, in words: "has_feathers (96 % against 3 %)", "no
// has_fur", "visits higher: 12.3 against 4.1", "color mostly red (88 % against 21 %)".
#pragma once

#include <string>

#include "coppice/data/table.hpp"
#include "coppice/post/profile.hpp"

namespace coppice {

/// "96 %"; "<1 %" and ">99 %" where rounding would claim certainty.
std::string percent(double probability);

/// The words of a column with a hurdle that clusters differ in most by how often they are at it.
void put_spike_into_words(Trait& trait, double spike);

/// Fills in words, short_words and, for a category, level, inside and outside, from the trait's numbers.
/// `by_spread`: a column of numbers differs more by its spread than by its mean.
void put_into_words(Trait& trait, const Column& column, bool by_spread);

}  // namespace coppice
