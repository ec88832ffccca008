// The settings of the example.
#pragma once

#include <vector>

#include "coppice/base/parameter.hpp"

namespace coppice::example {

std::vector<Parameter> parameter_table();
/// No settings exclude each other.
void check_given(const Settings& given);

}  // namespace coppice::example
