// The part of crossvalidation that is about labels: rows are held out, and classifiers predict their labels.
// Beside the models that learn labels there are ovr, chain and rates, what they are measured against.
#pragma once

#include <string_view>

#include "coppice/post/crossvalidate.hpp"

namespace coppice {

/// Whether the name is that of a baseline.
bool is_label_baseline(std::string_view name);

/// Of contenders that all predict labels.
Crossvalidation crossvalidate_labels(const CrossvalidationRequest& request);

}  // namespace coppice
