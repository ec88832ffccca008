// Bayesian hierarchical cross-clustering: a binary tree over the columns, whose nodes have trees over the
// rows, grown by merging the two views that most probably are one. This file is the model's public face.
#pragma once

#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry bhcc_entry();

}  // namespace coppice
