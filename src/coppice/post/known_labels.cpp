#include "coppice/post/known_labels.hpp"

namespace coppice {

Labels known_labels(const Column& column) {
  Labels labels;
  for (const double value : column.values)
    labels.push_back(is_missing(value) ? kMissingTruth : static_cast<Label>(value));
  return labels;
}

}  // namespace coppice
