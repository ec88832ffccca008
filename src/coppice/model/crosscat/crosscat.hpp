// The cross Dirichlet process mixture (CrossCat): columns are divided into views, and each view has its own
// clusters of the rows. This file is the model's public face.
#pragma once

#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry crosscat_entry();

}  // namespace coppice
