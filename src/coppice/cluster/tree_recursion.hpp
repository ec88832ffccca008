// The recursion behind all trees over items, whether they are rows or columns. With log h = log kappa(n) +
// log p(data of the node's items | they are one block),
//   leaf:  log phi = log h
//   inner: log phi = log(h + phi(left) phi(right)),   log odds = log h - log phi(left) phi(right).
// phi is the sum over all partitions that cutting the tree can give of the products of h over their blocks.
#pragma once

#include "coppice/base/math.hpp"

namespace coppice {

/// `log_phi_below` is the sum of the children's.
inline double log_phi_above(double log_weight, double log_phi_below) {
  return log_add_exp(log_weight, log_phi_below);
}
/// That the items of a node are one block, against what its children say of them.
inline double log_odds_above(double log_weight, double log_phi_below) { return log_weight - log_phi_below; }

}  // namespace coppice
