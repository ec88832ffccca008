// THE LIST of families. Adding one is a header of its own and a line here; the command line, the
// documentation and the law tests follow from the list.
#pragma once

#include <array>

#include "coppice/family/bernoulli.hpp"
#include "coppice/family/binomial.hpp"
#include "coppice/family/categorical.hpp"
#include "coppice/family/gaussian.hpp"
#include "coppice/family/gaussian_diagonal.hpp"
#include "coppice/family/gaussian_known.hpp"
#include "coppice/family/multinomial.hpp"
#include "coppice/family/poisson.hpp"

namespace coppice {

inline std::vector<FamilyEntry> all_families() {
  return {gaussian_entry(), gaussian_diagonal_entry(), gaussian_known_entry(), bernoulli_entry(),
          binomial_entry(), categorical_entry(),       multinomial_entry(),    poisson_entry()};
}

}  // namespace coppice
