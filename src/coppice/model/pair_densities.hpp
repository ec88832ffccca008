// The joint density of two cells of a new row on a grid of their values, all other cells unknown. A predictor
// whose cells are independent within its components is a PairDensities too: it computes the densities of each
// cell once per component and mixes them, which is much faster than one row for each pair of values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "coppice/base/math.hpp"

namespace coppice {

/// A cell and values of it, as rows have them.
struct CellValues {
  std::size_t cell = 0;
  std::span<const double> values;
};

class PairDensities {
 public:
  virtual ~PairDensities() = default;
  /// out[i * b.values.size() + j] = p(cell a has value i, cell b has value j | draw), up to a factor that is
  /// the same for all of them. False, and nothing written, if these cells depend on each other within a
  /// component.
  virtual bool pair_densities(const CellValues& a, const CellValues& b, std::span<double> out) const = 0;
};

/// The mixture of products: log_a[i * components + k] = log p(a has value i | component k), log_b likewise.
inline void mix_pairs(std::span<const double> log_weights, std::vector<double>& log_a,
                      std::vector<double>& log_b, std::span<double> out) {
  const std::size_t components = log_weights.size();
  const std::size_t values = log_b.size() / components;
  const auto to_densities = [](std::vector<double>& logs) {
    const double top = *std::max_element(logs.begin(), logs.end());
    for (double& value : logs) value = top > kMinusInfinity ? std::exp(value - top) : 0.0;
  };
  for (std::size_t i = 0; i < log_a.size(); ++i) log_a[i] += log_weights[i % components];
  to_densities(log_a);
  to_densities(log_b);
  for (std::size_t i = 0; i * components < log_a.size(); ++i)
    for (std::size_t j = 0; j < values; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < components; ++k)
        sum += log_a[i * components + k] * log_b[j * components + k];
      out[i * values + j] = sum;
    }
}

}  // namespace coppice
