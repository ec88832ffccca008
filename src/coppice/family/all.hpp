// THE LIST of families. Adding one is a header of its own and a line here; the command line, the
// documentation and the law tests follow from the list. Others include registry.hpp.
#pragma once

#include <vector>

#include "coppice/family/bernoulli.hpp"
#include "coppice/family/binomial.hpp"
#include "coppice/family/categorical.hpp"
#include "coppice/family/gaussian.hpp"
#include "coppice/family/gaussian_diagonal.hpp"
#include "coppice/family/gaussian_known.hpp"
#include "coppice/family/multinomial.hpp"
#include "coppice/family/negative_binomial.hpp"
#include "coppice/family/poisson.hpp"

namespace coppice {

inline std::vector<FamilyEntry> family_list() {
  return {
      gaussian_entry(),           // real columns that depend on each other
      gaussian_diagonal_entry(),  // real columns
      gaussian_known_entry(),     // real columns
      bernoulli_entry(),          // binary columns
      binomial_entry(),           // counts up to a limit
      categorical_entry(),        // levels
      multinomial_entry(),        // counts that depend on each other
      poisson_entry(),            // counts
      negative_binomial_entry(),  // overdispersed counts
  };
}

}  // namespace coppice
