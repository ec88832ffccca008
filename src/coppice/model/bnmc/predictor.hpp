// What a finished fit says of new rows and of its clusters.
#pragma once

#include <memory>
#include <string_view>

#include "coppice/model/model.hpp"

namespace coppice::bnmc {

std::unique_ptr<Classifier> make_classifier(const Problem& problem, std::string_view payload);

}  // namespace coppice::bnmc
