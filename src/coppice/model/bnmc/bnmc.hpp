// The nonparametric multi-label classifier (NOTES.md).
#pragma once

#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry bnmc_entry();

}  // namespace coppice
