// Draws for tests: copies of a truth in which some rows are moved at random.
#pragma once

#include <random>

#include "coppice/shape/partition.hpp"

namespace coppice {

inline LabelMatrix random_draws(unsigned seed, std::size_t rows, std::size_t draws, Label clusters,
                                double noise) {
  std::mt19937 engine(seed);  // its numbers are the same everywhere; the distributions of <random> are not
  const auto uniform = [&] { return static_cast<double>(engine()) / 4294967296.0; };
  LabelMatrix matrix;
  Labels labels(rows);
  for (std::size_t d = 0; d < draws; ++d) {
    for (std::size_t i = 0; i < rows; ++i) {
      labels[i] = static_cast<Label>(i) % clusters;
      if (uniform() < noise) labels[i] = static_cast<Label>(uniform() * (clusters + 2));
    }
    matrix.push_back(labels);
  }
  return matrix;
}

}  // namespace coppice
