// Predictives under a tree T of I rows, with omega_k the probability that node k is a cluster
// (TreePosterior):
//   a missing cell of row i: sum over the nodes k above i of omega_k p(x | rows of k),
//   a new row x: [sum over nodes k of N_k omega_k p(x | rows of k) + alpha m(x)] / (I + alpha),
// the averages over all partitions that cutting the tree can give.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::bhc {

std::unique_ptr<Predictor> make_predictor(const Problem& problem);

}  // namespace coppice::bhc
