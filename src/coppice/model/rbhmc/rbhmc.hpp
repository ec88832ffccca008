// Nested mixtures with max-margin regularization: a nested-CRP tree whose nodes carry weights over shared
// components (a multilevel hierarchical Dirichlet process), and discriminants that ask siblings to be told
// apart. With --penalty 0 it is the plain nested mixture (BHMC). This file is the model's public face.
#pragma once

#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry rbhmc_entry();

}  // namespace coppice
