// What predictors of models that learn hyper-parameters can do beside predicting.
#pragma once

#include <vector>

namespace coppice {

class LearnedDraw {
 public:
  virtual ~LearnedDraw() = default;
  /// The family's learned hyper-parameters in the draw that was set, as Family::get_hyper writes them.
  virtual std::vector<double> learned_values() const = 0;
};

}  // namespace coppice
