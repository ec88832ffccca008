// Clusters of sub-clusters: Gaussian sub-clusters that share the covariance of their cluster.
#pragma once

#include "coppice/model/model.hpp"

namespace coppice {

ModelEntry nhcm_entry();

}  // namespace coppice
