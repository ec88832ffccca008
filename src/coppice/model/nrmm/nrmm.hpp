// Mixtures of normalized random measures: a partition of the rows with a product prior prod_c kappa(n_c),
// component parameters integrated out. This file is the model's public face; process and moves stand
// beside it.
#pragma once

#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry nrmm_entry();

}  // namespace coppice
