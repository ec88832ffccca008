// The part of crossvalidation that is about labels: rows are held out, and classifiers predict their labels.
// Beside the models that learn labels there are the baselines they are measured against.
#pragma once

#include "coppice/post/crossvalidation.hpp"

namespace coppice {

/// Of contenders that all predict labels.
Crossvalidation crossvalidate_labels(const CrossvalidationRequest& request);

}  // namespace coppice
