// A few random rows and random trees over them, for tests of what rbhmc keeps about a tree.
#pragma once

#include <cstddef>

#include "coppice/shape/level_tree.hpp"
#include "support/rbhmc_chain.hpp"

namespace coppice::test {

inline constexpr std::size_t kRandomRows = 7;

/// Two columns; `settings` are the model's.
inline RbhmcCase random_rbhmc_case(Stream& stream, const RbhmcSettings& settings, double scale = 1.0) {
  RbhmcCase small{"random", {}, "gaussian-known", {"noise_variance=1", "prior_variance=1"}, settings};
  for (std::size_t row = 0; row < kRandomRows; ++row)
    small.data.push_back({scale * draw_normal(stream), draw_normal(stream) + scale});
  return small;
}

/// A tree of three nodes with up to two leaves each.
inline Labels random_rbhmc_tree(Stream& stream) {
  Labels labels(2 * kRandomRows);
  for (std::size_t row = 0; row < kRandomRows; ++row) {
    labels[row] = static_cast<Label>(draw_index(stream, 3));
    labels[kRandomRows + row] = 2 * labels[row] + static_cast<Label>(draw_index(stream, 2));
  }
  LevelTree tree(kRandomRows, 2);
  tree.assign(labels);
  tree.labels(labels);
  return labels;
}

/// The labels of consecutive sweeps from the start.
inline Labels rbhmc_draws(const RbhmcCase& small, std::uint64_t seed, std::size_t sweeps) {
  const RbhmcData data(small);
  const Problem problem = rbhmc_problem(data, small.settings);
  const std::unique_ptr<Inference> sampler = model_by_name("rbhmc").make_inference(problem);
  sampler->init({seed, 0, 0});
  Labels all;
  for (std::size_t sweep = 1; sweep <= sweeps; ++sweep) {
    sampler->step({seed, 0, sweep});
    Labels labels(small.settings.levels * small.data.size());
    sampler->labels(labels);
    all.insert(all.end(), labels.begin(), labels.end());
  }
  return all;
}

/// The case in other units. A power of two leaves all digits as they are.
inline RbhmcCase in_other_units(RbhmcCase small) {
  for (std::vector<double>& row : small.data)
    for (double& value : row) value *= 1024.0;
  small.family_settings = {"noise_variance=1048576", "prior_variance=1048576"};
  return small;
}

}  // namespace coppice::test
