// The law of the partition in a reference case, all its parameters fixed, and trees written as nested lists.
#pragma once

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "coppice/prior/crp.hpp"
#include "coppice/prior/ngg.hpp"

namespace coppice::test {

/// `u` is the auxiliary variable of the normalized generalized gamma process. The cases count a factor
/// (1 + u)^-n for every cluster of n rows that kappa leaves out.
inline std::shared_ptr<const ProductPartition> reference_law(const nlohmann::json& input, std::size_t rows,
                                                             double u) {
  const double alpha = input.at("alpha");
  if (input.at("prior") == "dp") return std::make_shared<const Crp>(alpha, rows);
  const double sigma = input.at("sigma");
  auto law = std::make_shared<Ngg>(alpha, sigma, rows);
  law->set(alpha, sigma, std::log(std::expm1(sigma * std::log1p(u))));
  return law;
}

/// Builds [[0, 1], 2] with leaf(row) and join(left, right); returns the root.
template <typename Leaf, typename Join>
std::uint32_t build_reference_tree(const nlohmann::json& shape, Leaf&& leaf, Join&& join) {
  if (shape.is_number()) return leaf(shape.get<std::uint32_t>());
  const std::uint32_t left = build_reference_tree(shape.at(0), leaf, join);
  return join(left, build_reference_tree(shape.at(1), leaf, join));
}

}  // namespace coppice::test
