// Behind the verdict on a run: does the model fit, what do the chains disagree on, what is still safe to use,
// and how decided is the grouping.
#pragma once

#include <string>
#include <vector>

#include "coppice/post/analysis.hpp"
#include "coppice/post/chain_agreement.hpp"
#include "coppice/post/fit_checks.hpp"
#include "coppice/post/modes.hpp"

namespace coppice {

/// Undecided pairs of a level or view.
struct Undecided {
  std::string where;
  double share = 0.0;
};

/// Separate answers at a level, in a view or for the columns.
struct SeparateModes {
  std::string where;
  bool of_columns = false;
  std::vector<std::size_t> members;  // rows or columns of the table that the labels belong to
  Modes modes;                       // two or more
  std::string sentence;
};

struct Trust {
  FitReport fit;
  std::vector<Undecided> undecided;
  std::vector<SeparateModes> modes;  // where there are several
  /// Filled in if the chains do not agree: for the level, the view or the columns with the highest R-hat.
  ChainAgreement agreement;
  std::string cause;              // what they disagree on; empty if they agree
  std::vector<std::string> safe;  // what is still safe to use
};

/// Empty for a greedy model and for a classifier, which have no chains.
Trust trust_of(const Analysis& analysis);

}  // namespace coppice
