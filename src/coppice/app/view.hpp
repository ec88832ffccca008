// coppice view.
#pragma once

#include "coppice/app/context.hpp"

namespace coppice::app {

void add_view(CLI::App& application, Context& context);

}  // namespace coppice::app
