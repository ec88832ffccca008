// Bayesian hierarchical clustering: a binary tree over the rows, grown by merging the two trees that most
// probably belong together. This file is the model's public face.
#pragma once

#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry bhc_entry();

}  // namespace coppice
